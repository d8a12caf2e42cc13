"""An anchor: the first process of a namespace. When it ends, however it ends, the kernel ends all that it holds."""

import array
import json
import os
import signal
import socket
from typing import Any, NoReturn, cast

from .confine import NEW_PROCESSES, enter
from .launch import Failure, could_not, launch, when_there_is_room
from .order import Order
from .system import PR_SET_PDEATHSIG, call_myself, prctl

STANDARD = 3
"""Input, output and errors of a program."""
KILLED = "the process that starts it was killed"
LARGEST = 16 * 1024 * 1024


class Anchor:
    """One that waits for its program. It goes when the process that made it does, and takes all below with it."""

    def __init__(self) -> None:
        """OSError where the machine has no such namespaces for us."""
        self._orders, orders = socket.socketpair()
        self._reports, reports = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        gate, opening = os.pipe()
        between = when_there_is_room(os.fork)
        if not between:
            # The namespace is for children, and our own should go on as they are: so somebody else enters it.
            self.close()
            _fork_and_exit(orders, reports, gate, opening)
        orders.close()
        reports.close()
        os.close(gate)
        os.waitpid(between, 0)
        os.close(opening)
        first = self._hear()
        if "failed" in first:
            self.close()
            raise OSError(0, first["failed"])
        self.pid: int = first["anchor"]
        self.program = 0

    def start(self, order: Order, standard: list[int]) -> Failure | None:
        """Have the program started below it."""
        body = json.dumps(order).encode()
        try:
            socket.send_fds(self._orders, [len(body).to_bytes(4, "big")], standard)
            self._orders.sendall(body)
        except ConnectionError:
            return Failure(KILLED)
        told = self._hear()
        if "started" not in told:
            return Failure(told.get("failed", KILLED))
        self.program = told["started"]
        return None

    def fileno(self) -> int:
        """Readable when the program has ended, or the anchor has."""
        return self._reports.fileno()

    def end(self) -> dict[str, Any]:
        """How the program ended. Whoever has ended its anchor has ended it too."""
        return self._hear() or {"code": None, "signal": int(signal.SIGKILL), "ran": True}

    def close(self) -> None:
        """Let it go before it has been given a program."""
        self._orders.close()
        self._reports.close()

    def _hear(self) -> dict[str, Any]:
        """One message; empty when nobody speaks any more."""
        try:
            return cast("dict[str, Any]", json.loads(self._reports.recv(4096) or b"{}"))
        except ConnectionError:
            return {}


def _fork_and_exit(orders: socket.socket, reports: socket.socket, gate: int, opening: int) -> NoReturn:
    try:
        enter(NEW_PROCESSES)
        pid = when_there_is_room(os.fork)
        if not pid:
            os.close(opening)
            _hold(orders, reports, gate)
        _tell(reports, anchor=pid)
    except OSError as problem:
        _tell(reports, failed=could_not("make a namespace for processes", problem))
    finally:
        os._exit(0)


def _hold(orders: socket.socket, reports: socket.socket, gate: int) -> NoReturn:
    try:
        # Opened once the one between is gone: its end would be taken for that of whoever we are to die with.
        os.read(gate, 1)
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        call_myself("toolwright-hold")
        _run(orders, reports)
    finally:
        os._exit(0)


def _run(orders: socket.socket, reports: socket.socket) -> None:
    received = _receive(orders)
    if received is None:
        return
    order, standard = received
    started = launch(order, standard)
    for descriptor in standard:
        os.close(descriptor)
    if isinstance(started, Failure):
        _tell(reports, failed=started.reason)
        return
    _tell(reports, started=started.pid)
    while True:
        try:
            pid, status = os.waitpid(-1, 0)
        except ChildProcessError:
            return
        if pid == started.pid:
            _tell(reports, **started.end(status))


def _receive(orders: socket.socket) -> tuple[Order, list[int]] | None:
    header, ancillary, _, _ = orders.recvmsg(4, socket.CMSG_SPACE(STANDARD * 4), socket.MSG_WAITALL)
    if len(header) < 4:
        return None
    descriptors = array.array("i")
    for _, _, data in ancillary:
        descriptors.frombytes(data)
    for descriptor in descriptors:
        os.set_inheritable(descriptor, False)
    body = orders.recv(min(int.from_bytes(header, "big"), LARGEST), socket.MSG_WAITALL)
    return cast("Order", json.loads(body)), list(descriptors)


def _tell(reports: socket.socket, **message: object) -> None:
    """To whoever made us, who may be gone."""
    try:
        reports.sendall(json.dumps(message).encode())
    except OSError:
        return
