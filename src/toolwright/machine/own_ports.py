"""Our own ports: each is opened here, and none of them lets a program in that runs in a box.

Commands share the network of the machine, so a port on it is within their reach, whatever files are hidden from them.
On Linux each connection is judged when it comes (`holders.py`). On macOS boxes are told which ports they must not
reach. All are noted, so that the door which leads commands to services of this machine leads to none of ours.
"""

import os
import socket
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from toolwright.machine.folders import Folders
from toolwright.machine.own_files import PORTS, Port
from toolwright.machine.private_files import make_folder, open_private
from toolwright.text.display import visible

BACKLOG: Final = 1024
QUIET: Final = 1.0
"""Seconds between two lines about what was refused: a program can make very many connections."""
_JUDGES: Final = sys.platform == "linux"

Say = Callable[[str], None]


def listen(kind: Port, host: str, port: int, *, say: Say | None = None, tunnel: bool = False) -> "Door":
    """Open one of our ports; 0 takes any. OSError if it cannot be used.

    `say` is given a line about what is refused; without it that goes to stderr. With `tunnel` a program that cannot
    be seen goes on to the secret.
    """
    door = Door(kind, socket.AF_INET6 if ":" in host else socket.AF_INET, say or _warn, tunnel=tunnel)
    try:
        door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        door.bind((host, port))
        # Whoever is told of the port may connect at once, and waits until somebody accepts.
        door.listen(BACKLOG)
        door.note(Folders.of().state)
    except BaseException:
        door.close()
        raise
    return door


def listen_for_leaders() -> socket.socket:
    """Open the port that those who start our commands connect to: whoever comes must know its secret first."""
    opened = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    opened.bind(("127.0.0.1", 0))
    opened.listen(BACKLOG)
    opened.setblocking(False)
    return opened


def listen_in(folder: Path, name: str) -> socket.socket:
    """Open a socket in a folder, however long its path is: the name of a socket is short."""
    held = os.open(folder, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    opened = socket.socket(socket.AF_UNIX)
    try:
        opened.bind(f"/proc/self/fd/{held}/{name}")
    except OSError:
        opened.close()
        raise
    finally:
        os.close(held)
    return opened


class Door(socket.socket):
    """A listening socket that hands out only connections that were let in, to whatever server it is given to."""

    def __init__(self, kind: Port, family: socket.AddressFamily, say: Say, *, tunnel: bool) -> None:
        self._kind, self._say, self._tunnel = kind, say, tunnel
        self._noted: Path | None = None
        self._judge = None
        self._said, self._unsaid = float("-inf"), 0
        if _JUDGES:
            from toolwright.machine.peer_programs import PeerJudge

            self._judge = PeerJudge()
        # With the protocol named, asyncio sends small answers without waiting for more to say.
        super().__init__(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)

    def accept(self) -> tuple[socket.socket, Any]:
        """Accept the next connection. One that is refused is closed, and counts as if none had come."""
        connection, address = super().accept()
        try:
            reason = self._judge.refusal(connection, tunnel=self._tunnel) if self._judge else ""
        except OSError as error:
            reason = f"it could not be judged: {error.strerror}"
        if not reason:
            return connection, address
        connection.close()
        self._tell(reason)
        raise BlockingIOError

    def note(self, state: Path) -> None:
        """Leave word of the port for the boxes to come."""
        folder = _notes(state)
        with suppress(OSError):
            make_folder(folder)
            self._noted = folder / f"{self.getsockname()[1]}-{os.getpid()}"
            open_private(self._noted).close()

    def close(self) -> None:
        if self._noted is not None:
            self._noted.unlink(missing_ok=True)
        super().close()

    def _tell(self, reason: str) -> None:
        now = time.monotonic()
        if now - self._said < QUIET:
            self._unsaid += 1
            return
        more = f" ({self._unsaid} more before)" if self._unsaid else ""
        port = self.getsockname()[1]
        self._say(visible(f"refused a connection to port {port}, {PORTS[self._kind]}: {reason}{more}", lines=False))
        self._said, self._unsaid = now, 0


def noted_ports(state: Path) -> list[int]:
    """List the ports that programs of ours listen on, or did when they were killed, as far as they are noted."""
    ports = set[int]()
    for note in _notes(state).glob("*-*"):
        port, _, pid = note.name.partition("-")
        if not (port.isdecimal() and pid.isdecimal()):
            continue
        try:
            os.kill(int(pid), 0)
        except (ProcessLookupError, OverflowError):
            note.unlink(missing_ok=True)
        except PermissionError:
            ports.add(int(port))
        else:
            ports.add(int(port))
    # Where a server was killed, its clients wait for the next.
    ports.update(int(note.stem) for note in (state / "server").glob("*.json") if note.stem.isdecimal())
    return sorted(ports)


def _notes(state: Path) -> Path:
    return state / "ports"


def _warn(line: str) -> None:
    sys.stderr.write(f"{line}\n")
