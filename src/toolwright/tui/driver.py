"""Textual's driver, and a terminal that may go: the thread that writes to it must not end before it is told to."""

import os
from contextlib import suppress
from typing import IO, Any

from textual.drivers.linux_driver import LinuxDriver


class DriverOutput:
    """The terminal to write to; what nobody reads any more is dropped."""

    def __init__(self, file: IO[str]) -> None:
        self._file = file

    def write(self, text: str) -> None:
        with suppress(OSError, ValueError):
            self._file.write(text)

    def flush(self) -> None:
        with suppress(OSError, ValueError):
            self._file.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


class TerminalDriver(LinuxDriver):
    """Closed in order also when the terminal has gone, where textual's own waits for ever for its dead thread."""

    def __init__(self, *arguments: Any, **more: Any) -> None:
        super().__init__(*arguments, **more)
        self._file: Any = DriverOutput(self._file)

    def _get_terminal_size(self) -> tuple[int, int]:
        """Ask the terminal itself: a `COLUMNS` that a shell has exported stays as it was when the size changes."""
        with suppress(OSError):
            size = os.get_terminal_size(self.fileno)
            if size.columns and size.lines:
                return size.columns, size.lines
        return super()._get_terminal_size()
