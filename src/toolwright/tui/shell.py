"""A command that the person runs from the conversation, with what it prints as it comes."""

import asyncio
import codecs
from collections.abc import Callable
from pathlib import Path

from toolwright.deadline import to_the_end
from toolwright.process.running.child import Child
from toolwright.tui.blocks import Shell

KEPT = 200_000
"""Letters of the output that are kept, from its end."""


async def run(block: Shell, directory: Path, changed: Callable[[], None]) -> None:
    """Run the command of a block to its end; where whoever waits for it is stopped, it is ended."""
    child = Child(["/bin/sh", "-c", block.command], cwd=directory, merged=True)
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    printed = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    transport, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(printed), child.stdout)
    try:
        while piece := await printed.read(65_536):
            block.output = (block.output + decoder.decode(piece))[-KEPT:]
            block.version += 1
            changed()
        code = await asyncio.to_thread(child.wait)
    except BaseException:
        child.kill()
        await to_the_end(asyncio.to_thread(child.wait))
        raise
    finally:
        transport.close()
    child.leave()
    block.ended = f"exit {code}" if code else "done"
    block.version += 1
    changed()
