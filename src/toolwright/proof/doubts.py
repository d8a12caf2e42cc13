"""Reasons that the changed files themselves give: what was done to tests and to the check, and tricks in the work."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatch

from toolwright.proof.baseline import Before
from toolwright.proof.evidence import Reason, Weight
from toolwright.proof.expected import Expected, expected_of
from toolwright.proof.goal import CheckRun
from toolwright.proof.kinds import Kind, kind_of
from toolwright.proof.runs import counts_of, is_test_run
from toolwright.proof.sources import reaches_beyond, suspicions
from toolwright.proof.weakened import TestCase, tests_of, weakened, weakened_beside
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
    "silences_the_check": "tells the check to pass over it",
}
_SILENCERS = (
    (r"\b(ruff|flake8|pycodestyle|pyflakes|pre-commit|lint)\b", r"#\s*(noqa|ruff:|flake8:)"),
    (
        r"\b(mypy|pyright|basedpyright|pytype|pyre|types?|typecheck|pre-commit)\b",
        r"#\s*(type:\s*ignore|pyright:|mypy:|pyre-)",
    ),
    (r"\b(pylint|lint)\b", r"#\s*pylint:"),
    (r"\bbandit\b", r"#\s*nosec"),
    (r"\b(black|ruff|format)\b", r"#\s*fmt:\s*(off|skip)"),
    (r"\b(coverage|--cov)\b|--cov", r"#\s*pragma:\s*no\s*(cover|branch)"),
    (
        r"\b(nyc|c8|jest|vitest|--experimental-test-coverage)\b",
        r"/\*\s*(istanbul|c8|v8|node:coverage)\s+(ignore|disable)",
    ),
    (r"\b(eslint|lint|standard|xo)\b", r"eslint-disable"),
    (r"\b(tsc|typecheck|vue-tsc|types?)\b", r"@ts-(ignore|nocheck|expect-error)"),
    (r"\b(biome|lint)\b", r"biome-ignore"),
    (r"\b(golangci-lint|staticcheck|lint)\b", r"//\s*(nolint|lint:ignore)"),
    (r"\b(clippy|cargo)\b", r"#!?\[allow\("),
    (r"\b(rubocop|lint)\b", r"#\s*rubocop:disable"),
    (r"\bshellcheck\b", r"#\s*shellcheck\s+disable"),
)
"""Tools, and the comments that have each of them say nothing of a place."""
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
class WorkChange:
    """All that has changed since the work began, by what it is to the check."""

    work: tuple[str, ...]
    tests: tuple[str, ...]
    check: tuple[str, ...]
    restored: tuple[str, ...]
    """Parts the check is tried without: tests and parts of it that were changed, and parts that were added."""
    allowed: tuple[str, ...] = ()
    """Changes that would not count as work, had the person not said that these files may change."""


def sort_changes(
    changed: Sequence[str],
    baseline: Before,
    judges: Sequence[str],
    may_change: Sequence[str],
    serving: Collection[str] = (),
    shadows: Collection[str] = (),
) -> WorkChange:
    """Sort changed files; `serving` are those that only tests use, `shadows` those that stand before other modules.

    New tests stay in place; whatever else the check could rest on is put back.
    """
    kinds: dict[Kind, list[str]] = {"work": [], "test": [], "check": []}
    for path in changed:
        allowed = any(fnmatch(path, pattern) for pattern in may_change)
        kinds[
            "work" if allowed else "test" if path in serving else "check" if path in shadows else kind_of(path, judges)
        ].append(path)
    restored = (*kinds["check"], *(path for path in kinds["test"] if path in baseline.files))
    named = [path for path in kinds["work"] if any(fnmatch(path, pattern) for pattern in may_change)]
    return WorkChange(
        work=tuple(kinds["work"]),
        tests=tuple(kinds["test"]),
        check=tuple(kinds["check"]),
        restored=restored,
        allowed=tuple(named),
    )


def test_reasons(change: WorkChange, baseline: Before, read: Read, names: set[str]) -> Iterator[Reason]:
    """Yield what was done to tests that were there before."""
    changed = [path for path in change.tests if path in baseline.files]
    come = dict[str, TestCase]()
    for path in change.tests:
        before = tests_of(path, baseline.text(path) or "")
        come |= {name: one for name, one in tests_of(path, read(path) or "").items() if name not in before}
    for path in changed:
        for weakening in weakened(path, baseline.text(path), read(path), names, come):
            yield Reason(kind=weakening.kind, text=f"The test {weakening.name} {_TESTS[weakening.kind]}.", path=path)


def own_test_reasons(change: WorkChange, baseline: Before, read: Read, *, doctests: bool) -> Iterator[Reason]:
    """Yield what was done to tests and examples that stand beside the work, in the same files."""
    for path in change.work:
        if path in baseline.files and path not in change.allowed and (was := baseline.text(path)) is not None:
            for weakening in weakened_beside(path, was, read(path) or "", doctests=doctests):
                yield Reason(
                    kind=weakening.kind, text=f"The test {weakening.name} {_TESTS[weakening.kind]}.", path=path
                )


def reaching_tests(change: WorkChange, baseline: Before, read: Read) -> list[str]:
    """Return the new tests that change what other tests run: those prove nothing about the others."""
    new = [path for path in change.tests if path not in baseline.files]
    return [path for path in new if reaches_beyond(path, read(path) or "")]


def names_of_tests(files: Mapping[str, str], read: Read) -> set[str]:
    """Return the names of all tests there are."""
    names = set[str]()
    for path in files:
        if kind_of(path) == "test" and (text := read(path)):
            names |= set(tests_of(path, text))
    return names


def work_reasons(change: WorkChange, baseline: Before, read: Read) -> Iterator[Reason]:
    """Yield what in the changed work could make a check hold by itself."""
    tests = [path for path in baseline.files if kind_of(path) == "test"]
    texts = [(path, text) for path in {*tests, *change.tests} for text in (baseline.text(path) or read(path),) if text]
    expected = expected_of(texts) if change.work else Expected(frozenset())
    for path in change.work:
        after = read(path)
        if after is None:
            continue
        for suspicion in suspicions(path, baseline.text(path) or "", after, expected):
            yield Reason(
                kind=suspicion.kind,
                text=f"{path}:{suspicion.line} {WORDS[suspicion.kind]}: `{suspicion.text}`.",
                path=path,
            )


def silencing_reasons(change: WorkChange, baseline: Before, read: Read, steps: Sequence[str]) -> Iterator[Reason]:
    """Yield what is new in the work and tells a tool that the check runs to pass over it."""
    run = " ".join(steps)
    patterns = [re.compile(mark) for tools, mark in _SILENCERS if re.search(tools, run)]
    for path in change.work:
        before, after = baseline.text(path) or "", read(path) or ""
        for mark in patterns:
            if len(mark.findall(after)) > len(mark.findall(before)):
                line = next(one for one in after.splitlines() if mark.search(one) and one not in before)
                text = f"{path} {WORDS['silences_the_check']}: `{line.strip()[:160]}`."
                yield Reason(kind="silences_the_check", text=text, path=path)


def shadowing(changed: Iterable[str], baseline: Before, first: Sequence[CheckRun]) -> set[str]:
    """Return new modules that the project imported before, from elsewhere: tests ran then, and none missed it."""
    missed = " ".join(one.output for one in first)
    if not any(counts.ran for one in first if (counts := counts_of(one.output))):
        return set()
    new = {path: _imported_as(path) for path in changed if path.endswith(".py") and path not in baseline.files}
    new = {
        path: name
        for path, name in new.items()
        if name and not re.search(rf"No module named ['\"]?{re.escape(name)}\b", missed)
    }
    texts = [text for path in baseline.files if new and path.endswith(".py") and (text := baseline.text(path))]
    return {
        path
        for path, name in new.items()
        if any(re.search(rf"(?m)^(import|from)\s+{re.escape(name)}\b", text) for text in texts)
    }


def _imported_as(path: str) -> str:
    """The name of a module that stands where imports begin; nothing for others."""
    parts = path.removesuffix(".py").split("/")
    parts = parts[1:] if parts[0] in ("src", "lib") else parts
    return parts[0] if len(parts) == 1 or parts[1:] == ["__init__"] else ""


def check_reasons(change: WorkChange, *, weight: Weight, why: str) -> Iterator[Reason]:
    """Yield the parts of the check that were touched, and the tests that are not as they were."""
    for path in change.check[:LISTED]:
        yield Reason(
            kind="check_changed", text=f"{path} is a part of the check and was changed{why}.", path=path, weight=weight
        )
    for path in change.restored[:LISTED]:
        if path not in change.check:
            yield Reason(kind="tests_changed", text=f"{path} was changed{why}.", path=path, weight=weight)


def count_reasons(first: Sequence[CheckRun], last: Sequence[CheckRun], *, fewer: Weight = "doubt") -> Iterator[Reason]:
    """Yield what the numbers of tests say, before the work and after it."""
    for before, after in zip(first, last, strict=False):
        now, was = counts_of(after.output), counts_of(before.output)
        if after.match and after.held and after.exit not in (0, None) and is_test_run(after.command):
            yield Reason(
                kind="exit_code",
                text=f"`{after.command}` printed what was asked for, and ended with code {after.exit}.",
            )
        if now is None:
            if was is not None and was.ran:
                text = f"`{after.command}` tells of no tests; before the work it ran {was.ran}."
                yield Reason(kind="no_tests_ran", text=text)
            continue
        if now.ran == 0:
            yield Reason(kind="no_tests_ran", text=f"`{after.command}` ran no test at all.")
        elif was is not None and now.ran < was.ran:
            yield Reason(
                kind="fewer_tests",
                text=f"`{after.command}` ran {now.ran} tests; before the work it ran {was.ran}.",
                weight=fewer,
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
