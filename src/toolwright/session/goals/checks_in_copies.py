"""Checks in copies of the project: with the tests and the check as they were, and with changed lines broken."""

import asyncio
import json
import shutil
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import field
from pathlib import Path

from toolwright import proof
from toolwright.files.disk import LOADABLE
from toolwright.machine.plain_files import read_start
from toolwright.proof.baseline import Before
from toolwright.proof.goal import CheckRun, Goal, Status
from toolwright.proof.mutants import CODE, Mutant, code_lines, mutants
from toolwright.proof.workcopy import make_copy
from toolwright.protocols.json_text import read_json
from toolwright.record import record
from toolwright.session.goals.checks import Checker, CheckPlace

PROBE = Path(proof.__file__).parent / "probe"
SLOW = 20.0
"""Seconds of a check from which on no lines are broken to see whether it notices."""
MUTANT_SECONDS = 45.0
"""Longest time for breaking lines, all together."""


@record(frozen=True, slots=True, kw_only=True)
class Witness:
    """Result of a check in a copy."""

    status: Status
    outputs: tuple[str, ...] = ()
    lines: Mapping[str, Collection[int]] = field(default_factory=dict[str, Collection[int]])
    """The lines of changed Python files that were executed."""
    ended: tuple[tuple[str, int, str], ...] = ()
    """Places where changed files ended a program at once: path, line, by what."""
    sees_python: bool = False
    """True if any Python file of the project was executed by what was watched."""
    broken: int = 0
    """Number of changed lines that were broken."""
    noticed: int = 0
    """Number of them that the check noticed."""
    unnoticed: tuple[tuple[str, int], ...] = ()

    @property
    def held(self) -> bool:
        return self.status == "held"


@record(frozen=True, slots=True, kw_only=True)
class Witnesses:
    """Runs the conditions of a goal in copies."""

    checker: Checker
    goal: Goal
    baseline: Before

    async def look(
        self, files: Mapping[str, str], work: Sequence[str], restored: Collection[str], runs: Sequence[CheckRun]
    ) -> Witness | None:
        """Check the work with some files as they were, then with lines of it broken; None if no copy could be made."""
        root = self.checker.tree.root
        async with self.checker.place() as place:
            copy = place.hidden / "project"
            complete = await asyncio.to_thread(make_copy, root, copy, files, self.baseline, restored)
            if not complete:
                return None
            await asyncio.to_thread(self._prepare, place, work)
            status, outputs = await self._check(place, self.goal.seconds)
            witness = await asyncio.to_thread(_report, place, status, outputs)
            if status != "held" or not self.goal.mutants or sum(one.seconds for one in runs) > SLOW:
                return witness
            return await self._broken(place, work, witness, runs)

    def _prepare(self, place: CheckPlace, work: Sequence[str]) -> None:
        for name in ("probe", "report"):
            (place.hidden / name).mkdir()
        shutil.copyfile(PROBE / "sitecustomize.py", place.hidden / "probe" / "sitecustomize.py")
        roots = [str(place.above / "project"), f"/tmp/{place.above.name}/project", str(self.checker.tree.root)]  # noqa: S108 - as commands see it
        wanted = {"roots": roots, "files": [one for one in work if one.endswith(".py")]}
        (place.hidden / "probe" / "wanted.json").write_text(json.dumps(wanted))
        place.show()

    async def _check(self, place: CheckPlace, seconds: float) -> tuple[Status, tuple[str, ...]]:
        outputs = list[str]()
        for condition in self.goal.conditions:
            status, output = await self.checker.check_in(place, condition, seconds)
            outputs.append(output)
            if status != "held":
                return status, tuple(outputs)
        return "held", tuple(outputs)

    async def _broken(
        self, place: CheckPlace, work: Sequence[str], witness: Witness, runs: Sequence[CheckRun]
    ) -> Witness:
        """Break changed lines, one at a time, and see whether the check notices."""
        until = time.monotonic() + MUTANT_SECONDS
        limit = min(self.goal.seconds, 5 + 4 * sum(one.seconds for one in runs))
        broken, unnoticed = 0, list[tuple[str, int]]()
        for mutant in self._mutants(work, witness):
            if broken >= self.goal.mutants or time.monotonic() > until:
                break
            try:
                was = place.exchange(mutant.path, mutant.text.encode())
                status, _ = await self._check(place, limit)
                place.exchange(mutant.path, was)
            except OSError:
                status = "held"  # what runs there has made something else of the file, and nothing is shown
            broken += 1
            if status == "held":
                unnoticed.append((mutant.path, mutant.line))
        return Witness(
            status=witness.status,
            outputs=witness.outputs,
            lines=witness.lines,
            ended=witness.ended,
            sees_python=witness.sees_python,
            broken=broken,
            noticed=broken - len(unnoticed),
            unnoticed=tuple(unnoticed),
        )

    def _mutants(self, work: Sequence[str], witness: Witness) -> Iterator[Mutant]:
        """One of each file in turn; lines that are known to be executed first."""
        makers = list[Iterator[Mutant]]()
        for path in work:
            if path.rpartition(".")[2].lower() in CODE:
                text = _read_text(self.checker.tree.root / path)
                makers.append(iter(_executed_first(mutants(path, self.baseline.text(path) or "", text), witness)))
        while makers:
            for maker in list(makers):
                mutant = next(maker, None)
                if mutant is None:
                    makers.remove(maker)
                else:
                    yield mutant


def executed(path: str, text: str, changed: Sequence[int], witness: Witness) -> tuple[int, int]:
    """Return how many changed lines of functions there are, and how many of them were executed."""
    wanted = code_lines(path, text, changed)
    ran = set(witness.lines.get(path, ()))
    return len(wanted), sum(one in ran for one in wanted)


def _executed_first(candidates: Iterator[Mutant], witness: Witness) -> list[Mutant]:
    several = [one for _, one in zip(range(40), candidates, strict=False)]
    return sorted(several, key=lambda one: one.path.endswith(".py") and one.line not in witness.lines.get(one.path, ()))


def _report(place: CheckPlace, status: Status, outputs: tuple[str, ...]) -> Witness:
    lines, ended, seen = dict[str, set[int]](), list[tuple[str, int, str]](), False
    for note in place.take("report"):
        try:
            noted = read_json(note.decode("utf-8"))
            for path, ran in noted["lines"].items():
                lines.setdefault(path, set()).update(ran)
            ended += [(str(path), int(line), str(by)) for path, line, by in noted["ended"]]
            seen = seen or bool(noted["seen"])
        except (ValueError, KeyError, TypeError, AttributeError):
            continue
    return Witness(status=status, outputs=outputs, lines=lines, ended=tuple(ended), sees_python=seen)


def _read_text(path: Path) -> str:
    return read_start(path, LOADABLE).decode("utf-8", "replace")
