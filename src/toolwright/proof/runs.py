"""Runs of tests: which commands are some, whether their exit code can be trusted, and what their output counts."""

import re
from collections.abc import Iterator

from toolwright.record import record

_RUNNERS = re.compile(
    r"""(?x) ^(?:\S*/)?(?:
      pytest | py\.test | nose2? | nosetests | tox | nox | unittest | ctest | rspec | phpunit | jest | vitest | mocha
    | ava | tap | bats
    | (?:python[\d.]*|pypy3?|uv\srun|poetry\srun|pdm\srun|hatch\srun|coverage\srun)\s
      .*(?:pytest|unittest|nose|test|manage\.py\stest).*
    | (?:g?make|just|task|ninja|meson|bazel|rake|mix|sbt|dotnet|swift|zig|gradle\w*|\./gradlew|mvn|\./mvnw)\s
      .*(?:test|check|verify|ci)\b.*
    | (?:npm|pnpm|yarn|bun)\s(?:run\s)?(?:\S+\s)*(?:t|tst|test\S*|check|verify|ci)\b.*
    | npx\s.*(?:jest|vitest|mocha|ava|playwright|cypress).*
    | (?:node|deno|bun)\s.*(?:--test|\btest\b|test).*
    | go\s(?:\S+\s)*(?:test|vet)\b.* | cargo\s(?:\S+\s)*(?:test|nextest|t)\b.*
    | (?:\S*/)?(?:run[-_]?)?tests?(?:\.\w+)?
    ) (?:\s|$)"""
)
CANNOT_FAIL = re.compile(
    r"\|\|\s*(true|:|exit\s+0|echo\b[^|&;]*)\s*($|[;)])|;\s*(true|:|exit\s+0|echo\b[^|&;]*)\s*$|\|\|\s*\{[^}]*\}\s*$"
)
"""The end of a command that ends well whatever comes of it."""
_NARROW = re.compile(
    r"(^|\s)(-k\b|-m\s+(?!pytest|unittest)|--deselect|--ignore|--lf\b|--last-failed|--sw\b|-run\b|--grep|-g\s|-t\s"
    r"|--testNamePattern|--testPathPattern|--collect-only|--co\b|--dry-run|--no-run|--list\b|--passWithNoTests)|::"
)
_COUNTS = (
    (r"(?<![\w.])(\d+) passed", r"(?<![\w.])(\d+) failed", r"(?<![\w.])(\d+) (?:skipped|xfailed|deselected|ignored)"),
    (r"Ran (\d+) tests?", r"(?:failures|errors)=(\d+)", r"(?:skipped|expected failures)=(\d+)"),
    (r"^(?:#|ℹ) pass (\d+)", r"^(?:#|ℹ) fail (\d+)", r"^(?:#|ℹ) (?:skipped|todo|cancelled) (\d+)"),
    (r"(?<!\w)(\d+) passing", r"(?<!\w)(\d+) failing", r"(?<!\w)(\d+) pending"),
)
_NONE_RAN = re.compile(
    r"no tests ran|Ran 0 tests|collected 0 items|No tests? found|no test files|^(?:#|ℹ) tests 0$|0 passing"
    r"|\[no tests to run\]",
    re.MULTILINE,
)


@record(frozen=True, slots=True)
class Counts:
    """Numbers of tests that an output tells of."""

    passed: int
    failed: int
    skipped: int

    @property
    def ran(self) -> int:
        return self.passed + self.failed


def is_test_run(command: str) -> bool:
    """Return whether a command runs tests, by what it is called."""
    return any(_RUNNERS.match(one) for one in _commands(command))


def hides_its_end(command: str) -> bool:
    """Return whether a command ends well whatever comes of what it runs."""
    if CANNOT_FAIL.search(command.strip()):
        return True
    parts = re.split(r"(?<!\|)\|(?!\|)", command)
    return len(parts) > 1 and "pipefail" not in command and not is_test_run(parts[-1])


def is_narrowed(command: str) -> bool:
    """Return whether a run of tests takes a selection of them."""
    return _NARROW.search(command) is not None


def counts_of(output: str) -> Counts | None:
    """Return how many tests an output tells of; None where it tells of none."""
    for passed, failed, skipped in _COUNTS:
        if not re.search(passed, output, re.MULTILINE) and not re.search(failed, output, re.MULTILINE):
            continue
        sums = [
            sum(int(one) for one in re.findall(pattern, output, re.MULTILINE)) for pattern in (passed, failed, skipped)
        ]
        if passed.startswith("Ran"):
            # It counts all, those that failed and those passed over too.
            sums[0] = max(0, sums[0] - sums[1] - sums[2])
        return Counts(*sums)
    return Counts(0, 0, 0) if _NONE_RAN.search(output) else None


def _commands(command: str) -> Iterator[str]:
    for piece in re.split(r"&&|\|\||[;|\n]", command):
        words = piece.strip().lstrip("({ ")
        yield re.sub(r"^((?:\w+=\S*|env|exec|time|nice|sudo|timeout\s+\S+)\s+)+", "", words)
