"""Reasons that the changed files themselves give: what was done to tests and to the check, and tricks in the work."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from fnmatch import fnmatch

from toolwright.proof.baseline import Before
from toolwright.proof.evidence import Reason, Weight
from toolwright.proof.expected import Expected, expected_of
from toolwright.proof.goal import CheckRun
from toolwright.proof.kinds import Kind, kind_of
from toolwright.proof.runs import counts_of, is_test_run
from toolwright.proof.sources import suspicions
from toolwright.proof.weakened import tests_of, weakened
from toolwright.record import record

WORDS = {
    "exits": "ends the program by itself, so that what comes after it is never checked",
    "knows_the_check": "looks at whether it is being tested",
    "patches_shared_code": "changes code that the check uses too",
    "always_equal": "is equal to whatever it is compared with",
    "swallows_errors": "passes over whatever goes wrong",
    "by_chance": "decides by chance",
    "hard_coded": "answers the very values that the tests ask for",
    "prints_a_summary": "prints what a test runner prints",
    "narrows_the_build": "leaves code out of what is built and checked",
    "hides_exit_code": "hides that something failed",
    "runs_hidden_code": "runs code that is written as text",
}
_TESTS = {
    "test_deleted": "was deleted",
    "test_skipped": "is passed over now",
    "test_narrowed": "is the only one that is run now",
    "test_loosened": "checks less than it did",
    "expectation_changed": "expects something else now",
}
LISTED = 12
"""Reasons of one kind that are listed one by one."""

Read = Callable[[str], str | None]


@record(frozen=True, slots=True, kw_only=True)
class Change:
    """All that has changed since the work began, by what it is to the check."""

    work: tuple[str, ...]
    tests: tuple[str, ...]
    check: tuple[str, ...]
    restored: tuple[str, ...]
    """What the check is tried without: tests and parts of the check that were changed, and parts that were added."""


def sort_changes(
    changed: Sequence[str],
    baseline: Before,
    judges: Sequence[str],
    may_change: Sequence[str],
    serving: Collection[str] = (),
) -> Change:
    """Sort changed files; `serving` are those that only tests use.

    New tests stay in place; whatever else the check could rest on is put back.
    """
    kinds: dict[Kind, list[str]] = {"work": [], "test": [], "check": []}
    for path in changed:
        allowed = any(fnmatch(path, pattern) for pattern in may_change)
        kinds["work" if allowed else "test" if path in serving else kind_of(path, judges)].append(path)
    restored = (*kinds["check"], *(path for path in kinds["test"] if path in baseline.files))
    return Change(work=tuple(kinds["work"]), tests=tuple(kinds["test"]), check=tuple(kinds["check"]), restored=restored)


def test_reasons(change: Change, baseline: Before, read: Read, names: set[str]) -> Iterator[Reason]:
    """Yield what was done to tests that were there before."""
    for path in change.tests:
        if path in baseline.files:
            for one in weakened(path, baseline.text(path), read(path), names):
                yield Reason(kind=one.kind, text=f"The test {one.name} {_TESTS[one.kind]}.", path=path)


def names_of_tests(files: Mapping[str, str], read: Read) -> set[str]:
    """Return the names of all tests there are."""
    found = set[str]()
    for path in files:
        if kind_of(path) == "test" and (text := read(path)):
            found |= set(tests_of(path, text))
    return found


def work_reasons(change: Change, baseline: Before, read: Read) -> Iterator[Reason]:
    """Yield what in the changed work could make a check hold by itself."""
    tests = [path for path in baseline.files if kind_of(path) == "test"]
    texts = [(path, text) for path in {*tests, *change.tests} for text in (baseline.text(path) or read(path),) if text]
    expected = expected_of(texts) if change.work else Expected(frozenset())
    for path in change.work:
        after = read(path)
        if after is None:
            continue
        for one in suspicions(path, baseline.text(path) or "", after, expected):
            yield Reason(kind=one.kind, text=f"{path}:{one.line} {WORDS[one.kind]}: `{one.text}`.", path=path)


def check_reasons(change: Change, *, weight: Weight, why: str) -> Iterator[Reason]:
    """Yield the parts of the check that were touched, and the tests that are not as they were."""
    for path in change.check[:LISTED]:
        yield Reason(
            kind="check_changed", text=f"{path} is a part of the check and was changed{why}.", path=path, weight=weight
        )
    for path in change.restored[:LISTED]:
        if path not in change.check:
            yield Reason(kind="tests_changed", text=f"{path} was changed{why}.", path=path, weight=weight)


def count_reasons(first: Sequence[CheckRun], last: Sequence[CheckRun]) -> Iterator[Reason]:
    """Yield what the numbers of tests say, before the work and after it."""
    for before, after in zip(first, last, strict=False):
        now, was = counts_of(after.output), counts_of(before.output)
        if after.match and after.held and after.exit not in (0, None) and is_test_run(after.command):
            yield Reason(
                kind="exit_code",
                text=f"`{after.command}` printed what was asked for, and ended with code {after.exit}.",
            )
        if now is None:
            continue
        if now.ran == 0:
            yield Reason(kind="no_tests_ran", text=f"`{after.command}` ran no test at all.")
        elif was is not None and now.ran < was.ran:
            yield Reason(
                kind="fewer_tests", text=f"`{after.command}` ran {now.ran} tests; before the work it ran {was.ran}."
            )
        if now.skipped > (was.skipped if was else 0) and was is not None:
            yield Reason(
                kind="more_skipped",
                text=f"`{after.command}` passed over {now.skipped} tests; before the work it was {was.skipped}.",
            )


def flaky_reasons(runs: Sequence[CheckRun]) -> Iterator[Reason]:
    """Yield conditions that came out both ways on the same files."""
    seen = dict[tuple[str, str], set[bool]]()
    for run in runs:
        seen.setdefault((run.command, run.tree), set()).add(run.held)
    for (command, tree), outcomes in seen.items():
        if len(outcomes) > 1:
            yield Reason(kind="flaky", text=f"`{command}` came out both ways on the same files ({tree[:12]}).")
