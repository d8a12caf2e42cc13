"""Landlock by system calls: a process gives up every file right but those it names."""

import ctypes
import os
import stat

from .system import PR_SET_NO_NEW_PRIVS, prctl, syscall

CREATE, ADD, RESTRICT = 444, 445, 446
VERSION, PATH_BENEATH = 1, 1

EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1, 2, 4, 8
REFER, TRUNCATE = 1 << 13, 1 << 14
FIRST_RIGHTS = (1 << 13) - 1
READING = EXECUTE | READ_FILE | READ_DIR
OF_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE
SIGNALS_AND_ABSTRACT_SOCKETS = 0b11
SCOPES_SINCE = 6


def version() -> int:
    """Return the kernel's version of Landlock; 0 for none."""
    try:
        return syscall(CREATE, None, ctypes.c_size_t(0), ctypes.c_uint32(VERSION))
    except OSError:
        return 0


def restrict(*, listed: list[str], readable: list[str], writable: list[str]) -> None:
    """Keep to these folders and files from now on. One that is not there is passed over."""
    abi = version()
    if not abi:
        raise OSError(0, "this kernel has no Landlock, or it is switched off")
    rights = _rights(abi)
    rules = _create(rights, abi)
    try:
        for path in listed:
            _allow(rules, path, READ_DIR)
        for path in readable:
            _allow(rules, path, rights & READING)
        for path in writable:
            _allow(rules, path, rights)
        syscall(RESTRICT, ctypes.c_int(rules), ctypes.c_uint32(0))
    finally:
        os.close(rules)


def keep_to_ourselves() -> None:
    """Reach no process and no nameless socket outside from now on, and all files as before. Needs a newer kernel."""
    if version() < SCOPES_SINCE:
        return
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    rules = _create(0, SCOPES_SINCE)
    try:
        syscall(RESTRICT, ctypes.c_int(rules), ctypes.c_uint32(0))
    finally:
        os.close(rules)


class _Ruleset(ctypes.Structure):
    _fields_ = (("files", ctypes.c_uint64), ("network", ctypes.c_uint64), ("scoped", ctypes.c_uint64))


class _Beneath(ctypes.Structure):
    _layout_, _pack_ = "ms", 1
    _fields_ = (("rights", ctypes.c_uint64), ("parent", ctypes.c_int32))


def _rights(abi: int) -> int:
    return FIRST_RIGHTS | (REFER if abi >= 2 else 0) | (TRUNCATE if abi >= 3 else 0)


def _create(rights: int, abi: int) -> int:
    scoped = abi >= SCOPES_SINCE
    ruleset = _Ruleset(rights, 0, SIGNALS_AND_ABSTRACT_SOCKETS if scoped else 0)
    # An older kernel knows only the beginning of the record and refuses a longer one.
    size = ctypes.sizeof(ruleset) if scoped else ctypes.sizeof(ctypes.c_uint64)
    return syscall(CREATE, ctypes.byref(ruleset), ctypes.c_size_t(size), ctypes.c_uint32(0))


def _allow(rules: int, path: str, rights: int) -> None:
    try:
        parent = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        if not stat.S_ISDIR(os.fstat(parent).st_mode):
            rights &= OF_FILES
        beneath = _Beneath(rights, parent)
        syscall(ADD, ctypes.c_int(rules), ctypes.c_int(PATH_BENEATH), ctypes.byref(beneath), ctypes.c_uint32(0))
    finally:
        os.close(parent)
