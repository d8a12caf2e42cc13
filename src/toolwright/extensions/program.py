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
    out, err = _Said(scope.stdout), _Said(scope.stderr or -1)
    try:
        await _write(scope, given)
        end = await scope.ended()
    finally:
        await asyncio.shield(scope.stop())
        # Only now, so that what it may have left running does not keep the pipes open.
        out.close()
        err.close()
        scope.release()
    return Done(code=end.code, signal=end.signal, out=out.text, err=err.text)


class _Said:
    """All a program writes to one pipe, up to a limit; what goes beyond it is read and dropped."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._kept = bytearray()
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(descriptor, self._read)

    @property
    def text(self) -> str:
        return self._kept.decode("utf-8", "replace")

    def close(self) -> None:
        """Take in what is still there, and read no more."""
        while self._read():
            pass
        self._loop.remove_reader(self._descriptor)

    def _read(self) -> bool:
        try:
            data = os.read(self._descriptor, _CHUNK)
        except BlockingIOError:
            return False
        self._kept += data[: MOST_OUTPUT - len(self._kept)]
        if not data:
            self._loop.remove_reader(self._descriptor)
        return bool(data)


async def _write(scope: Scope, data: bytes) -> None:
    """What a pipe takes at once is written at once; for more than that its program is waited for."""
    assert scope.stdin is not None
    try:
        written = os.write(scope.stdin, data)
        if written < len(data):
            await _write_rest(scope.stdin, data[written:])
    except OSError:
        pass  # a program need not read what it is given
    finally:
        scope.close_stdin()


async def _write_rest(descriptor: int, data: bytes) -> None:
    loop = asyncio.get_running_loop()
    unused = asyncio.StreamReaderProtocol(asyncio.StreamReader())
    transport, _ = await loop.connect_write_pipe(lambda: unused, os.fdopen(os.dup(descriptor), "wb", 0))
    writer = asyncio.StreamWriter(transport, unused, None, loop)
    try:
        writer.write(data)
        await writer.drain()
    finally:
        writer.close()
