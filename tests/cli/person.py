"""A person at a terminal: a command in a pseudo-terminal, what it shows, and keys that are pressed."""

import codecs
import os
import pty
import re
import select
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.waiting import PATIENCE, patience_left


class Terminal:
    """A process with a person at it."""

    def __init__(self, process: "subprocess.Popen[bytes]", screen: int) -> None:
        self.process = process
        self.screen = screen
        self.seen = ""
        self._decoder = codecs.getincrementaldecoder("utf-8")()

    def wait_for(self, text: str) -> None:
        left = patience_left()
        while text not in self.seen:
            ready = select.select([self.screen], [], [], left())[0]
            assert ready, f"{text!r} never came:\n{self.seen}"
            assert self._read(), f"it has ended:\n{self.seen}"

    def _read(self) -> bool:
        """One piece of what it shows, which may begin and end inside a letter or the end of a line; none at the end."""
        try:
            piece = os.read(self.screen, 4096)
        except OSError:
            return False
        self.seen = (self.seen + self._decoder.decode(piece)).replace("\r\n", "\n")
        return bool(piece)

    def type(self, text: str) -> None:
        os.write(self.screen, f"{text}\n".encode())

    def press_interrupt(self) -> None:
        os.write(self.screen, b"\x03")

    def send(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def exit_code(self) -> int:
        """The code it ends with; what it still shows is read, so that it is not held up by a full terminal."""
        left = patience_left()
        while self.process.poll() is None:
            assert left(), f"it does not end:\n{self.seen}"
            if select.select([self.screen], [], [], 0.05)[0] and not self._read():
                return self.process.wait(PATIENCE)
        while select.select([self.screen], [], [], 0)[0] and self._read():
            """What it has shown last."""
        return self.process.returncode

    @property
    def words(self) -> str:
        """What was shown, without colours and with every run of white space as one blank."""
        return " ".join(re.sub(r"\x1b\[[0-9;]*m", "", self.seen).split())


@contextmanager
def at_terminal(
    project: Path,
    *arguments: str,
    variables: Mapping[str, str] | None = None,
    full_screen: bool = False,
    within: Sequence[str] = (),
) -> Iterator[Terminal]:
    """`tw` with the arguments, in a session of its own whose controlling terminal is ours.

    It writes lines, as where textual is not installed, unless the full screen is wanted. `within` is a program that
    starts it.
    """
    screen, other = pty.openpty()
    environment = {"HOME": str(project.parent / "home"), "PATH": os.environ["PATH"], "TERM": "xterm", "COLUMNS": "100"}
    process = subprocess.Popen(
        [*within, sys.executable, "-c", _START if full_screen else _WITHOUT_TEXTUAL + _START, *arguments],
        cwd=project,
        env={**environment, **(variables or {})},
        stdin=other,
        stdout=other,
        stderr=other,
        start_new_session=True,
    )
    os.close(other)
    try:
        yield Terminal(process, screen)
    finally:
        process.kill()
        process.wait()
        os.close(screen)


_WITHOUT_TEXTUAL = """
import sys
sys.modules["textual"] = None
"""
_START = """
import fcntl, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
from toolwright.cli import main
sys.argv[0] = "tw"
sys.exit(main())
"""
