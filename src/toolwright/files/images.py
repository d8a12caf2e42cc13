"""Contents of files, stored once under their hash; of a large one that changed, only the part that did."""

import json
import os
from collections.abc import Iterable
from io import FileIO
from pathlib import Path

from toolwright.files.body import Body, link_named
from toolwright.files.disk import digest_of, open_private
from toolwright.record import record

LARGE = 256 * 1024
"""Bytes from which on a changed content is kept in part."""


class Images:
    """A folder of contents. One that was damaged is as good as none; a wrong one is never given out."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.stored = 0
        """Bytes added so far."""

    def keep(self, data: bytes, digest: str = "", *, durable: bool = False) -> str:
        """Store a content and return its hash, if not given; `durable` waits until it is safe from a power cut."""
        digest = digest or digest_of(data)
        path = self._path(digest, "whole")
        try:
            os.utime(path)
        except FileNotFoundError:
            self._write(path, data, durable=durable)
        return digest

    def adopt(self, file: Path, digest: str) -> None:
        """Take over a file that has this content and that nobody else has."""
        path = self._path(digest, "whole")
        os.utime(file)
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.stored += file.stat().st_size
        file.replace(path)

    def keep_change(self, before: bytes, after: bytes, digests: tuple[str, str]) -> None:
        """Store what a content was before it became another."""
        part = ImagePart.of(before, after, digests[1]) if len(before) >= LARGE else None
        if part is None or len(part.data) > len(before) // 4:
            self.keep(before, digests[0])
            return
        self._write(self._path(digests[0], "part"), part.packed(), durable=False)

    def get(self, digest: str, current: bytes | None = None) -> bytes | None:
        """A content by its hash; None if it is not there. A part needs the `current` content to lead back from."""
        data, parts = None, list[ImagePart]()
        known = None if current is None else digest_of(current)
        wanted = digest
        while data is None:
            data = current if wanted == known else self._whole(wanted)
            part = self._part(wanted) if data is None else None
            if part is not None:
                parts.append(part)
                wanted = part.after
            if data is None and (part is None or parts.count(part) > 1):
                return None
        for part in reversed(parts):
            data = part.undo(data)
        return data if digest_of(data) == digest else None

    def body(self, name: str, current: Body = None) -> Body:
        """A content by its hash or a link by its name; None if it is not there."""
        return link_named(name) or self.get(name, current if isinstance(current, bytes) else None)

    def keep_only(self, names: Iterable[str | None]) -> None:
        """Drop everything but these contents and those they lead back from; also what a killed process left."""
        wanted, pending = set[str](), [name for name in names if name]
        while pending:
            if (digest := pending.pop()) not in wanted:
                wanted.add(digest)
                if (part := self._part(digest)) is not None:
                    pending.append(part.after)
        for path in self._folder.glob("*/*"):
            digest, _, kind = path.name.partition(".")
            if path.parent.name + digest not in wanted or kind not in ("whole", "part"):
                path.unlink(missing_ok=True)

    def _whole(self, digest: str) -> bytes | None:
        try:
            return self._path(digest, "whole").read_bytes()
        except FileNotFoundError:
            return None

    def _part(self, digest: str) -> "ImagePart | None":
        try:
            return ImagePart.unpacked(self._path(digest, "part").read_bytes())
        except (FileNotFoundError, ValueError, TypeError):
            return None

    def _path(self, digest: str, kind: str) -> Path:
        return self._folder / digest[:2] / f"{digest[2:]}.{kind}"

    def _write(self, path: Path, data: bytes, *, durable: bool) -> None:
        unfinished = path.with_name(f"{path.name}.{os.getpid()}-{os.urandom(4).hex()}")
        with FileIO(open_private(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL), "wb") as file:
            view = memoryview(data)
            while view:
                view = view[file.write(view) :]
            if durable:
                os.fsync(file.fileno())
        unfinished.replace(path)
        self.stored += len(data)


@record(frozen=True, slots=True, kw_only=True)
class ImagePart:
    """The middle of a content, where the content it became has something else."""

    after: str
    """Hash of the content it became."""
    head: int
    tail: int
    """The number of bytes that the two begin and end with in common."""
    data: bytes

    @classmethod
    def of(cls, before: bytes, after: bytes, digest: str) -> "ImagePart":
        head = common_start(before, after)
        tail = _common_end(before, after, min(len(before), len(after)) - head)
        return cls(after=digest, head=head, tail=tail, data=before[head : len(before) - tail])

    def undo(self, after: bytes) -> bytes:
        return after[: self.head] + self.data + after[len(after) - self.tail :]

    def packed(self) -> bytes:
        return json.dumps([self.after, self.head, self.tail]).encode() + b"\n" + self.data

    @classmethod
    def unpacked(cls, packed: bytes) -> "ImagePart":
        first, _, data = packed.partition(b"\n")
        after, head, tail = json.loads(first)
        return cls(after=after, head=head, tail=tail, data=data)


def common_start(first: bytes, second: bytes) -> int:
    """Count the bytes that are equal from the start: ever larger pieces while they are, then ever smaller ones."""
    end = min(len(first), len(second))
    start, step = 0, 4096
    while start < end and first[start : start + step] == second[start : start + step]:
        start, step = start + step, min(2 * step, 1 << 18)
    start = min(start, end)
    while step:
        if start + step <= end and first[start : start + step] == second[start : start + step]:
            start += step
        else:
            step //= 2
    return start


def _common_end(first: bytes, second: bytes, most: int) -> int:
    """The same from the end, at most so many."""

    def equal(size: int) -> bool:
        last, twin = len(first) - same, len(second) - same
        return same + size <= most and first[last - size : last] == second[twin - size : twin]

    same, step = 0, 4096
    while equal(step):
        same, step = same + step, min(2 * step, 1 << 18)
    while step:
        if equal(step):
            same += step
        else:
            step //= 2
    return same
