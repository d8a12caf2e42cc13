"""Jobs: shell commands that run, each with its scope, its box and its output; some outlive the call that began them."""

import asyncio
import logging
import os
from collections import defaultdict
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import Protocol

from toolwright.deadline import time_limit
from toolwright.errors import ToolError
from toolwright.process.box.box import Box
from toolwright.process.jobs.editor_terminals import Terminals
from toolwright.process.jobs.full_screen_programs import git_editor, without_screen
from toolwright.process.jobs.new_files import Arrivals
from toolwright.process.keeper import system
from toolwright.process.keeper.order import Capture, GateOrder
from toolwright.process.programs.environment import ADDED, Withholding, choose_shell, with_git_setting
from toolwright.process.programs.lookup import Lookup
from toolwright.process.running.output import CAP, OutputReader, ProgramOutput
from toolwright.process.running.scope import GRACE, AskedChange, Program, ProgramEnd, Scope, Scopes
from toolwright.process.sandbox.sandbox import Sandbox
from toolwright.record import record

log = logging.getLogger(__name__)

RUNNING = 16
"""Jobs that one session may have running."""
REMEMBERED = 32
"""Jobs of one session that are remembered, the ended ones included."""
LENGTH = 128 * 1024 - 1
"""Bytes the system lets one argument of a program have, which is what a command is to its shell."""
TOLD = 8
"""Settings that a job has made of which its next result tells."""
WATCHED = 0.5
"""Seconds after which it is no longer left until the end of a command to look what settings it has made."""
INPUT = 64 * 1024
"""Bytes that can be typed into a job at once: what a pipe takes without waiting."""


@record(frozen=True, slots=True, kw_only=True)
class ShellSettings:
    """The user's settings of how commands are run."""

    shell: str = ""
    """The shell to use in place of the user's own."""
    timeout: int = 120_000
    """Milliseconds a command may take unless it says otherwise."""
    withhold: Withholding = field(default_factory=Withholding)
    output_cap: int = CAP


@record(frozen=True, slots=True, kw_only=True)
class SpaceUse:
    """The network that a command is started in, and what tells its programs of the way out."""

    descriptor: int | None
    """A namespace, where the machine has those."""
    variables: Mapping[str, str]
    gate: GateOrder | None = None
    """Our door, where it has not."""
    door: int = 0
    """Its port, where programs come to it by themselves or not at all."""
    git_settings: Sequence[tuple[str, str]] = ()
    """Settings that every git in there has."""

    def around(self, environment: Mapping[str, str]) -> dict[str, str]:
        """Return an environment with what is to be known in it."""
        variables = {**environment, **self.variables}
        for name, value in self.git_settings:
            variables |= with_git_setting(variables, name, value)
        return variables


class QuestionAsker(Protocol):
    """Those who put questions while a command waits."""

    def take_waited(self) -> float:
        """Return how long questions have kept it waiting since this was last asked."""
        ...


class Reaching(QuestionAsker, Protocol):
    """Knowledge of a command in the network of its session."""

    def take_notes(self) -> list[str]:
        """Return what it was refused, each once."""
        ...

    async def keep(self) -> None:
        """Say that it outlives the call that began it."""
        ...

    def end(self) -> None:
        """Say that nothing of it runs any more."""
        ...


class ChangeNotes(Protocol):
    """A folder for notes of what a job changes."""

    def end(self) -> None:
        """Write down the last of it."""


class Job:
    """One command and everything it started."""

    def __init__(self, command: str, cwd: Path, box: Box, scope: Scope, output: ProgramOutput) -> None:
        self.agent = ""
        """Whose it is: only this one types into it."""
        self.granted = set[tuple[str, str]]()
        """Permissions that were granted for it, each with what it was for."""
        self.absent: Sequence[Path] = ()
        """Settings that were not there when it began, and that it might make."""
        self.spared: Collection[Path] = ()
        """Places that tools have changed, after a question; they are not the job's own."""
        self.moved: list[tuple[str, Path]] = []
        """Settings that it has made, each with where it was moved to have no effect, until somebody is told."""
        self.ledger: ChangeNotes | None = None
        """Takes in what it changes, if that is captured."""
        self.typed = ""
        """All that was typed into it so far, for a line means what the lines before have made of it."""
        self.reaching: Reaching | None = None
        """Its use of the network of its session, if it is in that."""
        self.name = ""
        """The name by which later calls know it; empty for one that ended within its call."""
        self.command = command
        self.cwd = cwd
        self.box = box
        self.output = output
        self.end: ProgramEnd | None = None
        """The end of its shell, once it has ended; other processes of the job may still run."""
        self.on_output: Callable[[], None] = _nothing
        self.on_release: Callable[[Job], None] = _nothing
        self._seen = 0
        self._scope = scope
        self.asking: QuestionAsker | None = None
        """The one who answers what its programs ask before they change something, if that is asked."""
        self.mark = scope.mark
        self.is_silent = lambda: scope.is_silent
        self._reader = OutputReader(scope.stdout, output, lambda: self.on_output())

    @property
    def is_over(self) -> bool:
        """True if nothing of it runs any more."""
        return self._scope.is_empty

    async def wait(self, seconds: float) -> bool:
        """Wait for its shell to end, or for all of it once that has; False if that takes longer."""
        waiting = self._shell_ended() if self.end is None else self._scope.emptied()
        try:
            async with time_limit(seconds):
                await waiting
        except TimeoutError:
            self._reader.drain()
            return False
        self._reader.drain()
        return True

    def take_waited(self) -> float:
        """Return how long questions have kept it waiting: the time that a person takes is not the command's."""
        return sum(one.take_waited() for one in (self.reaching, self.asking) if one is not None)

    def answer_by(self, answer: Callable[[AskedChange], Awaitable[bool]], asking: QuestionAsker) -> None:
        """Have what its programs ask decided from now on."""
        self.asking = asking
        self._scope.answer.set_result(answer)

    async def _shell_ended(self) -> None:
        self.end = await self._scope.ended()

    async def stop(self, grace: float = GRACE) -> bool:
        """End all of it. False if the kernel could not prove it gone, which takes a process that cannot be killed."""
        has_ended = await self._scope.stop(grace)
        if has_ended and self.end is None:
            self.end = await self._scope.ended()
        self.release()
        return has_ended

    def release(self) -> None:
        """Let go of it: what still runs is killed, what it has printed stays."""
        self._reader.close()
        self._scope.release()
        self.end_ledger()
        self.on_release(self)
        if self.reaching is not None:
            self.reaching.end()

    def end_ledger(self) -> None:
        """Have all that it has changed written down, and no more."""
        ledger, self.ledger = self.ledger, None
        if ledger is not None:
            ledger.end()

    async def ended_at_last(self) -> None:
        """Wait for the end of all of it, and have what it has changed written down then."""
        await self._scope.emptied()
        await asyncio.to_thread(self.end_ledger)

    def feed(self, text: str) -> None:
        """Type text into it, which has been judged."""
        data = text.encode("utf-8", "surrogateescape")
        if self._scope.stdin is None or self.is_over:
            raise ToolError(
                f"{self.name} takes no input: {'it has ended' if self.is_over else 'it was not started to take any'}."
                " Start a command with background: true to be able to type into it."
            )
        if len(data) > INPUT:
            raise ToolError(
                f"The input is {len(data)} bytes; at most {INPUT} at a time. Send it in pieces.", "too_large"
            )
        try:
            written = os.write(self._scope.stdin, data)
        except (BlockingIOError, BrokenPipeError) as problem:
            raise ToolError(
                f"{self.name} is not reading its input ({problem.strerror}). Wait for it, or stop it."
            ) from problem
        self.typed += data[:written].decode("utf-8", "surrogateescape")
        if written < len(data):
            raise ToolError(f"{self.name} took only {written} of {len(data)} bytes of input. Send the rest later.")

    def unseen(self) -> bytes:
        """Return the output since somebody last looked, as far as memory holds it."""
        self._reader.drain()
        fresh = self.output.since(self._seen)
        self._seen = self.output.size
        return fresh

    def settle(self) -> None:
        """Once it is over: take in the last of its output and let go."""
        if self.is_over:
            self.release()


class Jobs:
    """Starts commands, and keeps those of each session that outlive the call that began them."""

    def __init__(
        self,
        scopes: Scopes,
        sandbox: Sandbox,
        settings: ShellSettings,
        *,
        environment: Mapping[str, str],
        lookup: Lookup,
        new_file: Callable[[], Path],
        terminals: Terminals | None = None,
    ) -> None:
        """`environment` is ours, before anything is withheld; `new_file` names a file for a long output.

        `terminals` run the commands that end within their call, where somebody offers that and the user wants it.
        """
        self._terminals = terminals
        self.sandbox = sandbox
        self.settings = settings
        self.home = environment.get("HOME") or str(Path.home())
        """The folder that `~` is to a command."""
        self.path = environment.get("PATH") or os.defpath
        """The PATH by which a command finds its programs."""
        self._scopes = scopes
        self.shell = choose_shell(lookup, environment.get("SHELL", ""), settings.shell)
        learned = settings.withhold.apply(environment)
        self._environment = without_screen(learned)
        self.withheld = tuple(sorted(set(environment) - set(learned)))
        """The names of the variables that commands do not get."""
        self.spaces = dict[str, SpaceUse]()
        """The networks of sessions that have one."""
        self._new_file = new_file
        self._open = set[Job]()
        self._starting = 0
        self._kept = defaultdict[str, dict[str, Job]](dict)
        self._numbers = defaultdict[str, int](int)
        self._arrivals = Arrivals(self._look_for_settings)
        self._watching: asyncio.TimerHandle | None = None
        self._watches = False
        """True while new settings are looked for as they come."""
        self._waiting = set[asyncio.Future[None]]()
        """For the ends of jobs whose changes are written down."""

    @property
    def terminals(self) -> Terminals | None:
        """The terminals that run the commands that end within their call, if not we."""
        return self._terminals if self._terminals is not None and self._terminals.ready else None

    async def keeps_all(self) -> bool:
        """Tell whether the sandbox holds whatever a command does; not where somebody else runs it."""
        return self.terminals is None and await self.sandbox.keeps_all()

    def warm(self) -> None:
        """Get ready in the background for a command that is about to come."""
        self._scopes.warm(anchored=self.sandbox.is_anchored)

    async def start(
        self,
        command: str,
        *,
        cwd: Path,
        box: Box,
        takes_input: bool = False,
        new_file: Callable[[], Path] | None = None,
        veiled: Sequence[tuple[str, bool]] = (),
        space: SpaceUse | None = None,
        capture: Capture | None = None,
    ) -> Job:
        """Run a command line in its box. ToolError if it could not even begin.

        `veiled` is what git must not show of the past where no box sees to it; `space` is the network it is to be in.
        """
        if box.rung == "none":
            system.keep_memory_to_ourselves()
        output = ProgramOutput(new_file or self._new_file, cap=self.settings.output_cap)
        self._starting += 1
        try:
            program = self._program(command, cwd, box, veiled, takes_input=takes_input)
            if space is not None:
                program = replace(program, env=space.around(program.env), space=space.descriptor, gate=space.gate)
            scope = await self._scopes.start(replace(program, capture=capture))
            job = Job(command, cwd, box, scope, output)
            self._open.add(job)
        finally:
            self._starting -= 1
            self._tidy()
        if box.rung != "none" and self._watching is None:
            self._watching = asyncio.get_running_loop().call_later(WATCHED, self._watch)
        log.debug("process %d was started in %s, sandbox %s", scope.pid, cwd, box.rung)
        job.on_release = self._released
        return job

    def _program(
        self, command: str, cwd: Path, box: Box, veiled: Sequence[tuple[str, bool]], *, takes_input: bool
    ) -> Program:
        # One that is just being started, beside this one, may be hostile before this one has its box.
        others = bool(self._open) or self._starting > 1
        wrapped = self.sandbox.wrap(box, [self.shell, "-c", command], cwd, beside_others=others)
        env = {**self._environment, "PWD": str(cwd), **(ADDED.get() or {})}
        if veiled and (box.rung == "none" or not box.mounts):
            env.update(self.sandbox.veil(veiled, env))
        program = Program.of(wrapped, cwd=cwd, env=env, takes_input=takes_input)
        return replace(program, env={**program.env, **git_editor(program.env)})

    def set_aside(self, job: Job) -> list[tuple[str, Path]]:
        """Settings that a job has made and that nobody was told of yet, each with where it was moved to."""
        kept = {one.path for one in job.box.placeholders}
        places = [place for place in job.absent if place not in kept and os.path.lexists(place)]
        new = [place for place in places if not _holds(place, tuple(job.spared))]
        moved, job.moved = [*job.moved, *self.sandbox.set_aside(new)], []
        return moved

    def _watch(self) -> None:
        self._watches = True
        self._arrivals.watch(self.sandbox.settings_folders)

    def _look_for_settings(self) -> None:
        for job in self._open:
            self._move_settings_of(job)

    def _move_settings_of(self, job: Job) -> None:
        known, job.moved = len(job.moved), self.set_aside(job)
        for name, target in job.moved[known:]:
            log.warning("%s came while a command ran that may have made it, and was moved to %s", name, target)
        job.moved = job.moved[-TOLD:]

    def _released(self, job: Job) -> None:
        self._open.discard(job)
        self._move_settings_of(job)
        job.absent = ()
        self._tidy()

    def _tidy(self) -> None:
        """At once: whoever looks at the project after a command sees nothing that was only there for its box."""
        if self._is_idle:
            if self._watching is not None:
                self._watching.cancel()
                self._watching = None
            if self._watches:
                self._arrivals.close()
                self._watches = False
            self.sandbox.tidy()

    @property
    def _is_idle(self) -> bool:
        """Tell whether no command runs, nor is about to with a box that was made for it."""
        return not self._open and not self._starting

    def keep(self, session_id: str, job: Job) -> None:
        """Give a job a name, by which the session's later calls can find it."""
        self._numbers[session_id] += 1
        job.name = f"job_{self._numbers[session_id]}"
        kept = self._kept[session_id]
        kept[job.name] = job
        if job.ledger is not None:
            waiting = asyncio.ensure_future(job.ended_at_last())
            self._waiting.add(waiting)
            waiting.add_done_callback(self._waiting.discard)
        for name in [name for name, one in kept.items() if one.is_over][: max(0, len(kept) - REMEMBERED)]:
            kept.pop(name).release()

    def find(self, session_id: str, name: str) -> Job:
        kept = self._kept.get(session_id, {})
        if name in kept:
            return kept[name]
        known = f"There are: {', '.join(kept)}." if kept else "This session has no jobs."
        raise ToolError(f"There is no job {name!r}. {known}", "missing")

    def running(self, session_id: str) -> list[Job]:
        kept = list(self._kept.get(session_id, {}).values())
        for job in kept:
            job.settle()
        return [job for job in kept if not job.is_over]

    def require_room(self, session_id: str) -> None:
        running = self.running(session_id)
        if len(running) >= RUNNING:
            names = ", ".join(job.name for job in running)
            raise ToolError(f"{RUNNING} jobs are running already: {names}. Stop one with job and stop: true first.")

    async def end_session(self, session_id: str) -> None:
        """End all jobs of a session."""
        jobs = self._kept.pop(session_id, {}).values()
        self._numbers.pop(session_id, None)
        await asyncio.gather(*(job.stop() for job in jobs if not job.is_over))
        for job in jobs:
            job.release()

    async def close(self) -> None:
        """End all jobs of all sessions."""
        for session_id in list(self._kept):
            await self.end_session(session_id)
        if self._waiting:
            await asyncio.wait(self._waiting)
        self._tidy()


def _holds(folder: Path, places: Iterable[Path]) -> bool:
    return any(place.is_relative_to(folder) for place in places)


def _nothing(*_: object) -> None:
    pass
