"""What files were before each call that changed them, so that any call can be undone."""

import hashlib
import json
import os
import re
import time
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path

from toolwright.files.images import Images
from toolwright.private import make_folder, open_private
from toolwright.record import record

CAP = 512 * 1024 * 1024
"""How much is kept; the oldest goes first."""

_DAY = 24 * 3600


@record(frozen=True, slots=True, kw_only=True)
class Entry:
    """One file changed by one call. Each content is named by its hash; None where there was no file."""

    call_id: str
    path: str
    before: str | None
    after: str | None
    mode: int | None
    """Permission bits of the file before."""
    time: float


class Journal:
    """For each session a list of what its calls changed, and the contents of before."""

    def __init__(self, folder: Path, cap: int = CAP) -> None:
        self.images = Images(folder / "images")
        self._folder = folder
        self._cap = cap
        self._pruned_at = 0

    def record(self, session_id: str, entries: Iterable[Entry]) -> None:
        """Append to the list of a session, and drop the oldest of everything now and then."""
        lines = "".join(json.dumps(asdict(entry), separators=(",", ":")) + "\n" for entry in entries)
        path = self._list_path(session_id)
        make_folder(path.parent)
        with open_private(path, append=True) as file:
            file.write(lines.encode())
        if self._is_pruning_due():
            self.prune()

    def entries(self, session_id: str, since: int = 0) -> list[Entry]:
        """What a session changed, oldest first, from a `size` of its list on. A line cut short is left out."""
        try:
            with self._list_path(session_id).open("rb") as file:
                file.seek(since)
                lines = file.read().decode("utf-8", "replace").splitlines()
        except FileNotFoundError:
            return []
        return [entry for line in lines if (entry := _entry(line)) is not None]

    def size(self, session_id: str) -> int:
        """How long the list of a session is, in bytes: a cheap way to see whether something was added."""
        try:
            return self._list_path(session_id).stat().st_size
        except FileNotFoundError:
            return 0

    def forget(self, session_id: str) -> None:
        """Drop the list of a session that was deleted; its contents go when their turn comes."""
        self._list_path(session_id).unlink(missing_ok=True)

    def prune(self) -> None:
        """Drop the oldest until four fifths of the cap are left."""
        self._pruned_at = self.images.stored
        room = self._cap * 4 // 5
        for _, size, path in sorted(_files_below(self._folder), reverse=True):
            room -= size
            if room < 0:
                path.unlink(missing_ok=True)
        (self._folder / "pruned").touch(0o600)

    def _is_pruning_due(self) -> bool:
        if self.images.stored - self._pruned_at > self._cap / 16:
            return True
        try:
            return (self._folder / "pruned").stat().st_mtime < time.time() - _DAY
        except FileNotFoundError:
            return True

    def _list_path(self, session_id: str) -> Path:
        plain = re.fullmatch(r"[A-Za-z0-9_-]{1,100}", session_id)
        name = session_id if plain else hashlib.sha256(session_id.encode()).hexdigest()
        return self._folder / "sessions" / f"{name}.jsonl"


def _entry(line: str) -> Entry | None:
    try:
        return Entry(**json.loads(line))
    except (ValueError, TypeError):
        return None


def _files_below(folder: Path) -> Iterator[tuple[float, int, Path]]:
    for parent, _, names in os.walk(folder):
        for name in names:
            path = Path(parent, name)
            try:
                status = path.stat()
            except FileNotFoundError:
                continue
            yield status.st_mtime, status.st_size, path
