"""What covers what in a box: one list of mounts for every kind that mounts. Of two places the deeper one decides."""

from collections.abc import Iterator
from pathlib import Path

from toolwright.process.box import TEMP_FOLDERS, Box
from toolwright.process.keeper.order import Mount
from toolwright.process.sight import is_folder, is_there


def layout(box: Box) -> list[Mount]:
    """Each mount covers what comes before it. Emptied folders are sealed in the end: others may be put into them."""
    said = sorted(_said(box), key=lambda mount: mount["target"].rstrip("/").count("/"))
    return [*said, *(_mount("seal", Path(mount["target"])) for mount in said if mount["kind"] == "empty")]


def _said(box: Box) -> Iterator[Mount]:
    """Where two speak of the same place, the later one counts."""
    for folder in TEMP_FOLDERS:
        # Who was given the system's own temporary folder keeps it.
        if folder not in box.writable and is_folder(folder) and not folder.is_symlink():
            yield _mount("bind", folder, box.temp)
    # What lies in a place that may be written is there with it; a mount of its own could not be moved or deleted.
    shown = (place for place in box.shown if not any(place.is_relative_to(one) for one in box.writable))
    yield from (_mount("read-only", place) for place in shown if is_there(place))
    yield from (_mount("bind", place) for place in dict.fromkeys((*box.writable, *box.pinned)))
    yield from (_mount("bind", one.target, one.source) for one in box.private)
    yield from (_mount("read-only", place) for place in dict.fromkeys((*box.protected, *box.ruled, *box.beside)))
    yield from (_mount("empty", place) for place in box.closed)
    yield from (_mount("read-only", place) for place in box.kept)
    yield from (_mount("read-only", one.target, one.source) for one in box.replaced)
    yield from (_mount("bind", place) for place in box.granted)


def _mount(kind: str, target: Path, source: Path | None = None) -> Mount:
    return {"kind": kind, "target": str(target), "source": str(source or target)}
