"""The files of a project that must not be read: looked for once, and then only where a folder has changed."""

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import field
from pathlib import Path

from toolwright.record import record

SKIPPED = frozenset({".git", "node_modules", "__pycache__", ".venv", "venv", ".tox", ".mypy_cache", ".ruff_cache"})
"""Folders full of other people's files."""
FOLDERS = 20_000
"""How many folders are looked at; a project with more has the rest left unmasked."""
UNSETTLED = 50_000_000
"""Nanoseconds in which a folder may change twice and show it only once."""

IsDenied = Callable[[str], bool]


@record(slots=True)
class Listing:
    """A folder as it was when last looked at."""

    changed: int
    looked: int
    files: list[str]
    folders: list[str]
    denied: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    """For each set of rules asked about, the files it denies."""


class Masks:
    """Finds what to hide from commands under a folder."""

    def __init__(self, root: Path) -> None:
        self._root = str(root)
        self._listings = dict[str, Listing]()

    def denied(self, rules: str, is_denied: IsDenied) -> list[Path]:
        """The files, by absolute path, that `is_denied` says no to. `rules` names what it judges by."""
        return [Path(path) for path in self._walk(rules, is_denied)]

    def _walk(self, rules: str, is_denied: IsDenied) -> Iterator[str]:
        waiting, looked_at = [self._root], 0
        while waiting and looked_at < FOLDERS:
            folder = waiting.pop()
            looked_at += 1
            listing = self._listing(folder)
            if listing is None:
                continue
            waiting += listing.folders
            if rules not in listing.denied:
                listing.denied[rules] = [path for path in listing.files if is_denied(path)]
            yield from listing.denied[rules]

    def _listing(self, folder: str) -> Listing | None:
        """What was found before, if the folder has not changed since."""
        known = self._listings.get(folder)
        try:
            changed = os.stat(folder).st_mtime_ns  # noqa: PTH116 - thousands of times a second
            if known is not None and known.changed == changed and known.looked - changed > UNSETTLED:
                return known
            found = _look(folder, changed)
        except OSError:
            self._listings.pop(folder, None)
            return None
        self._listings[folder] = found
        return found


def _look(folder: str, changed: int) -> Listing:
    listing = Listing(changed, time.time_ns(), [], [])
    with os.scandir(folder) as entries:
        for entry in entries:
            if not entry.is_dir(follow_symlinks=False):
                listing.files.append(entry.path)
            elif entry.name not in SKIPPED:
                listing.folders.append(entry.path)
    return listing
