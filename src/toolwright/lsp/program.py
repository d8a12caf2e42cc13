"""A program that is spoken to over its input and output, in a scope that leaves nothing of it behind."""

import asyncio
import os
import re
from collections import deque
from dataclasses import replace
from functools import partial
from typing import IO

from toolwright.deadline import to_the_end
from toolwright.process.keeper.family import descendants
from toolwright.process.running.scope import Program, Scope, Scopes

_LIMIT = 256 * 1024
_ERRORS = 4096
"""Bytes kept of what it writes to its standard error."""
_SAID_FIRST = re.compile(r"\s*([\w-]+: )?(error|fatal|panic)", re.IGNORECASE)
_FAULT = re.compile(r"error|panic|fatal|exception|cannot|not found|no such", re.IGNORECASE)
_CALM = re.compile(r"\b(warn(ing)?|info|debug|trace)\b", re.IGNORECASE)


class RunningServer:
    """A program that runs, its streams, and the end of what it complained about."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.reader = asyncio.StreamReader(_LIMIT)
        self.writer: asyncio.StreamWriter
        self._errors = asyncio.StreamReader(_LIMIT)
        self._transports = list[asyncio.BaseTransport]()
        self._complaints = deque[bytes]()
        self._size = 0
        self._listening: asyncio.Task[None] | None = None

    @classmethod
    async def start(cls, scopes: Scopes, program: Program) -> "RunningServer":
        """Start a program with pipes; ToolError if it cannot be."""
        running = cls(await scopes.start(replace(program, stdin="pipe", stderr="pipe")))
        try:
            await running._connect()
        except BaseException:
            await running.end()
            raise
        return running

    @property
    def complaint(self) -> str:
        """The last line it wrote to its standard error that speaks of a fault, or the last that is no mere warning."""
        lines = b"".join(self._complaints).decode("utf-8", "replace").strip().splitlines()
        for sort in (_SAID_FIRST.match, _FAULT.search, lambda line: not _CALM.search(line)):
            if telling := [line for line in lines if sort(line)]:
                return telling[-1].strip()[:300]
        return ""

    def memory(self) -> int | None:
        """Bytes that it and all it started have in memory; None where the system does not tell."""
        sizes = [_resident(pid) for pid in descendants(self.scope.leader)]
        known = [size for size in sizes if size is not None]
        return sum(known) if known else None

    async def end(self) -> None:
        """End all of it, and wait until it is gone, also if the caller is cancelled meanwhile."""
        await to_the_end(self._end())

    async def _end(self) -> None:
        if self._listening is not None:
            self._listening.cancel()
            await asyncio.gather(self._listening, return_exceptions=True)
        for transport in self._transports:
            transport.close()
        await self.scope.end()

    async def _connect(self) -> None:
        loop, scope = asyncio.get_running_loop(), self.scope
        assert scope.stdin is not None
        assert scope.stderr is not None
        for reader, descriptor in ((self.reader, scope.stdout), (self._errors, scope.stderr)):
            protocol = partial(asyncio.StreamReaderProtocol, reader)
            reading, _ = await loop.connect_read_pipe(protocol, _opened(descriptor, "rb"))
            self._transports.append(reading)
        writing, writer_protocol = await loop.connect_write_pipe(
            lambda: asyncio.StreamReaderProtocol(asyncio.StreamReader()), _opened(scope.stdin, "wb")
        )
        self._transports.append(writing)
        self.writer = asyncio.StreamWriter(writing, writer_protocol, None, loop)
        self._listening = asyncio.create_task(self._listen())

    async def _listen(self) -> None:
        while data := await self._errors.read(_ERRORS):
            self._complaints.append(data)
            self._size += len(data)
            while self._size > _ERRORS and len(self._complaints) > 1:
                self._size -= len(self._complaints.popleft())


def _opened(descriptor: int, mode: str) -> IO[bytes]:
    """A file of our own over a pipe; the scope closes its descriptor itself."""
    file: IO[bytes] = os.fdopen(os.dup(descriptor), mode, 0)
    return file


def _resident(pid: int) -> int | None:
    try:
        with open(f"/proc/{pid}/statm", "rb") as file:  # noqa: PTH123 - many times in a row
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return None
