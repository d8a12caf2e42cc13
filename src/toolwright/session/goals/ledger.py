"""The evidence ledger of a goal: all that speaks for and against the work, found on the final files."""

import asyncio
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path

from toolwright.files.disk import LOADABLE
from toolwright.machine.plain_files import read_plain
from toolwright.process.jobs.jobs import Jobs
from toolwright.proof.baseline import Before
from toolwright.proof.commands import files_of, steps_of
from toolwright.proof.doubts import (
    WorkChange,
    check_reasons,
    count_reasons,
    flaky_reasons,
    names_of_tests,
    own_test_reasons,
    reaching_tests,
    shadowing,
    silencing_reasons,
    sort_changes,
    test_reasons,
    work_reasons,
)
from toolwright.proof.evidence import Reason, Weight, reasons_of_last
from toolwright.proof.goal import CheckRun, Goal
from toolwright.proof.kinds import kind_of
from toolwright.proof.mutants import changed_lines
from toolwright.proof.said import RecordedRun, claim_reasons
from toolwright.proof.supports import supports
from toolwright.proof.surroundings import Stamp, look_around
from toolwright.proof.tree import tree_hash
from toolwright.proof.workcopy import changed_dependencies, new_ignored
from toolwright.record import record
from toolwright.session.goals.checks import Checker
from toolwright.session.goals.checks_in_copies import Witness, Witnesses, executed

_ELSEWHERE = re.compile(
    r"\bgit\s+(-\S+\s+\S+\s+)*(stash|worktree|clone|archive|checkout|switch|reset)\b|\bcd\s+(/|\.\.|~|\$)|\s-C\s+(/|\.\.|~)|\bdocker\b|\bpodman\b"
)


@record(slots=True, kw_only=True)
class WorkComparison:
    """Compares the project with what it was when the work began."""

    checker: Checker
    goal: Goal
    baseline: Before
    judges: tuple[str, ...]
    """Files that the conditions came down to then."""
    around: Mapping[str, Stamp]
    first: Sequence[CheckRun] = field(default_factory=list[CheckRun])
    """The conditions before the work."""

    @classmethod
    def of(cls, checker: Checker, goal: Goal, baseline: Before) -> "WorkComparison":
        """Begin a ledger, before the model is asked."""
        judges, words = _rests_on(goal, checker.tree.root)
        return cls(
            checker=checker,
            goal=goal,
            baseline=baseline,
            judges=judges,
            around=look_around(words, Path.home(), checker.tree.root),
        )

    async def reasons(
        self,
        session_id: str,
        message: str,
        last: Sequence[CheckRun],
        runs: Sequence[CheckRun],
        commands: Sequence[RecordedRun],
    ) -> list[Reason]:
        """Return all reasons after a round of checks."""
        files = self.checker.last
        changed = self.baseline.changed(files)
        serving = supports(changed, self.baseline, files, self._read)
        shadows = shadowing(changed, self.baseline, self.first)
        change = sort_changes(changed, self.baseline, self.judges, self.goal.may_change, serving, shadows)
        reasons = [*reasons_of_last(last), *self._records(session_id, message, last, runs, commands, changed, change)]
        reasons += work_reasons(change, self.baseline, self._read)
        doctests = any(">>>" in (self.baseline.text(path) or "") for path in change.work) and self._runs_doctests()
        reasons += own_test_reasons(change, self.baseline, self._read, doctests=doctests)
        reasons += silencing_reasons(change, self.baseline, self._read, self._steps())
        names = names_of_tests(files, self._read) if change.tests else set[str]()
        weak = list(test_reasons(change, self.baseline, self._read, names))
        if not all(one.held for one in last):
            return _once([*reasons, *weak, *check_reasons(change, weight="doubt", why="")])
        if changed:
            reasons += await self._witnessed(files, change, weak, last)
        elif not all(one.held for one in self.first):
            reasons += await self._unchanged(files)
        reasons += self._afterwards(await self.checker.files(), last)
        if not any(one.held for one in self.first) or changed:
            return _once(reasons)
        return _once(
            [
                *reasons,
                Reason(
                    kind="held_before", text="The check held before the work, too; nothing was changed.", weight="note"
                ),
            ]
        )

    def _records(
        self,
        session_id: str,
        message: str,
        last: Sequence[CheckRun],
        runs: Sequence[CheckRun],
        commands: Sequence[RecordedRun],
        changed: Sequence[str],
        change: WorkChange,
    ) -> Iterator[Reason]:
        """Yield the reasons that do not need another run."""
        checks = [RecordedRun(command=one.command, exit=_code(one), output=one.output) for one in last]
        yield from claim_reasons(message, [*commands, *checks], changed)
        fewer: Weight = "note" if any(kind_of(path) == "test" for path in change.allowed) else "doubt"
        yield from count_reasons(self.first, last, fewer=fewer)
        yield from flaky_reasons(runs)
        for path in changed_dependencies(self.checker.tree.root, self.baseline.since)[:3]:
            yield Reason(
                kind="dependencies_changed", text=f"{path} is what the check runs with, and was changed.", path=path
            )
        now = look_around([*self.around], Path.home(), self.checker.tree.root)
        for name in {*self.around, *now}:
            if now.get(name) != self.around.get(name):
                yield Reason(
                    kind="surroundings_changed", text=f"{name} is read or run by the check, and was changed.", path=name
                )
        for job in self.checker.home.use(Jobs).running(session_id):
            yield Reason(kind="left_running", text=f"`{job.command}` was still running while the check ran.")

    def _read(self, path: str) -> str | None:
        try:
            data = read_plain(self.checker.tree.root / path, LOADABLE)
        except OSError:
            return None
        return None if b"\0" in data[:8192] else data.decode("utf-8", "replace")

    async def _witnessed(
        self, files: Mapping[str, str], change: WorkChange, weak: list[Reason], last: Sequence[CheckRun]
    ) -> list[Reason]:
        """Reasons of the same check in copies, with all that judges the work as it was."""
        witnesses = Witnesses(checker=self.checker, goal=self.goal, baseline=self.baseline)
        added = [path for path in change.tests if path not in self.baseline.files]
        reaching = reaching_tests(change, self.baseline, self._read)
        witness, alone = None, (*change.restored, *added)
        if reaching:
            quick = replace(witnesses, goal=replace(self.goal, mutants=0))
            witness = await quick.look(files, change.work, alone, last)
        if witness is None or witness.held:
            # New tests may be those that run the change; where they fail for want of something new, the old ones count.
            attempts = [change.restored, alone] if added else [change.restored]
            for restored in attempts:
                witness = await witnesses.look(files, change.work, restored, last)
                if witness is not None and witness.held:
                    break
        if witness is not None and witness.held:
            kept = [_as_note(one) if one.kind in ("test_loosened", "expectation_changed") else one for one in weak]
            noted = check_reasons(change, weight="note", why="; it holds with that as it was, too")
            return [*kept, *noted, *self._seen(witness, change)]
        hidden = [*new_ignored(self.checker.tree.root, files, self.baseline.since)][:3]
        if change.restored or reaching:
            why = "; with it as it was, the check does not hold" if witness else ""
            text = "{} changes what other tests run; without it, the check does not hold."
            new = [Reason(kind="tests_changed", text=text.format(path), path=path) for path in reaching]
            return [*weak, *new, *check_reasons(change, weight="doubt", why=why)]
        if await self._holds_again():
            if hidden:
                text = (
                    f"The check does not hold without {', '.join(hidden)}, which is ignored by git and new or changed."
                )
                return [*weak, Reason(kind="hidden_files", text=text, path=hidden[0])]
            return [
                *weak,
                Reason(
                    kind="not_copied",
                    text="The check does not hold in a copy of the project, so nothing is known of what it notices.",
                    weight="note",
                ),
            ]
        return [*weak, Reason(kind="flaky", text="The check held once, and did not hold again on the same files.")]

    async def _unchanged(self, files: Mapping[str, str]) -> list[Reason]:
        """Reasons where the check failed before and holds now, and no file of the project has changed."""
        hidden = [*new_ignored(self.checker.tree.root, files, self.baseline.since)]
        judging = [path for path in hidden if kind_of(path, self.judges) != "work"]
        if judging:
            text = f"{judging[0]} is ignored by git and new or changed, and nothing else is."
            return [Reason(kind="hidden_files", text=text, path=judging[0])]
        if not await self._holds_again():
            return [Reason(kind="flaky", text="The check held once, and did not hold again on the same files.")]
        if hidden:
            return []
        text = "The check failed before and holds now, though no file of the project has changed."
        return [Reason(kind="nothing_changed", text=text)]

    def _steps(self) -> list[str]:
        root = self.checker.tree.root
        return [step.text for one in self.goal.conditions if one.command for step in steps_of(one.command, root)]

    def _runs_doctests(self) -> bool:
        """Tell whether the check runs the examples of texts and docstrings."""
        judges = (path for path in self.baseline.files if kind_of(path, self.judges) != "work")
        return any("doctest" in text for text in (*self._steps(), *(self.baseline.text(path) or "" for path in judges)))

    async def _holds_again(self) -> bool:
        """Tell whether it holds once more, with nothing that Python keeps of the files beside them."""
        await asyncio.to_thread(self.checker.drop_bytecode, self.checker.last)
        for condition in self.goal.conditions:
            if not (await self.checker.check(condition, self.goal.seconds)).held:
                return False
        return True

    def _seen(self, witness: Witness, change: WorkChange) -> Iterator[Reason]:
        """Yield what the runs in the copy say of the changed lines."""
        for path, line, by in witness.ended:
            yield Reason(kind="exits", text=f"{path}:{line} ended the check by `{by}`.", path=path)
        lines = ran = 0
        for path in change.work:
            if path.endswith(".py") and (text := self._read(path)) is not None:
                counted = executed(path, text, changed_lines(self.baseline.text(path) or "", text), witness)
                lines, ran = lines + counted[0], ran + counted[1]
        tells_python = witness.sees_python and lines > 0
        if tells_python and not ran:
            yield Reason(kind="not_executed", text=f"The check executes none of the {lines} changed lines.")
        elif tells_python:
            yield Reason(kind="executed", text=f"The check executes {ran} of {lines} changed lines.", weight="note")
        if witness.broken and not witness.noticed:
            text = f"The check did not notice when changed lines were broken ({_places(witness)})."
            yield Reason(kind="not_noticed", text=text, path=witness.unnoticed[0][0])
        elif witness.broken:
            text = f"The check noticed {witness.noticed} of {witness.broken} changed lines that were broken."
            yield Reason(kind="noticed", text=text, weight="note")
        goes = next((step for step in self._steps() if _ELSEWHERE.search(step)), "")
        if goes and not witness.noticed:
            yield Reason(
                kind="checked_elsewhere", text=f"`{goes}` checks other files than those that were changed here."
            )

    def _afterwards(self, files: Mapping[str, str], last: Sequence[CheckRun]) -> Iterator[Reason]:
        """Yield reasons if anything has changed since the last check."""
        rewrote = sorted({path for one in last for path in one.rewrote})
        if rewrote:
            text = (
                f"The check has changed {', '.join(rewrote[:5])} itself, and is not known to hold on what came of it."
            )
            yield Reason(kind="check_changes_files", text=text, path=rewrote[0])
        elif last and tree_hash(files) != last[-1].tree_after:
            yield Reason(kind="changed_after", text="Files were changed after the check ran.")


def _rests_on(goal: Goal, root: Path) -> tuple[tuple[str, ...], list[str]]:
    judges, words = dict[str, None](), list[str]()
    for condition in goal.conditions:
        if condition.command:
            judges |= dict.fromkeys(files_of(condition.command, root))
            words += [word for step in steps_of(condition.command, root) for word in step.text.split()[:2]]
    return tuple(judges), words


def _code(run: CheckRun) -> int | None:
    return (0 if run.held else 1) if run.match or run.exit is None else run.exit


def _as_note(reason: Reason) -> Reason:
    return Reason(
        kind=reason.kind, text=f"{reason.text} The check holds with it as it was, too.", weight="note", path=reason.path
    )


def _places(witness: Witness) -> str:
    return ", ".join(f"{path}:{line}" for path, line in witness.unnoticed[:5])


def _once(reasons: Sequence[Reason]) -> list[Reason]:
    return list({(one.kind, one.path, one.text): one for one in reasons}.values())
