"""Reading a line from the terminal in a way that can be left at once, by Ctrl-C or when the question is withdrawn."""

import asyncio
import os
import sys
from typing import TextIO


async def read_line() -> str:
    """The next line a person types; empty at the end of input. Cancelling it leaves no thread waiting."""
    loop = asyncio.get_running_loop()
    line: asyncio.Future[str] = loop.create_future()
    descriptor = sys.stdin.fileno()
    typed = bytearray()

    def ready() -> None:
        # A terminal hands over whole lines, but one that was pasted may come in pieces.
        piece = os.read(descriptor, 65536)
        typed.extend(piece)
        if (not piece or b"\n" in piece) and not line.done():
            line.set_result(typed.decode("utf-8", "replace").partition("\n")[0])

    loop.add_reader(descriptor, ready)
    try:
        return await line
    finally:
        loop.remove_reader(descriptor)


def forget_typed() -> None:
    """Drop what was typed and not yet read."""
    import termios

    try:
        termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)
    except termios.error:
        return


def is_terminal(stream: TextIO | None) -> bool:
    """Tell whether a person is at the stream; it may be closed, or there may be none."""
    return stream is not None and not stream.closed and stream.isatty()
