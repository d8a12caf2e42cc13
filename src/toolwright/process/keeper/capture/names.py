"""Names of files in calls: the path that a program gives, as it is called outside of the program's box."""

# pathlib would take as long to import as all the rest of the keeper.
# ruff: noqa: PTH114, PTH115, PTH123, PTH208

import ctypes
import errno
import os
import re
import select
from functools import cache, cached_property

from .. import family
from .calls import HERE

PAGE, LONGEST = 4096, 4096
FIRST = 256
"""Bytes that are read of a path at first: most are shorter."""
REMEMBERED = 4096
"""Folders, and threads, that are known at a time."""
ONE_THREAD = 3
"""Links of a folder with one folder in it."""
THREAD = os.O_EXCL
"""Asks for a descriptor of a thread, of kernels from 6.9 on."""
_OWN_FILE = re.compile(r"/(?:proc/(?:self|thread-self)|dev)/fd/(\d+)")
_NO_FILE = ("/dev/null", "/dev/tty", "/dev/pts/", "/proc/", "/dev/fd/", "/dev/std", "/sys/")
_ESCAPED = re.compile(r"\\([0-7]{3})")
_GONE = (errno.ESRCH, errno.ENOENT)


class Names:
    """The names of one scope. A folder is looked up once, until names change."""

    def __init__(self, *, anchored: bool) -> None:
        """`anchored` says that programs have other numbers for us than in the listings of the machine."""
        self._anchored = anchored
        self._buffer = ctypes.create_string_buffer(PAGE)
        self._folders = dict[tuple[str, str], str]()
        self._tasks = dict[int, int]()

    def text(self, task: int, address: int) -> str:
        """Return a path in a program's memory."""
        path, size = b"", FIRST
        while len(path) < LONGEST:
            # Never over the end of a page: the next one may not be there.
            size = min(size, PAGE - address % PAGE)
            piece = _read(task, address, size, self._buffer)
            end = piece.find(0)
            if end >= 0:
                return os.fsdecode(path + piece[:end])
            path, address, size = path + piece, address + size, PAGE
        raise OSError(errno.ENAMETOOLONG, "a path that does not end")

    def raw(self, task: int, address: int, size: int) -> bytes:
        """Return so many bytes of a program's memory; OSError if it has fewer there."""
        data = _read(task, address, size, self._buffer)
        if len(data) < size:
            raise OSError(errno.EFAULT, "the memory of a program ends there")
        return data

    def status(self, task: int) -> str:
        """Return what the system says of a thread."""
        self._link(task, "ns/mnt")
        opened = os.open("status", os.O_RDONLY | os.O_CLOEXEC, dir_fd=self._tasks[task])
        try:
            return os.read(opened, PAGE).decode("ascii", "replace")
        finally:
            os.close(opened)

    def place(self, task: int, folder: int | None, path: str, *, follow: bool) -> str:
        """Return the place outside that a path leads to from a folder; empty for what lies on no disk of ours."""
        if own := _OWN_FILE.fullmatch(path):
            return self._outside(task, self._link(task, f"fd/{own[1]}"))
        if path.startswith(_NO_FILE):
            return ""
        if path[:1] != "/":
            base = self._link(task, "cwd" if folder is None or folder == HERE else f"fd/{folder}")
            if not path:
                return self._outside(task, base) if base.startswith("/") else ""
            path = f"{base}/{path}"
        elif (root := self._link(task, "root")) != "/":
            path = root + path
        path = path.rstrip("/") or "/"
        head, _, tail = path.rpartition("/")
        if tail in ("", ".", ".."):
            return self._outside(task, path)
        # Of the folder: what may be mounted on the name itself in the box is not what goes.
        head = self._outside(task, head or "/")
        if not head:
            return ""
        place = f"{head.rstrip('/')}/{tail}"
        if not (follow and os.path.islink(place)):
            return place
        target = os.path.realpath(place)
        return "" if os.path.islink(target) else target

    def program(self, task: int) -> str:
        """Return what a thread calls itself; OSError if it is gone."""
        known = self._tasks.get(task)
        if known is None:
            known = self._tasks[task] = self._opened(task)
        opened = os.open("comm", os.O_RDONLY | os.O_CLOEXEC, dir_fd=known)
        try:
            return os.fsdecode(os.read(opened, 64)).rstrip("\n")
        finally:
            os.close(opened)

    def has_threads(self, task: int) -> bool:
        """Tell whether a program has more than one."""
        self._link(task, "ns/mnt")
        return os.stat("task", dir_fd=self._tasks[task]).st_nlink > ONE_THREAD

    def forget(self) -> None:
        """Names have changed: what a folder was may be elsewhere now."""
        self._folders.clear()

    @cached_property
    def _ours(self) -> str:
        """The namespace of mounts that we are in."""
        return os.readlink("/proc/self/ns/mnt")

    @cached_property
    def _tables(self) -> "dict[str, _Mounts]":
        return {self._ours: _Mounts("/proc/self/mountinfo")}

    def _outside(self, task: int, path: str) -> str:
        """Return a path of the program as it is for us, without links; empty if there is nothing, or links in a circle:
        then the call fails."""
        namespace = self._link(task, "ns/mnt")
        table = self._tables.get(namespace)
        if table is None:
            table = self._tables[namespace] = _Mounts(f"{self._process(task)}/mountinfo")
        if table.has_changed():
            # By a thread that is there now: the one that it was opened by first may be gone.
            table.path = f"{self._process(task)}/mountinfo" if namespace != self._ours else table.path
            self._folders.clear()
        known = self._folders.get((namespace, path))
        if known is None:
            if len(self._folders) >= REMEMBERED:
                self._folders.clear()
            ours = path if namespace == self._ours else _translated(path, table, self._tables[self._ours])
            try:
                known = self._folders[namespace, path] = os.path.realpath(ours, strict=True) if ours else ""
            except OSError:
                return ""
        return known

    def _link(self, task: int, name: str) -> str:
        """Return where a link of a program in /proc leads."""
        for _ in range(2):
            known = self._tasks.get(task)
            if known is None:
                known = self._tasks[task] = self._opened(task)
            try:
                return os.readlink(name, dir_fd=known)
            except OSError as problem:
                if problem.errno not in _GONE:
                    raise
                # Of a thread that is gone; its number may be another's.
                os.close(self._tasks.pop(task))
        raise OSError(errno.ESRCH, "a program that is gone")

    def _process(self, task: int) -> str:
        self._link(task, "ns/mnt")
        return f"/proc/self/fd/{self._tasks[task]}"

    def _opened(self, task: int) -> int:
        if len(self._tasks) >= FIRST:
            while self._tasks:
                os.close(self._tasks.popitem()[1])
        number = _number_outside(task) if self._anchored else task
        return os.open(f"/proc/{number}", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)


class _Mounts:
    """The mounts of a namespace; read again when the kernel says that they have changed."""

    def __init__(self, file: str) -> None:
        self.path = file
        self._file = os.open(file, os.O_RDONLY | os.O_CLOEXEC)
        self._poll = select.poll()
        self._poll.register(self._file, select.POLLPRI)
        self._rows: list[tuple[str, str, str]] | None = None

    def has_changed(self) -> bool:
        if self._rows is not None and not self._poll.poll(0):
            return False
        self._rows = None
        return True

    def rows(self) -> list[tuple[str, str, str]]:
        """Return the place, disk and folder on it of each mount, the last one first: it covers the others."""
        if self._rows is None:
            # The namespace may have got another root since.
            data = b""
            opened = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
            try:
                while piece := os.read(opened, 1 << 16):
                    data += piece
            finally:
                os.close(opened)
            fields = (line.split(" ", 5) for line in reversed(os.fsdecode(data).splitlines()))
            self._rows = [(_plain(row[4]), row[2], _plain(row[3])) for row in fields]
        return self._rows


def _translated(path: str, theirs: _Mounts, ours: _Mounts) -> str:
    """Return a path of another namespace as it is in ours; empty if the disk is not there for us."""
    ours.has_changed()
    for point, disk, root in theirs.rows():
        if _is_in(path, point):
            inner = _joined(root, path[len(point.rstrip("/")) :])
            candidates = [
                (len(above), _joined(place, inner[len(above.rstrip("/")) :]))
                for place, other, above in ours.rows()
                if other == disk and _is_in(inner, above)
            ]
            return max(candidates)[1] if candidates else ""
    return ""


def _joined(folder: str, rest: str) -> str:
    return (folder.rstrip("/") + rest) or "/"


def _is_in(path: str, folder: str) -> bool:
    return folder == "/" or path == folder or path.startswith(folder + "/")


def _plain(text: str) -> str:
    return _ESCAPED.sub(lambda escape: chr(int(escape[1], 8)), text) if "\\" in text else text


def _number_outside(task: int) -> int:
    """Return the number that a thread has in the listings of the machine."""
    for flags in (0, THREAD):
        try:
            handle = os.pidfd_open(task, flags)
        except OSError:
            continue
        try:
            with open(f"/proc/self/fdinfo/{handle}", "rb") as file:
                number = int(re.search(rb"^Pid:\s*(-?\d+)", file.read(), re.MULTILINE)[1])  # type: ignore[index]
        finally:
            os.close(handle)
        if number > 0:
            return number
    return _number_by_listing(task)


def _number_by_listing(task: int) -> int:
    """The same on kernels that know no descriptors of threads."""
    level = len(_namespaces(f"/proc/{family.ourselves()}/status")) - 1
    for process in family.descendants(family.ourselves()):
        try:
            threads = os.listdir(f"/proc/{process}/task")
        except OSError:
            continue
        for thread in threads:
            numbers = _namespaces(f"/proc/{process}/task/{thread}/status")
            if len(numbers) > level and numbers[level] == task:
                return int(thread)
    raise OSError(errno.ESRCH, "a thread that is gone")


def _namespaces(status: str) -> list[int]:
    try:
        with open(status, "rb") as file:
            line = next((line for line in file if line.startswith(b"NSpid:")), b"")
    except OSError:
        return []
    return [int(word) for word in line.split()[1:]]


class _Span(ctypes.Structure):
    _fields_ = (("start", ctypes.c_void_p), ("size", ctypes.c_size_t))


def _read(task: int, address: int, size: int, buffer: "ctypes.Array[ctypes.c_char]") -> bytes:
    ours, theirs = _Span(ctypes.addressof(buffer), size), _Span(address, size)
    count = _reader()(task, ctypes.byref(ours), 1, ctypes.byref(theirs), 1, 0)
    if count <= 0:
        raise OSError(ctypes.get_errno() or errno.EFAULT, "the memory of a program cannot be read")
    return ctypes.string_at(buffer, count)


@cache
def _reader() -> "ctypes._NamedFuncPointer":
    reader = ctypes.CDLL(None, use_errno=True).process_vm_readv
    reader.argtypes = (ctypes.c_int, ctypes.c_void_p, ctypes.c_ulong, ctypes.c_void_p, ctypes.c_ulong, ctypes.c_ulong)
    reader.restype = ctypes.c_ssize_t
    return reader
