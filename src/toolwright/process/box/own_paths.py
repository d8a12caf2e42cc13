"""Paths of ours that a box keeps: our folders out of sight, the installation and the settings in use as they are."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from toolwright.machine.own_files import Ours, temporary_folders, temporary_in
from toolwright.process.box.box import MADE_ANEW, Wall, walls
from toolwright.process.paths.git_folders import Placeholder
from toolwright.process.paths.safe_stat import folders_between, is_folder, is_in, is_there

_KEPT = (
    "commands read it and cannot change it, nor install anything there. Install it elsewhere, or open its place with"
    " sandbox.writable."
)
_CHANGEABLE = "commands can change it, and with it what the next start does. Install it elsewhere."
_IMPORTING = "Commands can put code there that the next start runs. Start it as tw, and without PYTHONPATH."

_Reached = tuple[tuple[Path, ...], tuple[Path, ...], tuple[Path, ...]]


class OwnPlaces:
    """One for each opened project."""

    def __init__(self, ours: Ours, *, root: Path, explicit: Sequence[Path]) -> None:
        """`explicit` is what the user lets commands write all the same: the installation may be in it."""
        # In the others a box has its own files, unless it was given the system's.
        self._temporary = [one for one in temporary_folders() if one not in MADE_ANEW or one in explicit]
        self._ours, self._root = ours, root
        self._around = (root, *root.parents, *explicit)
        self.fixed = tuple(place for place in (*ours.installation, *ours.settings) if place not in self._around)
        """Places that commands never write."""
        settings = [place for place in ours.settings if not place.is_relative_to(root)]
        self.secrets = (*ours.secrets, *(place for place in settings if not is_folder(place)))
        """Files that commands never read."""
        self._settings = [place for place in settings if is_folder(place)]
        self._last: tuple[tuple[tuple[Path, ...], tuple[Path, ...]], _Reached] | None = None
        """One command may mostly write what the one before could."""

    def keep(self, writable: Iterable[Path], *, by_name: bool) -> tuple[list[Wall], list[Placeholder]]:
        """Return the walls around what is ours where a command may write these folders, and what they need to be there.

        Some boxes keep a place `by_name`, there or not; in all others something must be there.
        """
        folders = self.folders()
        inside, fixed, pinned = self._reached(folders, tuple(writable))
        absent = [place for place in (*inside, *fixed) if not is_there(place)]
        closed = [place for place in folders if by_name or is_folder(place) or (place in inside and place in absent)]
        # Of what is not there only folders of packages are kept: nobody can say what else would be needed.
        kept = [place for place in fixed if place not in absent or place in self._ours.installation]
        needed = [Placeholder(path=place) for place in absent if not by_name and place in (*closed, *kept)]
        return [*walls(pinned, "stay"), *walls(kept, "read", "ours"), *walls(closed, "empty", "closed")], needed

    def _reached(self, folders: tuple[Path, ...], writable: tuple[Path, ...]) -> _Reached:
        """Return which of our folders a command could write, what else, and the folders on the way to all of it."""
        if self._last is None or self._last[0] != (folders, writable):
            inside = tuple(place for place in folders if is_in(place, writable))
            # Nothing can be mounted on a link. The folder that holds it is kept, but for the project's own.
            holders = (link.parent for link in self._ours.links)
            others = (*self.fixed, *(holder for holder in holders if holder not in self._around))
            fixed = tuple(place for place in dict.fromkeys(others) if is_in(place, writable))
            kept = (place for place in (*inside, *fixed, *self.secrets) if is_in(place, writable))
            on_the_way = (above for place in kept for above in folders_between(place, writable))
            self._last = ((folders, writable), (inside, fixed, tuple(dict.fromkeys(on_the_way))))
        return self._last[1]

    def describe(self, *, keeps: bool) -> Iterator[str]:
        """Yield what a user should know of where we are installed, a sentence each; `keeps` is whether boxes can."""
        inside = [place for place in self._ours.installation if place.is_relative_to(self._root)]
        kept = [place for place in inside if keeps and place in self.fixed]
        for places, consequence in ((kept, _KEPT), ([place for place in inside if place not in kept], _CHANGEABLE)):
            if places:
                yield f"toolwright is installed in this project, in {' and '.join(map(str, places))}: {consequence}"
        for place in self._ours.imported:
            if place.is_relative_to(self._root) and not is_in(place, inside):
                yield f"Python looks in {place} for what toolwright imports. {_IMPORTING}"

    def folders(self) -> tuple[Path, ...]:
        """Return the folders that no command reads or writes, those of now in a temporary folder among them."""
        temporary = (place for folder in self._temporary for place in temporary_in(folder) if place != self._root)
        return (*self._ours.closed, *self._settings, *temporary)
