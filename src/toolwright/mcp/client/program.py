"""A server that is a program here: started in a scope of its own, spoken to over its pipes."""

import asyncio
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from toolwright.display import visible
from toolwright.mcp.client.link import LARGEST, Handlers
from toolwright.process.scope import Program, Scope, Scopes
from toolwright.record import record
from toolwright.rpc import MCP, Peer

KEPT = 8 * 1024
"""Bytes of what a program wrote to stderr last."""
FAREWELL = 0.5
"""Seconds a program has to end by itself once its input is closed."""


class ProgramLink:
    """The program, its pipes, and what it complained of last."""

    stateless = False
    version = ""

    def __init__(self, scope: Scope, peer: Peer, pipes: "Pipes") -> None:
        self.peer = peer
        self._scope = scope
        self._pipes = pipes

    @classmethod
    async def start(
        cls, scopes: Scopes, argv: Sequence[str], *, cwd: Path, env: Mapping[str, str], handlers: Handlers
    ) -> "ProgramLink":
        """Start the program. ToolError says what stood in its way."""
        scope = await scopes.start(Program(argv=argv, cwd=cwd, env=env, stdin="pipe", stderr="pipe"))
        try:
            pipes = await _pipes(scope)
        except BaseException:
            await asyncio.shield(scope.stop())
            scope.release()
            raise
        peer = Peer(
            pipes.reader, pipes.writer, MCP, answer=handlers.answer, notified=handlers.notified, largest=LARGEST
        )
        peer.start()
        return cls(scope, peer, pipes)

    def last_words(self) -> str:
        return self._pipes.complaints.last_line()

    async def listen(self) -> None:
        """Nothing to do: all that the program says comes over the one pipe."""

    async def close(self) -> None:
        """Close its input, which asks it to end; then make sure that it has, with all that it started."""
        await self.peer.close()
        self._scope.close_stdin()
        try:
            async with asyncio.timeout(FAREWELL):
                await self._scope.emptied()
        except TimeoutError:
            await self._scope.stop()
        self._scope.release()
        self._pipes.close()

    async def died(self) -> str:
        """How the program ended, in words; for one whose pipes are closed."""
        try:
            async with asyncio.timeout(FAREWELL):
                end = await self._scope.ended()
        except TimeoutError:
            return "it closed its output"
        if end.signal:
            return f"it was ended by signal {end.signal}"
        return f"it ended with code {end.code}"


class Complaints(asyncio.Protocol):
    """What a program writes to stderr; the end of it is kept."""

    def __init__(self) -> None:
        self._kept = bytearray()

    def data_received(self, data: bytes) -> None:
        self._kept += data[-KEPT:]
        del self._kept[:-KEPT]

    def last_line(self) -> str:
        lines = self._kept.decode("utf-8", "replace").split("\n")
        said = next((line.strip() for line in reversed(lines) if line.strip()), "")
        return visible(said[:500], lines=False)


@record(frozen=True, slots=True, kw_only=True)
class Pipes:
    """The pipes of a program as streams."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    complaints: Complaints
    transports: Sequence[asyncio.BaseTransport]

    def close(self) -> None:
        for transport in self.transports:
            transport.close()


async def _pipes(scope: Scope) -> Pipes:
    """They get descriptors of their own, because the scope closes those it has."""
    assert scope.stdin is not None
    assert scope.stderr is not None
    loop = asyncio.get_running_loop()
    reader, complaints = asyncio.StreamReader(), Complaints()
    heard, said = asyncio.StreamReaderProtocol(reader), asyncio.StreamReaderProtocol(asyncio.StreamReader())
    output, _ = await loop.connect_read_pipe(lambda: heard, os.fdopen(os.dup(scope.stdout), "rb", 0))
    errors, _ = await loop.connect_read_pipe(lambda: complaints, os.fdopen(os.dup(scope.stderr), "rb", 0))
    pipe, _ = await loop.connect_write_pipe(lambda: said, os.fdopen(os.dup(scope.stdin), "wb", 0))
    writer = asyncio.StreamWriter(pipe, said, None, loop)
    return Pipes(reader=reader, writer=writer, complaints=complaints, transports=(output, errors, pipe))
