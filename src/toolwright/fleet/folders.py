"""A folder taken elsewhere: the whole of it packed, and what has changed in it since it was last looked at."""

import base64
import io
import os
import shutil
import stat
import tarfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from toolwright.errors import ToolwrightError
from toolwright.protocols.json_types import Json

LARGEST = 64 * 1024 * 1024
"""Bytes of changes in one step that are still taken along."""
_COARSE = 20_000_000
"""Nanoseconds after a change in which another one may leave no trace in the file's times."""

Mark = tuple[int, ...]
Look = dict[str, Mark]
"""For each path what the system says of it."""
Changes = Mapping[str, Json | None]
"""For each changed path what is there now: a file, a link or a folder; None if nothing is."""


class TooLarge(ToolwrightError):
    """More has changed in one step than is taken along."""


def pack(folder: Path) -> bytes:
    """All of a folder, with links as links and nobody as the owner."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive:
        archive.add(folder, arcname=".", filter=_without_owner)
    return packed.getvalue()


def unpack(packed: bytes, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        # It is a folder of the user's own, whose links may lead anywhere.
        archive.extraction_filter = lambda member, _: member
        archive.extractall(folder)  # noqa: S202


def _without_owner(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    return member


def look_at(folder: Path) -> Look:
    """Return the state of everything in a folder. What changed just now may change again unseen: it is not trusted."""
    now = time.time_ns()
    return {path: _mark(status, now) for path, status in _walk(folder, "")}


def _walk(folder: Path, prefix: str) -> Iterator[tuple[str, os.stat_result]]:
    with os.scandir(folder / prefix) as entries:
        for entry in entries:
            status = entry.stat(follow_symlinks=False)
            yield f"{prefix}{entry.name}", status
            if stat.S_ISDIR(status.st_mode):
                yield from _walk(folder, f"{prefix}{entry.name}/")


def _mark(status: os.stat_result, now: int) -> Mark:
    if stat.S_ISDIR(status.st_mode):
        return (status.st_mode,)
    unsure = now if now - status.st_ctime_ns < _COARSE else 0
    return (status.st_mode, status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino, unsure)


def changes(folder: Path, before: Look, after: Look) -> dict[str, Json | None]:
    """Return what has changed between two looks, with the contents."""
    changed: dict[str, Json | None] = {path: None for path in before if path not in after}
    size = 0
    for path, mark in after.items():
        if before.get(path) == mark:
            continue
        size += mark[1] if stat.S_ISREG(mark[0]) else 0
        if size > LARGEST:
            raise TooLarge(f"More than {LARGEST >> 20} MB have changed in one step.")
        entry = _entry(folder / path, mark[0])
        if entry is not None:
            changed[path] = entry
    return changed


def _entry(path: Path, mode: int) -> Json | None:
    if stat.S_ISDIR(mode):
        return {"folder": stat.S_IMODE(mode)}
    if stat.S_ISLNK(mode):
        return {"link": os.readlink(path)}  # noqa: PTH115 - to the letter
    if stat.S_ISREG(mode):
        return {"file": base64.b64encode(path.read_bytes()).decode("ascii"), "mode": stat.S_IMODE(mode)}
    return None


def apply(folder: Path, changed: Changes) -> None:
    """Make the folder as it was elsewhere."""
    for path in sorted((path for path, entry in changed.items() if entry is None), reverse=True):
        if _leads_inside(folder, path):
            _remove(folder / path)
    present = sorted((path, entry) for path, entry in changed.items() if entry is not None)
    for path, entry in present:
        _put(folder / path, entry)
    # Last, since nothing can be put into a folder that may not be written.
    for path, entry in reversed(present):
        if "folder" in entry:
            (folder / path).chmod(entry["folder"])


def _leads_inside(folder: Path, path: str) -> bool:
    """Tell if all above a path are folders, and not a link or a file that has taken their place."""
    above = [folder / one for one in Path(path).parents]
    return all(one.is_dir() and not one.is_symlink() for one in above[:-1])


def _put(path: Path, entry: Json) -> None:
    if "folder" in entry:
        if path.is_symlink() or not path.is_dir():
            _remove(path)
            path.mkdir()
        return
    _remove(path)
    if "link" in entry:
        path.symlink_to(entry["link"])
        return
    path.write_bytes(base64.b64decode(entry["file"]))
    path.chmod(entry["mode"])


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
