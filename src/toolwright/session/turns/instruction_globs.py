"""The files that globs of the settings name, found at a bounded cost whatever the pattern and the tree."""

import fnmatch
import os
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from toolwright.record import record

MOST_NAMES = 20_000
"""Names that are looked at in one search, each as often as there are steps of a pattern that it may fit."""
PASSED_OVER = (".git", "node_modules")
"""Folders that `**` does not lead into; a pattern may name them."""
LONGEST_STEP = 255
MOST_STEPS = 64

_Fits = Callable[[str], Any]


@record(slots=True, kw_only=True)
class GlobSearch:
    """One search for any number of patterns; where it has looked at enough, it finds no more."""

    left: int = MOST_NAMES

    def files(self, base: Path, pattern: str) -> Iterator[Path]:
        """The files below a folder that a pattern names, nearest first; `**` is any folders, and follows no links."""
        steps = [step for step in pattern.split("/") if step not in ("", ".")]
        while steps and not any(letter in steps[0] for letter in "*?["):
            base /= steps.pop(0)
        if not steps:
            yield from (file for file in (base,) if _is_file(file))
        elif len(steps) <= MOST_STEPS and max(map(len, steps)) <= LONGEST_STEP:
            yield from self._below(base, [*map(_test, [*steps, *(["*"] if steps[-1] == "**" else [])])])

    def _below(self, base: Path, tests: "list[_Fits | None]") -> Iterator[Path]:
        waiting = deque([(base, _with_empty({0}, tests))])
        while waiting:
            folder, places = waiting.popleft()
            for entry in _entries(folder, self.left):
                self.left -= len(places)
                if self.left < 0:
                    return
                reached = {at + 1 for at in places if (fits := tests[at]) and fits(entry.name)}
                if len(tests) in reached and _is_file(Path(entry.path)):
                    yield Path(entry.path)
                passable = entry.name not in PASSED_OVER and not entry.is_symlink()
                beyond = {at for at in places if tests[at] is None and passable}
                onward = _with_empty((reached - {len(tests)}) | beyond, tests)
                if onward and _is_folder(entry):
                    waiting.append((Path(entry.path), onward))


def _test(step: str) -> _Fits | None:
    """Return a test of whether a name fits a step; None for any number of folders."""
    return None if step == "**" else re.compile(fnmatch.translate(step)).match


def _with_empty(places: Iterable[int], tests: "list[_Fits | None]") -> set[int]:
    """The steps that come next, also where any number of folders is none."""
    reached = set(places)
    for at in range(len(tests) - 1):
        if at in reached and tests[at] is None:
            reached.add(at + 1)
    return reached


def _entries(folder: Path, most: int) -> "list[os.DirEntry[str]]":
    try:
        with os.scandir(folder) as entries:
            return sorted(islice(entries, max(0, most)), key=lambda entry: entry.name)
    except (OSError, ValueError):
        return []


def _is_folder(entry: "os.DirEntry[str]") -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False
