"""The filter put up with a listener, and what is said on it: calls as they come, and the word to go on."""

import ctypes
import errno
import fcntl
import os
import select
import socket
import struct
from typing import NamedTuple

from ..seccomp import FilterProgram
from ..system import PR_SET_NO_NEW_PRIVS, prctl, syscall
from .calls import SECCOMP

SET_FILTER, NEW_LISTENER, UNTIL_KILLED = 1, 8, 32
RECEIVE, ANSWER, IS_VALID = 0xC0502100, 0xC0182101, 0x40082102
ADD_FILE = 0x40182103
GO_ON, AND_ANSWER = 1, 2
_REQUEST = struct.Struct("=QIIiIQ6Q")
_RESPONSE = struct.Struct("=QqiI")
_FILE = struct.Struct("=QIIII")
SIZE = _REQUEST.size
_EMPTY = bytes(SIZE)


class HeldCall(NamedTuple):
    """A call that the kernel holds until it is answered."""

    id: int
    task: int
    """The thread that makes it, as we number it."""
    number: int
    architecture: int
    arguments: tuple[int, ...]


def listen(program: FilterProgram, *, steady: bool = False) -> int:
    """Put the filter on this thread and all it will start; return the descriptor that hears of their calls.

    A call that is `steady` waits for its answer whatever signals come: else it would be made twice. Older kernels have
    no such calls.
    """
    for flags in (NEW_LISTENER | UNTIL_KILLED, NEW_LISTENER):
        try:
            return _set_filter(program, flags)
        except OSError as problem:
            if problem.errno != errno.EINVAL or steady or flags == NEW_LISTENER:
                raise
    raise OSError(errno.ENOSYS, "no calls can be listened to")


def _set_filter(program: FilterProgram, flags: int) -> int:
    """Set the filter. A process without the right to must first give up that its programs become somebody else."""
    arguments = (ctypes.c_uint(SET_FILTER), ctypes.c_uint(flags), ctypes.byref(program))
    number = SECCOMP[os.uname().machine]
    try:
        return syscall(number, *arguments)
    except OSError as problem:
        if problem.errno != errno.EACCES:
            raise
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    return syscall(number, *arguments)


def receive(listener: int, request: bytearray) -> HeldCall | None:
    """Wait for the next call; None for one that was given up meanwhile."""
    request[:] = _EMPTY
    try:
        fcntl.ioctl(listener, RECEIVE, request)
    except OSError as problem:
        if problem.errno in (errno.ENOENT, errno.EINTR):
            return None
        raise
    id_, task, _, number, architecture, _, *arguments = _REQUEST.unpack(request)
    return HeldCall(id_, task, number, architecture, tuple(arguments))


def is_over(listener: int) -> bool:
    """Tell whether nothing has the filter any more, so that no call will ever come."""
    poll = select.poll()
    poll.register(listener, select.POLLIN)
    return any(event & (select.POLLHUP | select.POLLERR) for _, event in poll.poll(0))


def let_go_on(listener: int, held: HeldCall) -> None:
    """Have the kernel make the call as it is. Whoever made it may be gone."""
    _say(listener, ANSWER, _RESPONSE.pack(held.id, 0, 0, GO_ON))


def give(listener: int, held: HeldCall, opened: int, *, passed_on: bool) -> bool:
    """Give the program a file as what its call has opened; `passed_on` to those that it starts as well."""
    flags = 0 if passed_on else os.O_CLOEXEC
    return _say(listener, ADD_FILE, _FILE.pack(held.id, AND_ANSWER, opened, 0, flags))


def answer(listener: int, held: HeldCall, value: int = 0) -> None:
    """Have the call come to a value that we say, without the kernel making it."""
    _say(listener, ANSWER, _RESPONSE.pack(held.id, value, 0, 0))


def refuse(listener: int, held: HeldCall, problem: int) -> None:
    """Have the call fail with this error."""
    _say(listener, ANSWER, _RESPONSE.pack(held.id, 0, -problem, 0))


def _say(listener: int, what: int, words: bytes) -> bool:
    try:
        fcntl.ioctl(listener, what, words)
    except OSError:
        return False
    return True


def is_still_held(listener: int, held: HeldCall) -> bool:
    """Tell whether the thread has waited all the while: else its number may be that of another by now."""
    try:
        fcntl.ioctl(listener, IS_VALID, struct.pack("=Q", held.id))
    except OSError:
        return False
    return True


def hand_over(connection: socket.socket, listener: int) -> None:
    socket.send_fds(connection, [b"l"], [listener])


def take_over(connection: socket.socket) -> int | None:
    """Return the listener of a program that is about to begin; None if it never came to that."""
    _, descriptors, _, _ = socket.recv_fds(connection, 1, 1)
    return descriptors[0] if descriptors else None
