"""One run of a program: something on its input, its output to the end, and nothing left behind."""

import asyncio
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from toolwright.process.scope import Program, Scope, Scopes
from toolwright.record import record

MOST_OUTPUT = 16 * 1024 * 1024
"""Bytes of its output that are kept."""
_CHUNK = 64 * 1024


@record(frozen=True, slots=True, kw_only=True)
class Done:
    """How a program ended, and what it said."""

    code: int | None
    """None if a signal ended it."""
    signal: int | None
    out: str
    err: str

    @property
    def how(self) -> str:
        return f"ended with code {self.code}" if self.signal is None else f"was ended by signal {self.signal}"


async def run_program(scopes: Scopes, argv: Sequence[str], *, cwd: Path, env: Mapping[str, str], given: bytes) -> Done:
    """Run a program to its end; whatever it started ends with it, also when we are cancelled."""
    scope = await scopes.start(Program(argv=argv, cwd=cwd, env=env, stdin="pipe", stderr="pipe"))
    try:
        reading = asyncio.gather(_read(scope.stdout), _read(scope.stderr or -1))
        await _write(scope, given)
        end = await scope.ended()
        # Only now, so that what it may have left running does not keep the pipes open.
        await scope.stop()
        out, err = await reading
    finally:
        await asyncio.shield(scope.stop())
        scope.release()
    return Done(code=end.code, signal=end.signal, out=out, err=err)


async def _read(descriptor: int) -> str:
    """All a program writes, up to a limit; what goes beyond it is read and dropped."""
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader()
    pipe = os.fdopen(os.dup(descriptor), "rb", 0)
    transport, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), pipe)
    kept = bytearray()
    try:
        while data := await reader.read(_CHUNK):
            kept += data[: MOST_OUTPUT - len(kept)]
    finally:
        transport.close()
    return kept.decode("utf-8", "replace")


async def _write(scope: Scope, data: bytes) -> None:
    assert scope.stdin is not None
    loop = asyncio.get_running_loop()
    unused = asyncio.StreamReaderProtocol(asyncio.StreamReader())
    transport, _ = await loop.connect_write_pipe(lambda: unused, os.fdopen(os.dup(scope.stdin), "wb", 0))
    scope.close_stdin()
    writer = asyncio.StreamWriter(transport, unused, None, loop)
    try:
        writer.write(data)
        await writer.drain()
    except OSError:
        pass  # a program need not read what it is given
    finally:
        writer.close()
