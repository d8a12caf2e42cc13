"""Know which tests run a line: recorded once with the whole suite, and kept beside it."""

import os
import shutil
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

from coverage import CoverageData

from tests.mutants.recorder import FOLDER, SETTINGS
from tests.mutants.sites import Mutant

ROOT = Path(__file__).resolve().parents[2]
KEPT = ROOT / ".mutants"


def record(kept: Path, workers: int, arguments: Sequence[str]) -> None:
    """Run the tests once that the arguments name, or all, each with what it runs written down."""
    shutil.rmtree(kept, ignore_errors=True)
    kept.mkdir()
    (kept / "settings").write_text(SETTINGS)
    command = [sys.executable, "-m", "pytest", "-p", "tests.mutants.recorder", "-q", "-n", str(workers), *arguments]
    subprocess.run(command, cwd=ROOT, env={**os.environ, FOLDER: str(kept)}, check=False)
    parts = sorted(str(place) for place in kept.glob("lines.*"))
    combine = [sys.executable, "-m", "coverage", "combine", "-q", f"--data-file={kept / 'all'}", *parts]
    subprocess.run(combine, cwd=ROOT, check=True)


class Lines:
    """The record of one run of the tests."""

    def __init__(self, kept: Path) -> None:
        self._data = CoverageData(str(kept / "all"))
        self._data.read()
        self._by_file = dict[Path, dict[int, list[str]]]()

    def tests_of(self, mutant: Mutant) -> list[str]:
        """Return the tests that run the changed lines; of a limit at the top of a module those that use its name."""
        by_line = self._of_file(mutant.file)
        tests = _unique(by_line, range(mutant.line, mutant.last + 1))
        if tests:
            return tests
        lines = mutant.file.read_text().splitlines()
        name = lines[mutant.line - 1].split(":")[0].split("=")[0].strip()
        users = [number for number, line in enumerate(lines, 1) if name.isidentifier() and name in line]
        return _unique(by_line, users) or _unique(by_line, by_line)

    def _of_file(self, file: Path) -> dict[int, list[str]]:
        if file not in self._by_file:
            found = defaultdict[int, list[str]](list)
            for line, tests in self._data.contexts_by_lineno(str(file)).items():
                found[line] = [test for test in tests if test]
            self._by_file[file] = found
        return self._by_file[file]


def _unique(by_line: dict[int, list[str]], lines: Iterable[int]) -> list[str]:
    return list(dict.fromkeys(test for line in lines for test in by_line.get(line, [])))
