"""The evidence of a stored session: what its goal came to, or what its records and a check of now say."""

import asyncio
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any, Protocol

from toolwright.calls.parts import Completed, Failed, Running, ToolPart
from toolwright.files.disk import LOADABLE
from toolwright.files.journal import Journal
from toolwright.files.store import Files
from toolwright.machine.plain_files import read_plain
from toolwright.messages import Assistant, Message, TextPart
from toolwright.proof.baseline import changed_between
from toolwright.proof.conditions import check_conditions
from toolwright.proof.doubts import names_of_tests, sort_changes, test_reasons, work_reasons
from toolwright.proof.evidence import Evidence, Reason, evidence_of
from toolwright.proof.goal import CheckRun, Goal
from toolwright.proof.runs import hides_its_end, is_narrowed, is_test_run
from toolwright.proof.said import RecordedRun, claim_reasons
from toolwright.proof.tree import TreeScanner, tree_hash
from toolwright.record import record
from toolwright.session.goals.checks import Checker
from toolwright.session.goals.ledger import WorkComparison
from toolwright.session.goals.recorded_commands import recorded_runs
from toolwright.session.result import made_call
from toolwright.session.session import SessionOwner
from toolwright.session.sessions import Sessions


class EvidenceHome(SessionOwner, Protocol):
    """A workspace, with its sessions."""

    @property
    def sessions(self) -> Sessions: ...


@record(frozen=True, slots=True)
class RecordedBefore:
    """The project as it was before a session, as far as the journal of its changes knows."""

    root: Path
    journal: Journal
    before: Mapping[str, str | None]
    """By path from the root, the name of what each changed file held; None for no file."""
    files: Mapping[str, str]
    since: int

    @classmethod
    def of(
        cls, root: Path, journal: Journal, sessions: Sequence[str], now: Mapping[str, str], since: int
    ) -> "RecordedBefore":
        """Read what some sessions have changed."""
        entries = sorted((one for name in sessions for one in journal.entries(name)), key=lambda one: one.number)
        before = dict[str, str | None]()
        for entry in entries:
            if Path(entry.path).is_relative_to(root):
                before.setdefault(str(Path(entry.path).relative_to(root)), entry.before)
        earlier = cls(root, journal, before, now, since)
        files = {path: digest for path, digest in now.items() if path not in before}
        for path, name in before.items():
            data = earlier.data(path) if name is not None else None
            if name is not None:
                mark = "x" if now.get(path, "").startswith("x") else ""
                files[path] = f"{mark}{hashlib.sha256(data).hexdigest()}" if data is not None else "unknown"
        return cls(root, journal, before, files, since)

    def changed(self, files: Mapping[str, str]) -> list[str]:
        """Return the paths that are not as they were."""
        return changed_between(self.files, files)

    def data(self, path: str) -> bytes | None:
        """Return what a file held."""
        try:
            now = read_plain(self.root / path, LOADABLE)
        except OSError:
            now = None
        if path not in self.before:
            return now
        name = self.before[path]
        body = None if name is None else self.journal.images.body(name, now)
        return body if isinstance(body, bytes) else None

    def text(self, path: str) -> str | None:
        """Return what a file said."""
        data = self.data(path)
        return None if data is None or b"\0" in data[:8192] else data.decode("utf-8", "replace")


@record(slots=True, kw_only=True)
class Judge:
    """Judges one stored session, with those of its subagents."""

    home: SessionOwner
    session_id: str
    messages: Sequence[Message]
    below: Mapping[str, Sequence[Message]] = field(default_factory=dict[str, Sequence[Message]])

    async def evidence(self, goal: Goal | None = None) -> Evidence:
        """Return what its goal came to; or, with a check of now or where there was no goal, what the records say."""
        checker = Checker(home=self.home, tree=TreeScanner(self.home.directory))
        files = await checker.files()
        if goal is not None:
            check_conditions(goal, str(self.home.directory))
            return await self._checked(checker, goal, files)
        stored = stored_evidence(self.messages)
        return await asyncio.to_thread(self._recorded, files) if stored is None else _still(stored, files)

    async def _checked(self, checker: Checker, goal: Goal, files: Mapping[str, str]) -> Evidence:
        """Run a check now, and compare with what was before the session."""
        ledger = WorkComparison.of(checker, goal, await asyncio.to_thread(self._before, files))
        runs = [await checker.check(one, goal.seconds) for one in goal.conditions]
        reasons = await ledger.reasons(self.session_id, self._last_words(), runs, runs, self._commands())
        return evidence_of(runs, reasons)

    def _recorded(self, files: Mapping[str, str]) -> Evidence:
        before, root = self._before(files), self.home.directory

        def read(path: str) -> str | None:
            try:
                return read_plain(root / path, LOADABLE).decode("utf-8", "replace")
            except OSError:
                return None

        change = sort_changes(before.changed(files), before, (), ())
        runs = self._commands()
        reasons = [
            *claim_reasons(self._last_words(), runs, list(before.before)),
            *test_reasons(change, before, read, names_of_tests(files, read)),
            *work_reasons(change, before, read),
            *_check_touched(change.check),
            *_about_runs([one for one in runs if is_test_run(one.command)]),
        ]
        return evidence_of(list(self._checks(tree_hash(files))), reasons)

    def _before(self, files: Mapping[str, str]) -> RecordedBefore:
        started = self.messages[0].info.time.created * 1_000_000 if self.messages else 0
        journal = self.home.use(Files).journal
        return RecordedBefore.of(self.home.directory, journal, (self.session_id, *self.below), files, started)

    def _last_words(self) -> str:
        answers = [one.text for one in self.messages if isinstance(one.info, Assistant)]
        return next((text for text in reversed(answers) if text), "")

    def _parts(self) -> list[ToolPart]:
        several = [*self.messages, *(one for messages in self.below.values() for one in messages)]
        parts = [part for one in several for part in one.parts.values() if isinstance(part, ToolPart)]
        return sorted(parts, key=_begun)

    def _commands(self) -> list[RecordedRun]:
        return recorded_runs([made_call(part) for part in self._parts()])

    def _checks(self, tree: str) -> Iterator[CheckRun]:
        """The runs of tests that the agent has made; the tree is known of those after all changes."""
        runs = {one.call: one for one in self._commands()}
        for part in self._parts():
            run = runs.get(part.call_id)
            if run is None or not is_test_run(run.command):
                continue
            held = run.exit == 0 and not hides_its_end(run.command)
            where = "" if run.stale else tree
            yield CheckRun(
                command=run.command,
                status="held" if held else "failed",
                tree=where,
                when=_begun(part),
                exit=run.exit,
                output=run.output[-2000:],
            )


async def judge_of(home: EvidenceHome, session_id: str) -> Judge:
    """Return the judge of a stored session, with its messages and those of its subagents."""
    below, waiting = dict[str, Sequence[Message]](), [session_id]
    while waiting:
        for child in await home.sessions.children(waiting.pop()):
            below[child.id] = await home.sessions.messages(child.id)
            waiting.append(child.id)
    messages = await home.sessions.messages(session_id)
    return Judge(home=home, session_id=session_id, messages=messages, below=below)


def stored_evidence(messages: Sequence[Message]) -> Evidence | None:
    """Return what the last goal of a session came to."""
    for message in reversed(messages):
        for part in reversed(message.parts.values()):
            if isinstance(part, TextPart) and part.metadata and isinstance(part.metadata.get("evidence"), dict):
                return Evidence.from_json(part.metadata["evidence"])
    return None


def _still(stored: Evidence, files: Mapping[str, str]) -> Evidence:
    """The same, unless files were changed since."""
    last: Any = stored.checks[-1] if stored.checks else None
    if last is None or last.tree_after in ("", tree_hash(files)):
        return stored
    text = f"The files are not those that were checked ({last.tree_after[:12]}); now they are {tree_hash(files)[:12]}."
    return evidence_of(stored.checks, [*stored.reasons, Reason(kind="changed_since", text=text)])


def _about_runs(runs: Sequence[RecordedRun]) -> Iterator[Reason]:
    """Yield what speaks against the last run of tests, and against what was said without one."""
    if not runs:
        yield Reason(
            kind="no_check", text="No record shows a run of tests, and there was no goal. Give one: --check CMD."
        )
        return
    last = runs[-1]
    if last.exit not in (0, None):
        text = f"The last run of tests, `{last.command}`, ended with code {last.exit}."
        yield Reason(kind="check_failed", text=text, weight="contradicts", call=last.call)
    if last.stale:
        yield Reason(kind="changed_after", text=f"Files were changed after `{last.command}`.", call=last.call)
    if hides_its_end(last.command):
        yield Reason(kind="hides_exit_code", text=f"`{last.command}` ends well whatever comes of it.", call=last.call)
    if is_narrowed(last.command):
        yield Reason(kind="narrowed", text=f"`{last.command}` runs a selection of the tests.", call=last.call)


def _check_touched(paths: Sequence[str]) -> Iterator[Reason]:
    for path in paths:
        yield Reason(kind="check_changed", text=f"{path} is a part of the check and was changed.", path=path)


def _begun(part: ToolPart) -> int:
    return part.state.time.start if isinstance(part.state, Running | Completed | Failed) else 0
