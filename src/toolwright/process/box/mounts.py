"""Mounts of a box: one list for every kind that mounts. Of two places the deeper one decides."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from toolwright.process.box.box import TEMP_FOLDERS, Box, Effect
from toolwright.process.keeper.order import Mount
from toolwright.process.paths.safe_stat import is_folder, is_in, is_there

_KINDS: dict[Effect, str] = {
    "write": "bind",
    "stay": "bind",
    "own": "bind",
    "read": "read-only",
    "empty": "empty",
    "show": "read-only",
    "open": "bind",
    "replace": "read-only",
}
"""The kind of mount for each effect, in the order in which they cover each other."""
_RANKS = {effect: rank for rank, effect in enumerate(_KINDS)}


def layout(box: Box) -> list[Mount]:
    """Each mount covers what comes before it. Emptied folders are sealed in the end: others may be put into them.

    A mount costs time by itself and with every other one, so those that would change nothing are left out.
    """
    wanted = dict[str, Mount]()
    for mount in _wanted(box):
        wanted[mount["target"]] = mount
    needed = set(map(str, box.places("show", "stay", "open")))
    opened = set(map(str, box.places("write", "own", "show", "open")))
    laid = dict[str, Mount]()
    for target in sorted(wanted, key=_depth):
        mount, around = wanted[target], _nearest(laid, target)
        if around is None or not _changes_nothing(mount, around, needed, opened):
            laid[target] = mount
    filled = {target for place in laid for target in _above(place)}
    mounts = [_simplest(mount, box, filled) for mount in laid.values()]
    return [*mounts, *(_mount("seal", mount["target"]) for mount in mounts if mount["kind"] == "empty")]


def exact_places(box: Box, mounts: Iterable[Mount]) -> list[str]:
    """Return the places mounted in their own place, which whoever may write around them could exchange for a link."""
    itself = (mount["target"] for mount in mounts if mount["source"] == mount["target"])
    granted = set(map(str, box.places("open")))
    writable = box.places("write", "own")
    return [place for place in itself if place in granted or is_in(Path(place).parent, writable)]


def _simplest(mount: Mount, box: Box, filled: set[str]) -> Mount:
    """A folder into which nothing else is put need not be new: one that is empty already does, at half the cost."""
    if mount["kind"] != "empty" or box.nothing is None or mount["target"] in filled:
        return mount
    return _mount("read-only", mount["target"], str(box.nothing))


def _changes_nothing(mount: Mount, around: Mount, needed: set[str], opened: set[str]) -> bool:
    """Tell whether what lies around it says the same: nothing is there to be covered, or it is open or shut already."""
    target = mount["target"]
    if around["kind"] == "empty":
        return target not in opened
    same = mount["source"] == target and around["source"] == around["target"] and around["kind"] == mount["kind"]
    return same and target not in needed


def _nearest(laid: dict[str, Mount], target: str) -> Mount | None:
    return next((laid[place] for place in _above(target) if place in laid), None)


def _above(target: str) -> Iterator[str]:
    while target := target.rpartition("/")[0]:
        yield target


def _depth(target: str) -> int:
    return target.rstrip("/").count("/")


def _wanted(box: Box) -> Iterator[Mount]:
    """Yield the mounts wanted. Of two for one place the later one counts, so what is hidden covers every grant."""
    for folder in TEMP_FOLDERS:
        # Who was given the system's own temporary folder keeps it.
        if folder not in box.places("write") and is_folder(folder) and not folder.is_symlink():
            yield _mount("bind", str(folder), str(box.temp))
    # What lies in a place that may be written is there with it; a mount of its own could not be moved or deleted.
    readable = (place for place in box.shown if not is_in(place, box.places("write")))
    yield from (_mount("read-only", str(place)) for place in readable if is_there(place))
    for wall in sorted((wall for wall in box.walls if wall.effect in _KINDS), key=lambda wall: _RANKS[wall.effect]):
        yield _mount(_KINDS[wall.effect], str(wall.path), str(wall.source or ""))


def _mount(kind: str, target: str, source: str = "") -> Mount:
    return {"kind": kind, "target": target, "source": source or target}
