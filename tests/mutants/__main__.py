"""The command line of the mutants."""

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue

from tests.mutants.lines import KEPT, ROOT, Lines, record
from tests.mutants.sites import Mutant, mutants_of

MOST_TESTS = 150
"""Tests of one line that are tried: half of them the nearest to the module, half from all over the suite."""
MOST_UNSTEADY = 4
"""Tests that may fail in a copy without any change before a mutant is given up."""
PATIENCE = 300
"""Seconds for the tests of one mutant. One that makes them take longer is killed."""
COPIED = ("src", "tests", "docs", "examples", "bench", "pyproject.toml", "README.md", "AGENTS.md", "CHANGELOG.md")


def main() -> int:
    """Try the mutants; print those that no test has noticed as they come, and at the end how many were killed."""
    options = _options()
    chosen = _choose(options.number, options.seed, options.only)
    copies = SimpleQueue[Path]()
    with tempfile.TemporaryDirectory(prefix="mutants-", dir=ROOT.parent) as folder:
        lines = _learn(options, Path(folder) / "lines")
        for number in range(options.workers):
            copies.put(_copy(Path(folder) / str(number)))
        print(
            f"Trying {len(chosen)} mutants, each with at most {MOST_TESTS} of the tests that run its line.", flush=True
        )
        with ThreadPoolExecutor(options.workers) as pool:
            verdicts = list(pool.map(lambda mutant: _show(mutant, _try(mutant, lines, copies)), chosen))
    _sum_up(verdicts, options.seed)
    return 0


def _learn(options: argparse.Namespace, near: Path) -> Lines:
    """Return which test runs what: of the tests named, learnt now and kept in `near`, or of all, as it is known."""
    if options.tests:
        record(near, options.workers, ["-m", "not slow", *options.tests])
        return Lines(near)
    if options.record or not (KEPT / "all").exists():
        record(KEPT, options.workers, [])
    return Lines(KEPT)


def _sum_up(verdicts: Sequence[str], seed: int) -> None:
    counts = Counter(verdict.partition(":")[0] for verdict in verdicts)
    others = "".join(f"; {count} {verdict}" for verdict, count in counts.items() if verdict != "killed")
    print(f"\n{counts['killed']} of {len(verdicts)} mutants were killed (seed {seed}){others}")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("--number", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="the beginning of paths below src/toolwright")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--tests", nargs="*", default=[], help="learn from these alone, and from none that are slow")
    parser.add_argument("--record", action="store_true", help="run the whole suite again to learn which test runs what")
    return parser.parse_args()


def _choose(number: int, seed: int, only: str) -> list[Mutant]:
    """Choose places by chance, and of each place one change."""
    package = ROOT / "src" / "toolwright"
    places = dict[tuple[Path, int], list[Mutant]]()
    for file in sorted(package.rglob("*.py")):
        if str(file.relative_to(package)).startswith(only):
            for mutant in mutants_of(file):
                places.setdefault((file, mutant.start), []).append(mutant)
    chance = random.Random(seed)
    taken = chance.sample(sorted(places), min(number, len(places)))
    return [chance.choice(places[place]) for place in taken]


def _copy(target: Path) -> Path:
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, target / name, ignore=shutil.ignore_patterns("__pycache__"))
        elif source.exists():
            shutil.copy(source, target / name)
    (target / ".venv").symlink_to(ROOT / ".venv")
    if (modules := ROOT / "node_modules").exists():
        (target / "node_modules").symlink_to(modules)
    return target


def _try(mutant: Mutant, lines: Lines, copies: SimpleQueue[Path]) -> str:
    tests = _near_and_far(mutant, lines.tests_of(mutant))
    if not tests:
        return "run by no test"
    copy = copies.get()
    place = copy / mutant.file.relative_to(ROOT)
    original = place.read_bytes()
    try:
        for _ in range(MOST_UNSTEADY):
            place.write_bytes(mutant.apply(original))
            verdict, failed = _run(copy, tests)
            place.write_bytes(original)
            # What fails or does not end without the change as well shows nothing.
            if verdict != "killed" or _run(copy, [failed] if failed else tests)[0] == "survived":
                return verdict
            if not failed:
                break
            tests.remove(failed)
        return "not tried: its tests fail without it"
    finally:
        place.write_bytes(original)
        copies.put(copy)


def _run(copy: Path, tests: Sequence[str]) -> tuple[str, str]:
    """Return what became of a mutant, and the test that noticed it."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-n", "0", *tests]
    environment = {**os.environ, "PYTHONPATH": str(copy / "src"), "PYTHONDONTWRITEBYTECODE": "1", "CI": "true"}
    with subprocess.Popen(
        command, cwd=copy, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True
    ) as process:
        try:
            output = process.communicate(timeout=PATIENCE)[0].decode(errors="replace")
        except subprocess.TimeoutExpired:
            return "killed", ""
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
    match process.returncode:
        case 0:
            return "survived", ""
        case 1 | 2:
            failed = next((line.split()[1] for line in output.splitlines() if line.startswith("FAILED ")), "")
            return "killed", failed if failed in tests else ""
        case code:
            return f"not tried: pytest ended with {code}", ""


def _near_and_far(mutant: Mutant, tests: Sequence[str]) -> list[str]:
    """Choose the tests whose names have most of the module's in them, and as many of the others, from every file some.

    Of a test with many cases each further one comes after the first cases of the others.
    """
    words = mutant.file.relative_to(ROOT / "src" / "toolwright").with_suffix("").parts
    varied = _in_turns(tests, lambda test: test.partition("[")[0])
    near = sorted(varied, key=lambda test: -sum(word in test for word in words))
    far = _in_turns(near[MOST_TESTS // 2 :], lambda test: test.partition("::")[0])
    return [*near[: MOST_TESTS // 2], *far][:MOST_TESTS]


def _in_turns(tests: Sequence[str], group: Callable[[str], str]) -> list[str]:
    """Sort tests so that every group has its turn before one has its second."""
    seen = defaultdict[str, int](int)
    turns = list[tuple[int, str]]()
    for test in tests:
        turns.append((seen[group(test)], test))
        seen[group(test)] += 1
    return [test for _, test in sorted(turns, key=lambda turn: turn[0])]


def _show(mutant: Mutant, verdict: str) -> str:
    """Print a verdict that is no kill."""
    if verdict != "killed":
        place = f"{mutant.file.relative_to(ROOT)}:{mutant.line}"
        print(f"{verdict}: {place} [{mutant.kind}] {_short(mutant.before)} -> {_short(mutant.after)}", flush=True)
    return verdict


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) < 100 else f"{line[:97]}..."


if __name__ == "__main__":
    raise SystemExit(main())
