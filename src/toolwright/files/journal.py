"""What files were before each call that changed them, so that any call can be undone."""

import hashlib
import json
import os
import re
import time
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from toolwright.files.disk import digest_of

CAP = 512 * 1024 * 1024
"""How much is kept; the oldest goes first."""

_DAY = 24 * 3600


@dataclass(frozen=True, slots=True, kw_only=True)
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
    """Contents by hash in `images/`, and for each session a list of what its calls changed."""

    def __init__(self, folder: Path, cap: int = CAP) -> None:
        self._folder = folder
        self._cap = cap
        self._kept = 0

    def keep(self, data: bytes, *, durable: bool = False) -> str:
        """Store a content once and return its hash; `durable` waits until it is safe from a power cut."""
        digest = digest_of(data)
        path = self._image_path(digest)
        try:
            os.utime(path)
        except FileNotFoundError:
            _write(path, data, durable=durable)
            self._kept += len(data)
        return digest

    def image(self, digest: str) -> bytes | None:
        """A content by its hash, if it is still kept and whole."""
        try:
            data = self._image_path(digest).read_bytes()
        except FileNotFoundError:
            return None
        return data if digest_of(data) == digest else None

    def record(self, session_id: str, entries: Iterable[Entry]) -> None:
        """Append to the list of a session, and drop the oldest of everything now and then."""
        lines = "".join(json.dumps(asdict(entry), separators=(",", ":")) + "\n" for entry in entries)
        path = self._list_path(session_id)
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab") as file:
            file.write(lines.encode())
        self._prune_if_due()

    def entries(self, session_id: str) -> list[Entry]:
        """What a session changed, oldest first. A line cut short by a crash is left out."""
        try:
            lines = self._list_path(session_id).read_text("utf-8").splitlines()
        except FileNotFoundError:
            return []
        return [entry for line in lines if (entry := _entry(line)) is not None]

    def forget(self, session_id: str) -> None:
        """Drop the list of a session that was deleted; its contents go when their turn comes."""
        self._list_path(session_id).unlink(missing_ok=True)

    def prune(self) -> None:
        """Drop the oldest until four fifths of the cap are left."""
        self._kept = 0
        files = sorted(_files_below(self._folder), key=lambda item: item[0], reverse=True)
        room = self._cap
        for _, size, path in files:
            room -= size
            if room < self._cap / 5:
                path.unlink(missing_ok=True)
        (self._folder / "pruned").touch()

    def _prune_if_due(self) -> None:
        try:
            last = (self._folder / "pruned").stat().st_mtime
        except FileNotFoundError:
            last = 0.0
        if self._kept > self._cap / 16 or last < time.time() - _DAY:
            self.prune()

    def _image_path(self, digest: str) -> Path:
        return self._folder / "images" / digest[:2] / digest[2:]

    def _list_path(self, session_id: str) -> Path:
        plain = re.fullmatch(r"[A-Za-z0-9_-]{1,100}", session_id)
        name = session_id if plain else hashlib.blake2b(session_id.encode(), digest_size=16).hexdigest()
        return self._folder / "sessions" / f"{name}.jsonl"


def _write(path: Path, data: bytes, *, durable: bool) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f"{path.name}.{os.getpid()}-{os.urandom(4).hex()}")
    with unfinished.open("wb") as file:
        file.write(data)
        if durable:
            file.flush()
            os.fsync(file.fileno())
    unfinished.replace(path)


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
