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

from toolwright.calls.request import Request
from toolwright.calls.truncate import Truncator, cut, shown
from toolwright.deadline import to_the_end
from toolwright.definition import Result, ToolContext
from toolwright.errors import ToolError
from toolwright.files.captured import Captured
from toolwright.files.journal import Journal
from toolwright.files.paths import Place
from toolwright.files.snapshot import Snapshot
from toolwright.files.store import Files
from toolwright.process.box.box import Box
from toolwright.process.jobs import report
from toolwright.process.jobs.editor_terminals import TerminalCommand, Terminals
from toolwright.process.jobs.full_screen_programs import screen_note
from toolwright.process.jobs.jobs import Job, Jobs
from toolwright.process.keeper.order import Capture
from toolwright.process.running.scope import AskedChange
from toolwright.process.sandbox.denials import misses_processes, other_processes, temporary_note, wall_note
from toolwright.shell import Analysis
from toolwright.shell.state.findings import Touch
from toolwright.text.wildcard import longest_piece
from toolwright.tools.commands.access import access_for, veiled_names
from toolwright.tools.commands.held_changes import ActQuestions
from toolwright.tools.commands.network import (
    CommandNetwork,
    held,
    network_for,
    network_metadata,
    network_notes,
    renew_network,
)
from toolwright.tools.commands.requests import ask_about, check_command, granted_by
from toolwright.tools.commands.undoable import changed_by, looked_at, losses, names_in, unkept
from toolwright.tools.commands.written_back import write_back

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
        self.programs: list[str] = []
        """The names of all that the line runs."""
        self._questions: ActQuestions | None = None
        """Asks about changes as they are about to be made, where a rule asks."""
        self._named = tuple[Path, ...]()
        """The places that the command is known to touch."""

    async def carry_out(self, workdir: str | None, timeout: int | None) -> Result:  # noqa: ASYNC109 - it ends the command, not this function
        check_command(self.command)
        place = self.tree.place(workdir or ".")
        analysis, requests = await ask_about(self.ctx, self.tree, self.command, place)
        self.programs = [text.split(" ", 1)[0].rpartition("/")[2] for text in _texts(analysis)]
        self._named = tuple(self.tree.place(one).path for paths in analysis.touched.values() for one in paths)
        # Who may not change files is kept from it by our box alone.
        elsewhere = self.jobs.terminals is not None and not self.background and not self.ctx.hides("edit")
        if self.jobs.terminals is not None and elsewhere:
            await network_for(self.ctx, analysis, elsewhere=True)
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
        network = await network_for(self.ctx, analysis, requests, elsewhere=False)
        try:
            return await self._carried_out(analysis, requests, place, timeout, network)
        except BaseException:
            network.end()
            raise

    async def _carried_out(
        self,
        analysis: Analysis,
        requests: Sequence[Request],
        place: Place,
        timeout: int | None,  # noqa: ASYNC109 - it ends the command, not this function
        network: CommandNetwork,
    ) -> Result:
        box = await self._box(analysis, requests, network)
        absent = self.jobs.sandbox.absent() if box.rung != "none" else []
        captured = self._captured(box)
        snapshot = None if captured else await self._snapshot(analysis, requests)
        job = await self._start(place.path, box, network, self._order(captured, box, requests))
        if captured:
            job.ledger = captured
            captured.begin(job.mark, job.is_silent)
        if box.brokered:
            job.answer_by(partial(self._decide, box, requests), self)
        job.agent, job.granted, job.absent = self.ctx.agent, set(granted_by(requests)), absent
        job.spared = self.ctx.use(Files).changed
        try:
            return await self._follow(job, timeout or self.jobs.settings.timeout, snapshot, network)
        except asyncio.CancelledError:
            await to_the_end(job.stop())
            raise
        finally:
            try:
                await self._record(snapshot)
            finally:
                if not job.name:
                    if captured and not captured.is_empty:
                        await to_the_end(asyncio.to_thread(job.end_ledger))
                    job.release()

    def _order(self, captured: Captured | None, box: Box, requests: Sequence[Request]) -> Capture | None:
        """Return what is to be captured: the project, and what was approved outside."""
        if captured is None:
            return None
        edits = any(request.permission == "edit" for request in requests)
        patterns = self.ctx.asked_by_user("edit")
        outside = changed_by(requests, self.tree) if edits else ()
        return captured.order(box.powers(), outside, asks=dict.fromkeys(map(longest_piece, patterns)))

    async def _decide(self, box: Box, requests: Sequence[Request], asked: AskedChange) -> bool:
        """Decide about a change that a program is about to make."""
        if self._questions is None:
            self._questions = ActQuestions(self.ctx, self.tree, (*box.places("give"), *changed_by(requests, self.tree)))
        return await self._questions.answer(asked)

    def take_waited(self) -> float:
        """Return how long such questions have kept the command waiting since this was last asked."""
        return 0.0 if self._questions is None else self._questions.take_waited()

    def _captured(self, box: Box) -> Captured | None:
        """Return the record of everything that the command changes, if the machine can tell."""
        if not self.jobs.sandbox.captures(box):
            return None
        return Captured(self._journal, session_id=self.ctx.session_id, call_id=self.ctx.call_id, root=self.tree.root)

    @property
    def _journal(self) -> Journal:
        return self.ctx.use(Files).journal

    async def _record(self, snapshot: Snapshot | None) -> None:
        if snapshot is not None and snapshot.before:
            record = partial(snapshot.record_changes, session_id=self.ctx.session_id, call_id=self.ctx.call_id)
            with suppress(OSError):
                await to_the_end(asyncio.to_thread(record))

    async def _elsewhere(
        self,
        terminals: Terminals,
        cwd: Path,
        timeout: int | None,  # noqa: ASYNC109 - it ends the command, not this function
        snapshot: Snapshot,
    ) -> Result | None:
        """Run the command in a terminal of somebody else's and return its result; None if there is none to be had."""
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
        notes = [report.timed_out(milliseconds, has_ended=True) if end.timed_out else report.ending(end.end)]
        if end.truncated:
            notes.append("the beginning of the output is left out")
        notes += await losses(snapshot)
        metadata = self._metadata(report.for_display(end.output)) | {"exit": end.end.code, "sandbox": "none"}
        if end.timed_out:
            metadata["timedOut"] = True
        return Result(report.with_notes(end.output, notes), title=self._title(), metadata=metadata)

    async def _box(self, analysis: Analysis, requests: Sequence[Request], network: CommandNetwork) -> Box:
        """Return a box: what was approved is open; an unreadable file is hidden; who may not edit cannot write."""
        sandbox = self.jobs.sandbox
        if await sandbox.ready() == "none":
            return Box(rung="none")
        access = access_for(self.ctx, self.tree, analysis, requests)
        return await sandbox.box(held(access, network, Path(self.jobs.home)))

    async def _snapshot(self, analysis: Analysis, requests: Sequence[Request]) -> Snapshot:
        """Take a snapshot. Where no records can be kept, the command runs without."""
        journal = self._journal
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

    async def _start(self, cwd: Path, box: Box, network: CommandNetwork, capture: Capture | None) -> Job:
        self.ctx.metadata(self._title(), self._metadata(""))
        try:
            new_file = partial(self.ctx.use(Truncator).new_file, self.ctx.session_id)
            job = await self.jobs.start(
                self.command,
                cwd=cwd,
                box=box,
                takes_input=self.background,
                new_file=new_file,
                veiled=veiled_names(self.ctx, self.tree),
                space=network.space,
                capture=capture,
            )
        except ToolError:
            self.jobs.sandbox.distrust()
            if network.kind == "own":
                await renew_network(self.ctx)
            raise
        job.reaching = network.running
        return job

    async def _follow(self, job: Job, milliseconds: int, snapshot: Snapshot | None, network: CommandNetwork) -> Result:
        """Wait, show progress, and then say how it went."""
        job.on_output = throttled(lambda: self.ctx.metadata(self._title(), self._metadata(report.so_far(job))))
        ended = await job.wait(milliseconds / 1000)
        while not ended and not self.background and (waited := job.take_waited()):
            ended = await job.wait(waited)
        if ended and not self.background and not job.is_over:
            await job.wait(LINGER)
        job.on_output = lambda: None
        notes = list[str]()
        if not ended and not self.background:
            has_ended = await job.stop()
            notes.append(report.timed_out(milliseconds, has_ended, screen_note(self.programs, _printed(job))))
        elif not job.is_over:
            self.jobs.keep(self.ctx.session_id, job)
            if job.reaching is not None:
                await job.reaching.keep()
            notes += [report.ending(job.end), report.left_running(job)]
        else:
            self._require_ran(job)
            notes.append(report.ending(job.end))
        failed = job.end is None or job.end.code != 0
        notes += network_notes(job, report.text_of(job) if failed else "")
        if network.note:
            notes.append(network.note)
        if self._questions is not None and self._questions.refused:
            notes.append(f"the user said no to the change of {self._questions.refused}, and so it was not made")
        notes += self._wall_notes(job)
        lost = await losses(snapshot) if snapshot is not None else await self._take_in(job)
        return self._result(job, [*notes, *lost], lost, timed_out=not ended and not self.background)

    async def _take_in(self, job: Job) -> list[str]:
        """Write down what it has changed so far; what there is to say of that."""
        if not isinstance(job.ledger, Captured) or job.ledger.is_empty:
            return []
        if job.is_over:
            await write_back(self.ctx, self.tree, job.ledger)
        outcome = await to_the_end(job.ledger.catch_up())
        return list(unkept(outcome, self.tree))

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
        refused = job.end.refused if job.end is not None else ()
        wall = wall_note(job.box, job.cwd, report.text_of(job), failed=failed, refused=refused)
        if wall or (wall := temporary_note(job.box, self.tree.root, self._named)):
            yield f"sandbox: {wall}"
        others = [one.name for one in self.jobs.running(self.ctx.session_id) if one is not job]
        if job.box.anchored and others and misses_processes(job.command, report.text_of(job), failed=failed):
            yield f"sandbox: {other_processes(others)}"
        yield from _set_aside(self.jobs, job)

    def _result(self, job: Job, notes: Sequence[str], lost: Sequence[str], *, timed_out: bool) -> Result:
        """`notes` are for the model; those of them that are `told` are for the user as well."""
        text = report.text_of(job)
        job.unseen()
        code = job.end.code if job.end is not None and not timed_out else None
        seen = report.for_display(report.with_notes(text, lost) if lost else text)
        metadata = self._metadata(seen) | {"exit": code, "sandbox": job.box.rung}
        if timed_out:
            metadata["timedOut"] = True
        if job.reaching is not None and (exchanges := network_metadata(self.ctx)):
            metadata["network"] = exchanges
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


def _texts(analysis: Analysis) -> Iterator[str]:
    for command in analysis.commands:
        yield from (command.shown, *command.implied)


def _printed(job: Job) -> str:
    return report.decode(job.output.head + job.output.tail)


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
    """Return the part for the model of an output that went to a file while it was printed."""
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
        has_ended = await job.stop()
        notes.append(f"{name} was stopped" if has_ended else f"some of {name} could not be ended, even by force")
    else:
        job.on_output = throttled(
            lambda: ctx.metadata(name, {"output": report.so_far(job), "description": job.command})
        )
        await job.wait((milliseconds or (ANSWER_WAIT if text else 0)) / 1000)
        job.settle()
        notes.append(report.state_of(job))
    notes += network_notes(job)
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
