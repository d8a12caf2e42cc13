"""A program that is spoken to in JSON-RPC over its pipes: in a scope of its own, its last words kept, ended kindly."""

import asyncio
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from toolwright.deadline import time_limit, to_the_end
from toolwright.process.running.scope import Program, Scope, Scopes
from toolwright.protocols.framing import LARGEST
from toolwright.protocols.jsonrpc import Answer, Dialect, Notified, Peer
from toolwright.record import record
from toolwright.text.display import visible

KEPT = 16 * 1024
"""Bytes of what a program wrote to stderr last."""
FAREWELL = 0.5
"""Seconds a program has to end by itself once its input is closed."""


@record(frozen=True, slots=True, kw_only=True)
class Speech:
    """The manner of speaking to a program, and the one who takes what it says by itself."""

    dialect: Dialect
    answer: Answer
    notified: Notified
    largest: int = LARGEST


class SpokenProgram:
    """One run of it."""

    def __init__(self, scope: Scope, peer: Peer, pipes: "_Pipes") -> None:
        self.peer = peer
        self._scope = scope
        self._pipes = pipes
        self._watching = asyncio.create_task(self._notice_its_death())

    @classmethod
    async def start(
        cls, scopes: Scopes, argv: Sequence[str], *, cwd: Path, env: Mapping[str, str], speech: Speech
    ) -> "SpokenProgram":
        """Start the program. ToolError says what stood in its way."""
        scope = await scopes.start(Program(argv=argv, cwd=cwd, env=env, stdin="pipe", stderr="pipe"))
        try:
            pipes = await _connected(scope)
        except BaseException:
            await scope.end()
            raise
        answer, notified = speech.answer, speech.notified
        peer = Peer(
            pipes.reader, pipes.writer, speech.dialect, answer=answer, notified=notified, largest=speech.largest
        )
        peer.start()
        return cls(scope, peer, pipes)

    def last_line(self) -> str:
        """The last line it wrote to stderr."""
        return self._pipes.complaints.last_line()

    async def how_it_ended(self) -> str:
        """In words, for one whose pipes are closed; empty if it runs on all the same."""
        try:
            async with time_limit(FAREWELL):
                end = await self._scope.ended()
        except TimeoutError:
            return ""
        return f"was ended by signal {end.signal}" if end.signal else f"ended with code {end.code}"

    async def _notice_its_death(self) -> None:
        """A program that failed says no more, though what it started may keep its pipes open."""
        end = await self._scope.ended()
        if end.left and end.code != 0:
            self._pipes.reader.feed_eof()

    async def close(self) -> None:
        """Close its input, which asks it to end; then make sure that it has, with all that it started."""
        await to_the_end(self._close())

    async def _close(self) -> None:
        self._watching.cancel()
        await self.peer.close()
        self._scope.close_stdin()
        try:
            async with time_limit(FAREWELL):
                await self._scope.emptied()
        except TimeoutError:
            await self._scope.stop()
        self._scope.release()
        self._pipes.close()


class _Complaints(asyncio.Protocol):
    """The end of what a program writes to stderr."""

    def __init__(self) -> None:
        self._kept = bytearray()

    def data_received(self, data: bytes) -> None:
        self._kept += data[-KEPT:]
        del self._kept[:-KEPT]

    def last_line(self) -> str:
        lines = self._kept.decode("utf-8", "replace").split("\n")
        last = next((line.strip() for line in reversed(lines) if line.strip()), "")
        return visible(last[:500], lines=False)


@record(frozen=True, slots=True, kw_only=True)
class _Pipes:
    """The pipes of a program as streams."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    complaints: _Complaints
    transports: Sequence[asyncio.BaseTransport]

    def close(self) -> None:
        for transport in self.transports:
            transport.close()


async def _connected(scope: Scope) -> _Pipes:
    """They get descriptors of their own, because the scope closes those it has."""
    assert scope.stdin is not None
    assert scope.stderr is not None
    loop = asyncio.get_running_loop()
    reader, complaints = asyncio.StreamReader(), _Complaints()
    heard, written = asyncio.StreamReaderProtocol(reader), asyncio.StreamReaderProtocol(asyncio.StreamReader())
    output, _ = await loop.connect_read_pipe(lambda: heard, os.fdopen(os.dup(scope.stdout), "rb", 0))
    errors, _ = await loop.connect_read_pipe(lambda: complaints, os.fdopen(os.dup(scope.stderr), "rb", 0))
    pipe, _ = await loop.connect_write_pipe(lambda: written, os.fdopen(os.dup(scope.stdin), "wb", 0))
    writer = asyncio.StreamWriter(pipe, written, None, loop)
    return _Pipes(reader=reader, writer=writer, complaints=complaints, transports=(output, errors, pipe))
