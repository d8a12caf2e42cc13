"""One run of a program: something on its input, its output to the end, and nothing left behind."""

import asyncio
import os
from dataclasses import replace

from toolwright.process.running.scope import Program, Scope, Scopes
from toolwright.record import record

MOST_OUTPUT = 16 * 1024 * 1024
"""Bytes of its output that are kept."""
_CHUNK = 64 * 1024


@record(frozen=True, slots=True, kw_only=True)
class ProgramResult:
    """The end of a program, and its output."""

    code: int | None
    """None if a signal ended it."""
    signal: int | None
    ran: bool
    """False if its box could not be put up."""
    output: bytes
    err: str

    @property
    def out(self) -> str:
        """Return what it printed, as text."""
        return self.output.decode("utf-8", "replace")

    @property
    def how(self) -> str:
        return f"ended with code {self.code}" if self.signal is None else f"was ended by signal {self.signal}"


async def run_program(scopes: Scopes, program: Program, data: bytes = b"", *, most: int = MOST_OUTPUT) -> ProgramResult:
    """Run a program to its end; whatever it started ends with it, also when we are cancelled.

    `most` is how much of its output is kept.
    """
    scope = await scopes.start(replace(program, stdin="pipe", stderr="pipe"))
    output, complaints, feed = _Heard(scope.stdout, most), _Heard(scope.stderr or -1, most), _Feed(scope, data)
    try:
        end = await scope.ended()
        # Only now, so that what it may have left running does not keep the pipes open.
        await scope.stop()
        await output.ended
        await complaints.ended
    finally:
        for stream in (output, complaints, feed):
            stream.close()
        await scope.end()
    err = complaints.kept.decode("utf-8", "replace")
    return ProgramResult(code=end.code, signal=end.signal, ran=end.ran, output=bytes(output.kept), err=err)


class _Heard:
    """All a program writes to one pipe, up to a limit; what goes beyond it is read and dropped.

    Straight from the descriptor: a transport for each pipe of each call would cost more than the call itself.
    """

    def __init__(self, descriptor: int, most: int) -> None:
        self._descriptor = descriptor
        self._most = most
        self.kept = bytearray()
        self._loop = asyncio.get_running_loop()
        self.ended = self._loop.create_future()
        self._loop.add_reader(descriptor, self._read)

    def _read(self) -> None:
        try:
            data = os.read(self._descriptor, _CHUNK)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        self.kept += data[: self._most - len(self.kept)]
        if not data:
            self.close()

    def close(self) -> None:
        if not self.ended.done():
            self._loop.remove_reader(self._descriptor)
            self.ended.set_result(None)


class _Feed:
    """The input of a program, which is closed behind it. It need not read it."""

    def __init__(self, scope: Scope, data: bytes) -> None:
        assert scope.stdin is not None
        self._scope = scope
        self._descriptor = scope.stdin
        self._rest = memoryview(data)
        self._waits = False
        self._write()

    def _write(self) -> None:
        try:
            while self._rest:
                self._rest = self._rest[os.write(self._descriptor, self._rest) :]
        except BlockingIOError:
            if not self._waits:
                self._waits = True
                asyncio.get_running_loop().add_writer(self._descriptor, self._write)
            return
        except OSError:
            pass
        self.close()

    def close(self) -> None:
        if self._waits:
            asyncio.get_running_loop().remove_writer(self._descriptor)
        self._waits = False
        self._scope.close_stdin()
