"""A command that the person runs from the conversation, with what it prints as it comes."""

import asyncio
import codecs
import os
import signal
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from toolwright.tui.blocks import Shell

KEPT = 200_000
"""Letters of the output that are kept, from its end."""


async def run(block: Shell, directory: Path, changed: Callable[[], None]) -> None:
    """Run the command of a block to its end; where whoever waits for it is stopped, it is ended."""
    process = await asyncio.create_subprocess_shell(
        block.command,
        cwd=directory,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        start_new_session=True,
    )
    assert process.stdout is not None
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    try:
        while piece := await process.stdout.read(65_536):
            block.output = (block.output + decoder.decode(piece))[-KEPT:]
            block.version += 1
            changed()
        code = await process.wait()
    except asyncio.CancelledError:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        raise
    block.ended = f"exit {code}" if code else "done"
    block.version += 1
    changed()
