"""The files of a project as they were before the work began, kept to compare with and to check against."""

import json
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from toolwright.machine.plain_files import read_plain
from toolwright.machine.private_files import make_folder
from toolwright.proof.kinds import kind_of
from toolwright.record import record

LARGEST = 1024 * 1024
"""Bytes of a file that is kept."""
MOST = 96 * 1024 * 1024
"""Bytes of all files that are kept; tests and what else the check rests on first."""
_LENGTH = 8
"""Bytes at the end of the file: how long the list of the names before them is."""


@record(frozen=True, slots=True, kw_only=True)
class Baseline:
    """Hashes of all files, and what most of them held."""

    files: Mapping[str, str]
    """Hashes by path from the root."""
    since: int
    """Time when it was taken, in nanoseconds since 1970."""
    kept: Path
    """The file with what they held, one after the other."""
    places: Mapping[str, tuple[int, int]]
    """Offset and size in bytes of each file in it."""

    def text(self, path: str) -> str | None:
        """Return what a file said; None if it was not there, or was not kept, or is no text."""
        data = self.data(path)
        if data is None or b"\0" in data[:8192]:
            return None
        return data.decode("utf-8", "replace")

    def data(self, path: str) -> bytes | None:
        """Return what a file held; None if it was not there or was not kept."""
        if path not in self.places:
            return None
        start, size = self.places[path]
        try:
            with self.kept.open("rb") as file:
                file.seek(start)
                return file.read(size)
        except OSError:
            return None

    def changed(self, files: Mapping[str, str]) -> list[str]:
        """Return the paths that are not as they were: changed, new and gone."""
        return changed_between(self.files, files)


class Before(Protocol):
    """A project as it was: what the ledger compares with."""

    @property
    def files(self) -> Mapping[str, str]: ...
    @property
    def since(self) -> int: ...
    def text(self, path: str) -> str | None: ...
    def data(self, path: str) -> bytes | None: ...
    def changed(self, files: Mapping[str, str]) -> list[str]: ...


def changed_between(before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    """Return the paths of two trees that are not the same in both."""
    return sorted(name for name in {*before, *after} if before.get(name) != after.get(name))


def take_baseline(root: Path, files: Mapping[str, str], kept: Path, goal: str = "") -> Baseline:
    """Keep the files of a project in one file, for a goal. What is too large is known by its hash alone."""
    since, places, end = time.time_ns(), dict[str, tuple[int, int]](), 0
    make_folder(kept.parent)
    with kept.open("wb") as file:
        for path in sorted(files, key=lambda path: (kind_of(path) == "work", path)):
            if files[path].startswith(("link:", "special", "unreadable")):
                continue
            try:
                if (root / path).stat().st_size > min(LARGEST, MOST - end):
                    continue
                data = read_plain(root / path, LARGEST)
            except OSError:
                continue
            places[path], end = (end, len(data)), end + len(data)
            file.write(data)
        names = json.dumps({"since": since, "goal": goal, "files": dict(files), "places": places}).encode()
        file.write(names + len(names).to_bytes(_LENGTH))
    return Baseline(files=dict(files), since=since, kept=kept, places=places)


def stored_baseline(kept: Path, goal: str) -> Baseline | None:
    """Return the one that was kept for the same goal before a restart; None if there is none."""
    try:
        with kept.open("rb") as file:
            end = file.seek(-_LENGTH, os.SEEK_END)
            file.seek(end - int.from_bytes(file.read(_LENGTH)))
            names = json.loads(file.read()[:-_LENGTH])
        if names["goal"] != goal:
            return None
        return Baseline(files=names["files"], since=int(names["since"]), kept=kept, places=names["places"])
    except (OSError, ValueError, KeyError):
        return None
