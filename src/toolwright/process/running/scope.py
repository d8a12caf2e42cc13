"""Scopes: a program and everything it starts, begun together, watched together, ended together."""

import asyncio
import json
import os
import socket
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from toolwright.deadline import time_limit, to_the_end
from toolwright.errors import ToolError
from toolwright.process.box.box import Wrapped
from toolwright.process.keeper.order import Capture, GateOrder, StartOrder
from toolwright.process.running.keeper_client import Keeper
from toolwright.record import record

PROCESSES = 4096
"""The most processes that all programs started from here may be at a time."""
MEMORY = 0.75
"""The most of the machine's memory they may take."""
TEMPORARY = 8 * 1024**3
"""Bytes of temporary files that commands may have in the folder of their own."""
GRACE = 0.1
"""Seconds between SIGTERM and SIGKILL, unless said otherwise."""
LINGER = 0.1
"""Seconds a scope has to become empty by itself once its program has ended, before it counts as left running."""
PATIENCE = 20
"""Seconds for a program to start."""
PROOF = 2.0
"""Seconds to wait for the kernel to say that a killed scope is empty."""


@record(frozen=True, slots=True, kw_only=True)
class Program:
    """A program to start: where, with which environment and within which limits."""

    argv: Sequence[str]
    """The program by its path: what it is was looked up before (process/programs/lookup.py)."""
    cwd: Path
    env: Mapping[str, str]
    stdin: Literal["closed", "pipe"] = "closed"
    stderr: Literal["merged", "pipe"] = "merged"
    walls: Wrapped = Wrapped(argv=())
    """The box around it."""
    space: int | None = None
    """The descriptor of the network namespace that it is to be in, if not in ours."""
    capture: Capture | None = None
    """The order to note what it changes, with what was there before."""
    gate: GateOrder | None = None
    """Our door, where it has no network of its own to reach others from."""

    @classmethod
    def of(cls, wrapped: Wrapped, *, cwd: Path, env: Mapping[str, str], takes_input: bool = False) -> "Program":
        """A command that was made ready for its box."""
        return cls(
            argv=wrapped.argv,
            cwd=cwd,
            env={**env, **wrapped.env},
            stdin="pipe" if takes_input else "closed",
            walls=wrapped,
        )


@record(frozen=True, slots=True, kw_only=True)
class LeftoverProcess:
    """A process that was still there when its program had ended."""

    pid: int
    command: str


@record(frozen=True, slots=True, kw_only=True)
class AskedChange:
    """A change that a program is about to make, and that waits for an answer."""

    number: int
    kind: str
    places: tuple[str, ...]
    source: str = ""
    """The path that is to get the name, if something else is."""
    program: str = ""


@record(frozen=True, slots=True, kw_only=True)
class ProgramEnd:
    """The end of a program."""

    code: int | None = None
    """Its exit code; None if a signal ended it."""
    signal: int | None = None
    ran: bool = True
    """False if a wrapper such as bubblewrap gave up before it came to the program."""
    excess: Literal["", "processes", "memory", "temp", "disk", "held"] = ""
    """The excess for which it was ended; `held` if what it was about to change could not be looked at."""
    left: tuple[LeftoverProcess, ...] = ()
    refused: tuple[str, ...] = ()
    """Changes it was about to make and could not for the walls of its box, as far as that is seen."""


class Scopes:
    """Starts programs, each in a scope of its own. Closing it ends them all, and so does our own death."""

    def __init__(self, *, processes: int = PROCESSES, memory: int = 0, temp: int = TEMPORARY) -> None:
        """`memory` is in bytes, most of the machine's if not given; `temp` is what temporary files may take."""
        self._temp = temp
        self._processes = processes
        self._memory = memory or _most_memory()
        self._keepers = {kind: Keeper(processes, self._memory, anchored=kind) for kind in (False, True)}
        """One for those that hang on a process with which the kernel ends them, one for the others."""
        self._open = set[Scope]()

    def warm(self, *, anchored: bool = False) -> None:
        """Have the keeper ready before the first program is wanted; it starts on its own time."""
        _refuse_windows()
        self._keepers[anchored].ensure()

    async def start(self, program: Program) -> "Scope":
        """The scope of a program that now runs. ToolError says what stood in its way."""
        _refuse_windows()
        keeper = self._keepers[program.walls.anchored]
        keeper.ensure()
        quota = keeper.quota
        watch, memory = 0 if quota.processes else self._processes, 0 if quota.memory else self._memory
        order = json.dumps(_order(program, watch, memory, self._temp)).encode()
        pipes = Pipes(program)
        try:
            control = keeper.send(order, [*pipes.theirs, *([] if program.space is None else [program.space])])
        except OSError:
            pipes.close()
            raise
        finally:
            pipes.close_theirs()
        scope = Scope(control, pipes, self._open.discard)
        self._open.add(scope)
        try:
            await scope.started()
        except ToolError:
            scope.release()
            raise
        except BaseException:
            await scope.end()
            raise
        return scope

    def send_anchored(self, order: bytes, descriptors: Sequence[int]) -> socket.socket:
        """Hand an order that starts no program to the keeper which may have namespaces; it answers on the socket."""
        return self._keepers[True].send(order, descriptors)

    async def close(self) -> None:
        """End every program and wait until nothing of them is left."""
        await to_the_end(self._close())

    async def _close(self) -> None:
        await asyncio.gather(*(scope.end() for scope in list(self._open)))
        for keeper in self._keepers.values():
            await keeper.close()


class Scope:
    """A program and all its descendants. It must be ended or released at last; both end what still runs."""

    def __init__(self, control: socket.socket, pipes: "Pipes", on_release: Callable[["Scope"], None]) -> None:
        self.pid = 0
        """The program's number, as its leader knows it, which may be in a namespace."""
        self.leader = 0
        """The number on this machine of the process that all of it descends from."""
        self.stdin, self.stdout, self.stderr = pipes.stdin, pipes.stdout, pipes.stderr
        """Our ends of its pipes: descriptors that do not block; closed by `release`."""
        self._control = control
        self._pipes = pipes
        self._on_release = on_release
        self._heard = b""
        self._loop = asyncio.get_running_loop()
        self._started = self._loop.create_future()
        self._ended: asyncio.Future[ProgramEnd] = self._loop.create_future()
        self._emptied = self._loop.create_future()
        self.answer: asyncio.Future[Callable[[AskedChange], Awaitable[bool]]] = self._loop.create_future()
        """Decides about changes that are asked about. They wait until it is set."""
        self._answering = set[asyncio.Task[None]]()
        self._marks = list[asyncio.Future[None]]()
        self.is_silent = False
        """True if it has changed something that could not be noted where that is captured."""
        # By its number: of a socket that it does not know yet, the loop would first put together a description.
        self._number = control.fileno()
        self._loop.add_reader(self._number, self._listen)

    async def started(self) -> None:
        """Return once the program runs; ToolError if it cannot."""
        try:
            async with time_limit(PATIENCE):
                problem = await asyncio.shield(self._started)
        except TimeoutError:
            problem = f"the machine had no room for another process for {PATIENCE} seconds"
        if problem:
            raise ToolError(f"The command did not run: {problem}.")

    async def ended(self) -> ProgramEnd:
        """Wait for the end of the program. Known once its scope is empty, or soon after its end if others are left."""
        return await asyncio.shield(self._ended)

    async def emptied(self) -> None:
        """Return once no process of the scope is left."""
        await asyncio.shield(self._emptied)

    @property
    def is_empty(self) -> bool:
        return self._emptied.done()

    async def stop(self, grace: float = GRACE) -> bool:
        """Ask all processes to end, kill those that do not, and say whether the kernel has proved them gone."""
        if self.is_empty:
            return True
        self._tell(stop=grace)
        _, pending = await asyncio.wait([self._emptied], timeout=grace + PROOF)
        return not pending

    async def end(self, grace: float = GRACE) -> bool:
        """Stop it, also if the caller is cancelled meanwhile, and release it; whether nothing is left."""
        try:
            return self.is_empty or await to_the_end(self.stop(grace))
        finally:
            self.release()

    async def mark(self, number: int) -> None:
        """Return once what changes from then on is noted anew, after a mark of this number, or nothing runs."""
        if not self.is_empty and self._control.fileno() >= 0:
            marked = self._loop.create_future()
            self._marks.append(marked)
            self._tell(mark=number)
            await asyncio.wait([marked, self._emptied], return_when=asyncio.FIRST_COMPLETED)

    def close_stdin(self) -> None:
        self._pipes.close_stdin()
        self.stdin = None

    def release(self) -> None:
        """Let go of everything; processes that still run are killed."""
        if self._control.fileno() < 0:
            return
        self._loop.remove_reader(self._number)
        self._control.close()
        self._pipes.close()
        self._on_release(self)
        self._conclude()

    def _tell(self, **message: object) -> None:
        try:
            self._control.sendall(json.dumps(message).encode() + b"\n")
        except ConnectionError:
            self._conclude()

    def _listen(self) -> None:
        try:
            data = self._control.recv(65536)
        except BlockingIOError:
            return
        except ConnectionError:
            data = b""
        if not data:
            self._loop.remove_reader(self._number)
            self._conclude()
            return
        *lines, self._heard = (self._heard + data).split(b"\n")
        for line in lines:
            self._hear(json.loads(line))

    def _hear(self, message: dict[str, Any]) -> None:
        match message:
            case {"started": pid, "leader": leader}:
                self.pid, self.leader = pid, leader
                _settle(self._started, "")
            case {"ask": number, "kind": kind, "places": places}:
                source, program = message["source"], message["program"]
                asked = AskedChange(number=number, kind=kind, places=tuple(places), source=source, program=program)
                answering = self._loop.create_task(self._answer(asked))
                self._answering.add(answering)
                answering.add_done_callback(self._answering.discard)
            case {"marked": True}:
                _settle(self._marks.pop(0), None)
            case {"failed": problem}:
                _settle(self._started, problem)
            case {"code": code, "ran": ran, "left": left}:
                others = tuple(LeftoverProcess(pid=entry["pid"], command=entry["command"]) for entry in left)
                end = ProgramEnd(
                    code=code,
                    signal=message.get("signal"),
                    ran=ran,
                    excess=message["excess"],
                    left=others,
                    refused=tuple(message["refused"]),
                )
                _settle(self._ended, end)
        self.is_silent = self.is_silent or bool(message.get("silent"))
        if message.get("empty"):
            _settle(self._emptied, None)

    async def _answer(self, asked: AskedChange) -> None:
        allow = False
        try:
            decide = await asyncio.shield(self.answer)
            allow = await decide(asked)
        finally:
            if self._control.fileno() >= 0:
                self._tell(answer=asked.number, allow=allow)

    def _conclude(self) -> None:
        """Nobody reports any more: the leader is done, or was killed and the keeper ends what it left."""
        for answering in self._answering:
            answering.cancel()
        _settle(self._started, "the process that starts it was killed")
        _settle(self._ended, ProgramEnd())
        _settle(self._emptied, None)


class Pipes:
    """The pipes of a program: our ends, which do not block, and its own."""

    def __init__(self, program: Program) -> None:
        null = os.open(os.devnull, os.O_RDONLY)
        self.theirs = [null, -1, -1]
        """Input, output and errors of the program."""
        self.stdin: int | None = None
        self.stderr: int | None = None
        if program.stdin == "pipe":
            os.close(null)
            self.theirs[0], self.stdin = os.pipe()
            os.set_blocking(self.stdin, False)
        self.stdout, self.theirs[1] = _reading_pipe()
        if program.stderr == "pipe":
            self.stderr, self.theirs[2] = _reading_pipe()
        else:
            self.theirs[2] = os.dup(self.theirs[1])

    def close_theirs(self) -> None:
        for descriptor in self.theirs:
            os.close(descriptor)
        self.theirs = []

    def close_stdin(self) -> None:
        if self.stdin is not None:
            os.close(self.stdin)
        self.stdin = None

    def close(self) -> None:
        self.close_stdin()
        for descriptor in (self.stdout, self.stderr):
            if descriptor is not None and descriptor >= 0:
                os.close(descriptor)
        self.stdout, self.stderr = -1, None


def _reading_pipe() -> tuple[int, int]:
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    return reading, writing


def _most_memory() -> int:
    return int(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") * MEMORY) if sys.platform != "win32" else 0


def _order(program: Program, watch: int, memory: int, temp: int) -> StartOrder:
    return {
        "path": _program_path(program),
        "argv": list(program.argv),
        "env": dict(program.env),
        "cwd": str(program.cwd),
        "linger": LINGER,
        "watch": watch,
        "memory": memory,
        "boxed": program.walls.boxed,
        "scoped": program.walls.scoped,
        "disk": [str(folder) for folder in program.walls.disk],
        "temp": str(program.walls.temp or ""),
        "temp_bytes": temp,
        "exact": list(program.walls.exact),
        "confinement": program.walls.confinement,
        "capture": program.capture,
        "gate": program.gate,
    }


def _program_path(program: Program) -> str:
    name = program.argv[0]
    if "/" not in name:
        raise ToolError(f"There is no program {name!r} on this machine. Install it, or use another.", "missing")
    return name


def _settle(future: "asyncio.Future[Any]", value: object) -> None:
    if not future.done():
        future.set_result(value)


def _refuse_windows() -> None:
    if sys.platform == "win32":
        raise ToolError("Commands cannot be run on Windows itself. Run toolwright inside WSL instead.")
