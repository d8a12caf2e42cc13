"""The keeper's main loop: has a leader ready for the next order, and ends what a killed leader left behind."""

import array
import gc
import json
import os
import select
import signal
import socket
import struct
import time
from collections.abc import Callable
from contextlib import suppress
from typing import NoReturn, cast

from . import capabilities, family, limits, seccomp, space, system
from .confine import NEW_PROCESSES, enter
from .launch import NO_ROOM, could_not
from .leader import lead, tell
from .order import SpaceOrder, StartOrder

HEADER = struct.Struct("!I")
STANDARD = 3
DESCRIPTORS = STANDARD + 2
"""Descriptors that come with an order: input, output, errors, perhaps a network namespace, and the leader's end of the
control socket."""
DONE, MASTER_IS_GONE = 0, 3
"""Ends of a leader; any other end leaves orphans to us."""


def serve(descriptor: int, processes: int, anchored: bool, *groups: str) -> None:
    """Carry out orders until the other end is gone, then wait until everything below is.

    All that runs may be so many processes together, counted by a control group if there is one. If it is to be
    anchored, each leader is the first process of a namespace: whatever becomes of it becomes of all below.
    """
    os.setsid()
    # What our master was started with may be open still, and would be so in every program.
    os.closerange(3, os.sysconf("SC_OPEN_MAX"))
    requests = local_socket(descriptor)
    requests.set_inheritable(False)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    system.call_myself("toolwright-keep")
    system.become_subreaper()
    limits.limit(processes, groups)
    if anchored:
        system.leave_keys_behind()
        seccomp.put_together(root=os.geteuid() == 0)
        capabilities.dangerous()
    gc.disable()
    gc.freeze()
    _keep_a_leader_ready(requests, Anchorage() if anchored else None)


class Anchorage:
    """Makes each leader the first process of a namespace for processes, for as long as the machine lets us."""

    def __init__(self) -> None:
        self.problem = ""
        try:
            if os.geteuid() != 0:
                enter(0)
        except OSError as problem:
            self.problem = could_not("make a namespace", problem)

    def fork(self) -> int:
        """A leader that cannot have its namespace is made all the same: it says why it starts nothing."""
        try:
            if not self.problem:
                return system.fork_into(NEW_PROCESSES)
        except BlockingIOError:
            raise
        except OSError as problem:
            self.problem = could_not("make a namespace for processes", problem)
        return os.fork()


def local_socket(descriptor: int) -> socket.socket:
    """Told what it is, Python need not ask the system."""
    return socket.socket(socket.AF_UNIX, socket.SOCK_STREAM, 0, descriptor)


def _keep_a_leader_ready(requests: socket.socket, anchorage: Anchorage | None) -> None:
    """A fork takes longer than everything else about an order, so the next leader is made while one is at work."""
    wakeup = wake_on_child()
    taken, taking = os.pipe()
    os.set_blocking(taken, False)
    leaders = set[int]()
    while True:
        spare = _fork_in_the_end(anchorage.fork if anchorage else os.fork, leaders)
        if not spare:
            os.close(taken)
            _lead_and_exit(requests, taking, anchorage)
        leaders.add(spare)
        while spare in leaders:
            ready, _, _ = select.select([taken, wakeup], [], [])
            if taken in ready:
                break
            os.read(wakeup, 4096)
            if _reap(leaders, os.WNOHANG | os.WUNTRACED):
                # Every leader has seen that our master is gone and is ending its scope.
                _reap(leaders, os.WUNTRACED)
                return
        # One that has ended already may have taken an order: unread, its word would count for the next one, and two
        # leaders would read one order.
        with suppress(BlockingIOError):
            os.read(taken, 1)


def _fork_in_the_end(fork: Callable[[], int], leaders: set[int]) -> int:
    """Fork, however long there is no room for another process: whoever takes it all will have to end."""
    while True:
        try:
            return fork()
        except BlockingIOError:
            _reap(leaders, os.WNOHANG | os.WUNTRACED)
            time.sleep(NO_ROOM)


def wake_on_child() -> int:
    """A descriptor that becomes readable when a child has ended."""
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, _do_nothing)
    return reading


def _do_nothing(*_: object) -> None:
    """A signal that nobody handles does not wake."""


def _lead_and_exit(requests: socket.socket, taking: int, anchorage: Anchorage | None) -> NoReturn:
    """A leader must never fall back into the keeper's loop, whatever happens to it."""
    status = 1
    try:
        status = _lead(requests, taking, anchorage)
    finally:
        os._exit(status)


def _lead(requests: socket.socket, taking: int, anchorage: Anchorage | None) -> int:
    wakeup = wake_on_child()
    system.become_subreaper()
    system.call_myself("toolwright-lead")
    if anchorage is not None and not _goes_with_keeper(taking):
        return DONE
    received = _receive(requests)
    if received is None:
        return MASTER_IS_GONE
    requests.close()
    # A keeper that is gone needs no word of it.
    with suppress(BrokenPipeError):
        os.write(taking, b".")
    order, (*others, control) = received
    if anchorage is not None and anchorage.problem:
        tell(local_socket(control), failed=anchorage.problem)
    elif "plain" in order:
        space.carry_out(cast("SpaceOrder", order), others[0] if others else None, local_socket(control))
    elif problem := _not_entered(others[STANDARD:]):
        tell(local_socket(control), failed=problem)
    else:
        lead(order, others[:STANDARD], local_socket(control), wakeup, anchored=anchorage is not None)
    return DONE


def _not_entered(spaces: list[int]) -> str:
    """Enter the network namespace that came with an order, if one did; and say what is in the way."""
    try:
        for descriptor in spaces:
            space.enter(descriptor)
            os.close(descriptor)
    except OSError as problem:
        return could_not("enter the network of the session", problem)
    return ""


def _goes_with_keeper(taking: int) -> bool:
    """Have the kernel end us with the keeper, unless that is gone already: then nobody hears us take an order."""
    system.prctl(system.PR_SET_PDEATHSIG, signal.SIGKILL)
    poll = select.poll()
    poll.register(taking, select.POLLERR)
    return not poll.poll(0)


def _receive(requests: socket.socket) -> tuple[StartOrder | SpaceOrder, list[int]] | None:
    """One order and its descriptors; None when nobody is there any more."""
    space = socket.CMSG_SPACE(DESCRIPTORS * 4)
    try:
        header, ancillary, _, _ = requests.recvmsg(HEADER.size, space, socket.MSG_WAITALL | CLOSE_ON_EXEC)
        if len(header) < HEADER.size:
            return None
        body = requests.recv(HEADER.unpack(header)[0], socket.MSG_WAITALL)
    except ConnectionError:
        return None
    descriptors = array.array("i")
    for _, _, data in ancillary:
        descriptors.frombytes(data)
    order: StartOrder | SpaceOrder = json.loads(body)
    return order, list(descriptors)


CLOSE_ON_EXEC = getattr(socket, "MSG_CMSG_CLOEXEC", 0)


def _reap(leaders: set[int], options: int) -> bool:
    """Take note of the dead, and whether one of them found our master gone.

    A leader that did not end well has left orphans, and they are now our own children.
    """
    is_master_gone = False
    while True:
        try:
            pid, status = os.waitpid(-1, options)
        except ChildProcessError:
            return is_master_gone
        if not pid:
            return is_master_gone
        if os.WIFSTOPPED(status):
            # A leader that is stopped ends nothing; what falls to us when it is killed, we end.
            os.kill(pid, signal.SIGKILL)
        elif pid in leaders:
            leaders.discard(pid)
            is_master_gone = is_master_gone or os.waitstatus_to_exitcode(status) == MASTER_IS_GONE
            if os.waitstatus_to_exitcode(status) not in (DONE, MASTER_IS_GONE):
                family.kill_all(os.getpid(), without=leaders)
