"""Commands as the bash tool runs them: from the first question to the result, and the jobs they may become."""

import asyncio
import logging
import re
import shlex
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from toolwright.definition import Result, ToolContext
from toolwright.errors import ToolError
from toolwright.files.paths import Place
from toolwright.files.snapshot import Snapshot
from toolwright.files.store import Files
from toolwright.process import report
from toolwright.process.box import Box
from toolwright.process.jobs import Job, Jobs
from toolwright.process.terminals import TerminalCommand, Terminals
from toolwright.process.walls import misses_processes, other_processes, wall_note
from toolwright.request import Request
from toolwright.shell import Analysis
from toolwright.shell.findings import Touch
from toolwright.tools._access import access_for, veiled_names
from toolwright.tools._command_requests import ask_about, check_command, granted_by
from toolwright.tools._undoable import looked_at, losses, names_in
from toolwright.truncate import Truncator, cut, shown

log = logging.getLogger(__name__)

ANSWER_WAIT = 500
"""Milliseconds to wait for what a job says to its input."""
LINGER = 0.2
"""Seconds for what a command leaves behind to end by itself, as what tidies up after it does."""
UPDATES = 0.1
"""Seconds between two reports of progress."""


class CommandRun:
    """One command from the first question to the result."""

    def __init__(self, ctx: ToolContext, command: str, description: str, *, background: bool) -> None:
        self.ctx = ctx
        self.command = command
        self.description = description
        self.background = background
        self.jobs = ctx.use(Jobs)
        self.tree = ctx.use(Files).tree

    async def carry_out(self, workdir: str | None, timeout: int | None) -> Result:  # noqa: ASYNC109 - it ends the command, not this function
        check_command(self.command)
        place = self.tree.place(workdir or ".")
        analysis, requests = await ask_about(self.ctx, self.tree, self.command, place)
        # Who may not change files is kept from it by our box alone.
        if self.jobs.terminals is not None and not self.background and not self.ctx.hides("edit"):
            _require_folder(place)
            snapshot = await self._snapshot(analysis, requests)
            try:
                if result := await self._elsewhere(self.jobs.terminals, place.path, timeout, snapshot):
                    return result
            finally:
                await self._record(snapshot)
        self.jobs.warm()
        _require_folder(place)
        self.jobs.require_room(self.ctx.session_id)
        box = await self._box(analysis, requests)
        absent = self.jobs.sandbox.absent() if box.rung != "none" else []
        snapshot = await self._snapshot(analysis, requests)
        job = await self._start(place.path, box)
        job.agent, job.granted, job.absent = self.ctx.agent, set(granted_by(requests)), absent
        job.spared = self.ctx.use(Files).changed
        try:
            return await self._follow(job, timeout or self.jobs.settings.timeout, snapshot)
        except asyncio.CancelledError:
            await asyncio.shield(job.stop())
            raise
        finally:
            await self._record(snapshot)
            if not job.name:
                job.release()

    async def _record(self, snapshot: Snapshot) -> None:
        if snapshot.before:
            record = partial(snapshot.record_changes, session_id=self.ctx.session_id, call_id=self.ctx.call_id)
            with suppress(OSError):
                await asyncio.shield(asyncio.to_thread(record))

    async def _elsewhere(
        self,
        terminals: Terminals,
        cwd: Path,
        timeout: int | None,  # noqa: ASYNC109 - it ends the command, not this function
        snapshot: Snapshot,
    ) -> Result | None:
        """What came of the command in a terminal of somebody else's; None if there is none to be had."""
        self.ctx.metadata(self._title(), self._metadata(""))
        shell = (self.jobs.shell, "-c", self.command)
        hidden = tuple(word for name in self.jobs.withheld for word in ("-u", name))
        started = TerminalCommand(
            arguments=("env", *hidden, *shell) if hidden else shell,
            cwd=cwd,
            session_id=self.ctx.session_id,
            call_id=self.ctx.call_id,
        )
        milliseconds = timeout or self.jobs.settings.timeout
        end = await terminals.run(started, milliseconds / 1000)
        if end is None:
            return None
        notes = [report.timed_out(milliseconds, gone=True) if end.timed_out else report.ending(end.end)]
        if end.truncated:
            notes.append("the beginning of the output is left out")
        notes += await losses(snapshot)
        metadata = self._metadata(report.for_display(end.output)) | {"exit": end.end.code, "sandbox": "none"}
        if end.timed_out:
            metadata["timedOut"] = True
        return Result(report.with_notes(end.output, notes), title=self._title(), metadata=metadata)

    async def _box(self, analysis: Analysis, requests: Sequence[Request]) -> Box:
        """What was approved is open; a file that may not be read is hidden; who may not edit cannot write."""
        sandbox = self.jobs.sandbox
        if await sandbox.ready() == "none":
            return Box(rung="none")
        return await sandbox.box(access_for(self.ctx, self.tree, analysis, requests))

    async def _snapshot(self, analysis: Analysis, requests: Sequence[Request]) -> Snapshot:
        """Where no records can be kept, the command runs without."""
        journal = self.ctx.use(Files).journal
        try:
            paths = list(looked_at(requests, self.tree))
            names = set(names_in(analysis, requests))
            whole, trees = (self._places(analysis, *kinds) for kinds in (("delete", "within", "lose"), ("discard",)))
            if not paths and not trees:
                return Snapshot(journal)
            return await asyncio.to_thread(Snapshot.of, journal, paths, names, whole=whole, work_trees=trees)
        except OSError as problem:
            log.warning("What commands change cannot be recorded, and not be undone: %s.", problem)
            return Snapshot(journal)

    def _places(self, analysis: Analysis, *kinds: Touch) -> set[Path]:
        return {self.tree.place(path).path for kind in kinds for path in analysis.touched.get(kind, ())}

    async def _start(self, cwd: Path, box: Box) -> Job:
        self.ctx.metadata(self._title(), self._metadata(""))
        try:
            new_file = partial(self.ctx.use(Truncator).new_file, self.ctx.session_id)
            return await self.jobs.start(
                self.command,
                cwd=cwd,
                box=box,
                takes_input=self.background,
                new_file=new_file,
                veiled=veiled_names(self.ctx, self.tree),
            )
        except ToolError:
            self.jobs.sandbox.distrust()
            raise

    async def _follow(self, job: Job, milliseconds: int, snapshot: Snapshot) -> Result:
        """Wait, show progress, and then say how it went."""
        job.on_output = throttled(lambda: self.ctx.metadata(self._title(), self._metadata(report.so_far(job))))
        ended = await job.wait(milliseconds / 1000)
        if ended and not self.background and not job.is_over:
            await job.wait(LINGER)
        job.on_output = lambda: None
        notes = list[str]()
        if not ended and not self.background:
            notes.append(report.timed_out(milliseconds, await job.stop()))
        elif not job.is_over:
            self.jobs.keep(self.ctx.session_id, job)
            notes += [report.ending(job.end), report.left_running(job)]
        else:
            self._require_ran(job)
            notes.append(report.ending(job.end))
        notes += self._wall_notes(job)
        lost = await losses(snapshot)
        return self._result(job, [*notes, *lost], lost, timed_out=not ended and not self.background)

    def _require_ran(self, job: Job) -> None:
        """A sandbox that failed must not look like the command's own words."""
        if job.end is None or job.end.ran:
            return
        self.jobs.sandbox.distrust()
        reason = next(iter(report.text_of(job).splitlines()), "it gave no reason").removeprefix("bwrap: ")
        raise ToolError(
            f"The sandbox could not be set up, so the command did not run: {reason}."
            " That is a matter of this machine: tell the user, who can look into it with `tw doctor`."
        )

    def _wall_notes(self, job: Job) -> Iterator[str]:
        failed = job.end is None or job.end.code != 0
        wall = wall_note(job.box, job.cwd, report.text_of(job), failed=failed)
        if wall:
            yield f"sandbox: {wall}"
        others = [one.name for one in self.jobs.running(self.ctx.session_id) if one is not job]
        if job.box.anchored and others and misses_processes(job.command, report.text_of(job), failed=failed):
            yield f"sandbox: {other_processes(others)}"
        yield from _set_aside(self.jobs, job)

    def _result(self, job: Job, notes: Sequence[str], told: Sequence[str], *, timed_out: bool) -> Result:
        """`notes` are for the model; those of them that are `told` are for the user as well."""
        text = report.text_of(job)
        job.unseen()
        code = job.end.code if job.end is not None and not timed_out else None
        seen = report.for_display(report.with_notes(text, told) if told else text)
        metadata = self._metadata(seen) | {"exit": code, "sandbox": job.box.rung}
        if timed_out:
            metadata["timedOut"] = True
        if running := self.jobs.running(self.ctx.session_id):
            metadata["jobs"] = report.jobs_for_programs(running)
        if job.output.path is None:
            return Result(report.with_notes(text, notes), title=self._title(), metadata=metadata)
        output = report.with_notes(_cut(self.ctx, job, text), notes)
        metadata["outputPath"] = str(job.output.path)
        return Result(output, title=self._title(), metadata=metadata, truncated=True)

    def _title(self) -> str:
        return self.description or self.command

    def _metadata(self, output: str) -> dict[str, Any]:
        return {"output": output, "description": self.description}


def _set_aside(jobs: Jobs, job: Job) -> Iterator[str]:
    """Settings say what is allowed. Those that a command has made must have no effect."""
    for name, target in jobs.set_aside(job):
        yield (
            f"sandbox: {name} was moved to {target}: settings say what is allowed, and commands do not write them."
            " Use the write tool, which asks the user"
        )


def _require_folder(place: Place) -> None:
    if not place.path.exists():
        raise ToolError(f"There is no folder {place.given} to run the command in. Correct workdir.", "missing")
    if not place.path.is_dir():
        raise ToolError(f"{place.given} is a file, not a folder to run a command in. Correct workdir.", "not_found")


def throttled(report: Callable[[], None]) -> Callable[[], None]:
    """The same, but not more often than a person can follow."""
    loop = asyncio.get_running_loop()
    due = 0.0

    def maybe() -> None:
        nonlocal due
        if loop.time() >= due:
            report()
            due = loop.time() + UPDATES

    return maybe


def _cut(ctx: ToolContext, job: Job, text: str) -> str:
    """What the model sees of an output that went to a file while it was printed."""
    truncator = ctx.use(Truncator)
    piece = cut(text, truncator.limits_for("bash", ctx.agent, "both"))
    if piece is None or job.output.path is None:
        return text
    kept = len(piece.head.encode()) + len(piece.tail.encode())
    return shown(replace(piece, removed=job.output.size - kept, unit="bytes"), job.output.path, ctx.offered)


async def attend(ctx: ToolContext, name: str, *, text: str | None, stop: bool, milliseconds: int | None) -> Result:
    """Feed a job, wait for it or end it, and show what it has printed since."""
    jobs = ctx.use(Jobs)
    job = jobs.find(ctx.session_id, name)
    if text:
        await _type(ctx, job, text)
    notes = list[str]()
    if stop and not job.is_over:
        gone = await job.stop()
        notes.append(f"{name} was stopped" if gone else f"some of {name} could not be ended, even by force")
    else:
        job.on_output = throttled(
            lambda: ctx.metadata(name, {"output": report.so_far(job), "description": job.command})
        )
        await job.wait((milliseconds or (ANSWER_WAIT if text else 0)) / 1000)
        job.settle()
        notes.append(report.state_of(job))
    notes += _set_aside(jobs, job)
    if job.output.path is not None:
        notes.append(f"all that {name} has printed is in {job.output.path}")
    printed = report.decode(job.unseen())
    metadata: dict[str, Any] = {
        "output": report.for_display(printed),
        "description": job.command,
        "exit": job.end.code if job.end is not None else None,
        "jobs": report.jobs_for_programs(jobs.running(ctx.session_id)),
    }
    return Result(report.with_notes(printed, notes), title=f"{name}: {job.command}", metadata=metadata)


async def _type(ctx: ToolContext, job: Job, text: str) -> None:
    """Typing is judged with all that was typed before, by the rules of the one whose job it is."""
    if job.agent != ctx.agent:
        raise ToolError(
            f"{job.name} was started by the agent {job.agent}, and only that agent types into it."
            f" {ctx.agent} can look at it or stop it, and start one of its own."
        )
    whole = job.typed + text
    check_command(_as_fed(job.command, whole))
    tree = ctx.use(Files).tree
    _, requests = await ask_about(ctx, tree, _as_fed(job.command, whole), tree.place(str(job.cwd)), job.granted)
    job.feed(text)
    job.granted |= set(granted_by(requests))


def _as_fed(command: str, text: str) -> str:
    """Typing into a program is judged as if it had been started with that text."""
    quoted = shlex.quote(text.rstrip("\n"))
    return f"{command} <<< {quoted}" if _SIMPLE.fullmatch(command) else f"{{ {command}\n}} <<< {quoted}"


_SIMPLE = re.compile(r"[^;&|<>(){}\n]+")
