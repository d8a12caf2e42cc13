"""The system calls that Python has no name for."""

import ctypes
import errno
import os
import signal
import sys
from contextlib import suppress
from functools import cache

PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_SET_NAME = 15
PR_SET_SECCOMP = 22
PR_CAPBSET_DROP = 24
PR_SET_CHILD_SUBREAPER = 36
PR_SET_NO_NEW_PRIVS = 38


def prctl(option: int, value: int, pointer: object = 0) -> None:
    """Change something about this process; OSError where the kernel refuses."""
    _checked(_libc().prctl(option, ctypes.c_ulong(value), pointer, 0, 0), "prctl")


def syscall(number: int, *arguments: object) -> int:
    """A call by its number, for those the C library does not wrap."""
    return _checked(_libc().syscall(ctypes.c_long(number), *arguments), f"system call {number}")


def unshare(flags: int) -> None:
    _checked(_libc().unshare(flags), "unshare")


def setns(descriptor: int, kind: int) -> None:
    _checked(_libc().setns(descriptor, kind), "setns")


CLONE = {"x86_64": 56, "aarch64": 220, "riscv64": 220, "ppc64le": 120}


def fork_into(namespaces: int) -> int:
    """Fork, with new namespaces for the child alone.

    `unshare` and a way back would do for root. Anybody else may not go back: the namespace we come from is not theirs.
    """
    number = CLONE.get(os.uname().machine)
    if number is None:
        raise OSError(errno.ENOSYS, f"clone: not known for {os.uname().machine}")
    python, libc = ctypes.pythonapi, _libc_held()
    python.PyOS_BeforeFork()
    flags = ctypes.c_ulong(namespaces | signal.SIGCHLD)
    pid = int(libc.syscall(ctypes.c_long(number), flags, *[ctypes.c_void_p()] * 4))
    if pid == 0:
        python.PyOS_AfterFork_Child()
        return pid
    refused = ctypes.get_errno()
    python.PyOS_AfterFork_Parent()
    if pid < 0:
        raise OSError(refused, f"clone: {os.strerror(refused)}")
    return pid


def mount(source: str | None, target: str, kind: str | None, flags: int, options: str | None = None) -> None:
    texts = [None if text is None else os.fsencode(text) for text in (source, target, kind, options)]
    _checked(_libc().mount(*texts[:3], ctypes.c_ulong(flags), texts[3]), f"mount on {target}")


OPENAT2, NO_LINKS = 437, 0x04


class _HowToOpen(ctypes.Structure):
    _fields_ = tuple((name, ctypes.c_uint64) for name in ("flags", "mode", "resolve"))


def open_itself(path: str, *, flags: int = 0) -> int:
    """A descriptor of a place, only to name it by; OSError if there is a link on the way to it, or it is one.

    With O_NOFOLLOW among the `flags` a link is opened as such.
    """
    how = _HowToOpen(os.O_PATH | os.O_CLOEXEC | flags, 0, NO_LINKS)
    where = ctypes.c_int(HERE), ctypes.c_char_p(os.fsencode(path))
    try:
        return syscall(OPENAT2, *where, ctypes.byref(how), ctypes.c_size_t(ctypes.sizeof(how)))
    except OSError as problem:
        if problem.errno != errno.ELOOP:
            raise
        raise OSError(errno.ELOOP, f"a link was put in the place of {path}") from problem


RENAME_AT, EXCHANGE = {"x86_64": 316, "aarch64": 276}, 2


def exchange(folder: int, name: str, other_folder: int, other: str) -> None:
    """Have two files or folders change places."""
    places = (ctypes.c_int(folder), os.fsencode(name), ctypes.c_int(other_folder), os.fsencode(other))
    syscall(RENAME_AT[os.uname().machine], *places, ctypes.c_uint(EXCHANGE))


MOUNT_SETATTR, HERE, RECURSIVELY, READ_ONLY = 442, -100, 0x8000, 1


class _MountAttributes(ctypes.Structure):
    _fields_ = tuple((name, ctypes.c_uint64) for name in ("set", "clear", "propagation", "namespace"))


def make_read_only(target: str) -> None:
    """A mount and every mount below it, at once."""
    _set_attributes(target, RECURSIVELY, _MountAttributes(READ_ONLY, 0, 0, 0))


def make_read_only_alone(target: str) -> None:
    """One mount, and none below it."""
    _set_attributes(target, 0, _MountAttributes(READ_ONLY, 0, 0, 0))


def make_writable(target: str) -> None:
    """One mount, and none below it."""
    _set_attributes(target, 0, _MountAttributes(0, READ_ONLY, 0, 0))


def _set_attributes(target: str, flags: int, attributes: _MountAttributes) -> None:
    where = ctypes.c_int(HERE), ctypes.c_char_p(os.fsencode(target)), ctypes.c_uint(flags)
    syscall(MOUNT_SETATTR, *where, ctypes.byref(attributes), ctypes.c_size_t(ctypes.sizeof(attributes)))


def capget(header: object, sets: object) -> None:
    _checked(_libc().capget(header, sets), "capget")


def capset(header: object, sets: object) -> None:
    _checked(_libc().capset(header, sets), "capset")


def become_subreaper() -> None:
    """Take in the orphans among our descendants. Only Linux can; elsewhere they are found as long as they stay."""
    if sys.platform == "linux":
        prctl(PR_SET_CHILD_SUBREAPER, 1)


def keep_memory_to_ourselves() -> None:
    """Let no other program of this user read our memory or our environment."""
    if sys.platform == "linux":
        prctl(PR_SET_DUMPABLE, 0)


def die_with_parent(parent: int, number: int) -> None:
    """Have the kernel end this process when its parent goes, however it goes."""
    if sys.platform == "linux":
        prctl(PR_SET_PDEATHSIG, number)
        if os.getppid() != parent:
            os.kill(os.getpid(), number)


KEYCTL = {"x86_64": 250, "aarch64": 219, "riscv64": 219, "ppc64le": 271}
NEW_KEYRING = 1


def leave_keys_behind() -> None:
    """Have a ring of keys of our own from now on: that of the user's session may hold secrets."""
    number = KEYCTL.get(os.uname().machine)
    if sys.platform == "linux" and number is not None:
        # Some kernels have no keys, and some containers let nobody ask for them.
        with suppress(OSError):
            syscall(number, ctypes.c_long(NEW_KEYRING), ctypes.c_void_p())


def call_myself(name: str) -> None:
    """Set the name that `ps` and `top` show in place of python."""
    if sys.platform == "linux":
        _checked(_libc().prctl(PR_SET_NAME, name.encode(), 0, 0, 0), "prctl")


@cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


@cache
def _libc_held() -> ctypes.PyDLL:
    """The same, called as `os.fork` is: what Python has to put right in a child needs the interpreter at rest."""
    return ctypes.PyDLL(None, use_errno=True)


def _checked(answer: int, what: str) -> int:
    if answer < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return answer
