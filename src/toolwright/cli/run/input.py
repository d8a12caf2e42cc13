"""Text that was piped into a command, as part of a prompt."""

import io
import os
import select
import stat
import sys

from toolwright.cli.options import note
from toolwright.errors import UsageError
from toolwright.terminal.typed import is_terminal

MOST = 10_000_000
"""Bytes of standard input that are taken as part of a prompt."""
PATIENCE = 2.0
"""Seconds after which a pipe that says nothing is mentioned."""


def with_piped(text: str) -> str:
    """The prompt, and after it what was piped in."""
    piped = _piped()
    return f"{text}\n\n{piped}" if text.strip() and piped.strip() else text or piped


def _piped() -> str:
    """All of standard input, if it is a file or a pipe and not a terminal or a device such as /dev/null."""
    if sys.stdin is None or sys.stdin.closed or is_terminal(sys.stdin):
        return ""
    try:
        descriptor = sys.stdin.fileno()
    except io.UnsupportedOperation:
        return sys.stdin.read()
    mode = os.fstat(descriptor).st_mode
    if not (stat.S_ISFIFO(mode) or stat.S_ISREG(mode) or stat.S_ISSOCK(mode)):
        return ""
    if not select.select([descriptor], [], [], PATIENCE)[0]:
        note("waiting for standard input to end; with </dev/null there is none")
    data = sys.stdin.buffer.read(MOST + 1)
    if len(data) > MOST:
        raise UsageError(f"Standard input is larger than {MOST // 1_000_000} MB. Send it along as a file with --file.")
    return _as_text(data)


def _as_text(data: bytes) -> str:
    if b"\0" in data:
        raise UsageError("Standard input is not text. Send a file along with --file.")
    text = data.decode("utf-8", "replace")
    if "\ufffd" in text and "\ufffd".encode() not in data:
        note("standard input is not all UTF-8; what is not is sent as \ufffd")
    return text
