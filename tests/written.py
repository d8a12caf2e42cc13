"""What a program and all that it starts write and listen on, as the system saw it."""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

CALLS = (
    *("open", "openat", "openat2", "creat", "mkdir", "mkdirat", "mknod", "mknodat", "rename", "renameat", "renameat2"),
    *("link", "linkat", "symlink", "symlinkat", "unlink", "unlinkat", "rmdir", "truncate", "chmod", "fchmodat"),
    *("chown", "fchownat", "lchown", "utimensat", "setxattr", "bind", "listen", "unshare", "clone", "clone3"),
)
READS = re.compile(r"O_RDONLY|O_PATH")
OF_THE_SYSTEM = ("/dev/", "/proc/", "/sys/")
_LINE = re.compile(r"(?:\d+ +)?(\w+)\((.*)\) += (-?\d+)")
_FOLDER_AND_NAME = re.compile(r"(?:AT_FDCWD|\d+)<([^>]*)>, \"((?:[^\"\\]|\\.)*)\"|\"((?:[^\"\\]|\\.)*)\"")
_CHILD = re.compile(r"^clone.* = (\d+)(?: /\* (\d+) in strace's PID NS \*/)?$")
_PORT = re.compile(r"<TCP(?:v6)?:\[[^\]]*?:(\d+)\]>")
_ESCAPED = re.compile(r"\\([0-7]{1,3}|.)")


def watched(log: Path) -> list[str]:
    """Return what stands before a command to have its calls written down, a file for each of its processes."""
    calls = f"trace={','.join(f'?{name}' for name in CALLS)}"
    options = ("-D", "-ff", "-q", "-yy", "--pidns-translation", "-s", "4096")
    return ["strace", *options, "-e", calls, "-o", str(log)]


def can_watch() -> bool:
    """Tell whether there is a strace here that is new enough, and allowed to look."""
    command = ["strace", "--pidns-translation", "-qq", "-e", "trace=none", "true"]
    try:
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def is_complete(log: Path) -> bool:
    """Tell whether every process has ended, and the last of its calls is written down."""
    files = list(log.parent.glob(f"{log.name}.*"))
    return bool(files) and all(file.read_bytes().rstrip().endswith(b"+++") for file in files)


def written(log: Path) -> set[Path]:
    """Return every path that was written, made, moved or taken away, but by what is in a box."""
    return {path for line in _lines(log) for path in _written_by(line) if not str(path).startswith(OF_THE_SYSTEM)}


def ports(log: Path) -> list[int]:
    """Return every port of the network that was listened on."""
    found = (_PORT.search(line) for line in _lines(log) if "listen(" in line)
    return [int(port[1]) for port in found if port is not None]


def _lines(log: Path) -> Iterator[str]:
    """Yield the calls that succeeded. A process that has its own view of the disk writes what nobody else sees."""
    files = {int(file.suffix[1:]): file for file in log.parent.glob(f"{log.name}.*")}
    texts = {pid: file.read_text(errors="replace").splitlines() for pid, file in files.items()}
    made = (_CHILD.search(line) for lines in texts.values() for line in lines if "CLONE_NEWNS" in line)
    boxed = {int(child[2] or child[1]) for child in made if child is not None}
    for pid, lines in texts.items():
        for line in lines if pid not in boxed else ():
            if line.startswith("unshare(") and "CLONE_NEWNS" in line:
                break
            if " = -1 " not in line and " = ?" not in line and not line.startswith("+++"):
                yield line


def _written_by(line: str) -> Iterator[Path]:
    call = _LINE.match(line)
    if call is None or call[1] in ("listen", "unshare", "clone", "clone3"):
        return
    name, arguments = call[1], call[2]
    opens = name.startswith("open")
    if (opens and READS.search(arguments) and "O_CREAT" not in arguments) or (name == "bind" and "AF_UNIX" not in line):
        return
    named = _FOLDER_AND_NAME.findall(arguments)
    # What a link leads to is not changed.
    for folder, inside, path in named[1:] if name.startswith("symlink") else named:
        yield Path(folder, _ESCAPED.sub(_unescaped, inside or path))


def _unescaped(found: re.Match[str]) -> str:
    return chr(int(found[1], 8)) if found[1].isdigit() else found[1]
