"""Serving one client over our own input and output."""

import asyncio
import os
import stat
import sys

from toolwright.errors import UsageError
from toolwright.mcp.serve.connection import ServedClient
from toolwright.mcp.serve.service import Service
from toolwright.protocols.json_types import Json
from toolwright.protocols.jsonrpc import MCP, Peer


async def serve_stdio(service: Service) -> None:
    """Answer one client until it closes our input."""
    reader, writer = await _streams()
    connection = ServedClient(service=service, session=service.session())

    async def answer(method: str, params: Json) -> Json:
        return await connection.answer(method, params, peer.request, peer.notify)

    peer = Peer(reader, writer, MCP, answer=answer, notified=connection.notified)
    connection.push = peer.notify
    async with peer:
        await peer.ended.wait()
    await connection.close()


async def _streams() -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Our input and output as streams. From then on whatever is printed goes to stderr, not among the messages."""
    if stat.S_ISREG(os.fstat(0).st_mode):
        raise UsageError("tw mcp serve speaks with a program over a pipe; its input cannot be a file.")
    loop = asyncio.get_running_loop()
    output = os.dup(1)
    sys.stdout.flush()
    os.dup2(2, 1)
    reader = asyncio.StreamReader()
    heard, writing = asyncio.StreamReaderProtocol(reader), asyncio.StreamReaderProtocol(asyncio.StreamReader())
    await loop.connect_read_pipe(lambda: heard, os.fdopen(os.dup(0), "rb", 0))
    transport, _ = await loop.connect_write_pipe(lambda: writing, os.fdopen(output, "wb", 0))
    return reader, asyncio.StreamWriter(transport, writing, None, loop)
