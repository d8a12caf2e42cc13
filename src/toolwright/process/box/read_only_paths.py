"""Paths that commands only read although they lie in what they may write: settings, and what git takes for code."""

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from toolwright.process.box.box import Wall, walls
from toolwright.process.paths import settings_paths
from toolwright.process.paths.git_folders import Placeholder, git_code, git_folders, trees
from toolwright.process.paths.safe_stat import canonical, is_in, is_real_folder, is_there


class Guarding:
    """One for each opened project."""

    def __init__(self, *, directory: Path, root: Path, explicit: Sequence[Path]) -> None:
        """`explicit` is what the user lets commands write all the same."""
        self._root, self._explicit = root, tuple(explicit)
        self._entry = root / ".git"
        # Looked up once: a command could write a `.git` file that points elsewhere.
        self.git = git_folders(root)
        self._settings = tuple(settings_paths.settings_of(directory, root))

    def look(
        self, repositories: Sequence[Path], *, settings: bool, named: Sequence[Path]
    ) -> tuple[list[Wall], list[Placeholder]]:
        """Return the walls around what one command may not change, and what they need to be there.

        `repositories` are git folders below the project's own; `settings` says that what is not there of ours must be,
        to be kept from it. What is `named` is left out, with all that is in it.
        """
        code = git_code([*self.git, self._entry, *repositories])
        missing = [
            one
            for one in (*code.missing, *(self._missing_settings() if settings else ()))
            if not self._is_explicit(one.path)
        ]
        entry = [self._entry] if self._entry.is_file() else []
        there = (canonical(place) for place in (*code.there, *self._settings, *entry) if is_there(place))
        protected = [*(place for place in there if place not in self._explicit), *(one.path for one in missing)]
        around = [*walls(dict.fromkeys(protected), "read", "runs"), *walls(self._pinned(repositories), "stay")]
        kept = [wall for wall in around if not is_in(wall.path, named)]
        return kept, [one for one in missing if not is_in(one.path, named)]

    def of_git(self, places: Iterable[Path]) -> list[Path]:
        """Those that lie in the project's git folder, which may be elsewhere."""
        of_git = list[Path]()
        for place in places if self.git else ():
            if place != self._entry and place.is_relative_to(self._entry) and self._entry.is_file():
                of_git.append(self.git[-1] / place.relative_to(self._entry))
            elif is_in(place, self.git):
                of_git.append(place)
        return of_git

    def repositories(self, others: Iterable[Path]) -> Iterator[tuple[Path, Path]]:
        """Each git folder that has the settings of a work tree, with that work tree."""
        if self.git:
            yield self.git[-1], self._root
        yield from ((git, git.parent) for git in others)

    def absent(self) -> list[Path]:
        """Settings that are not there, and that a command could therefore write."""
        return [place for place in self._settings if not os.path.lexists(place)]

    @property
    def settings_folders(self) -> list[Path]:
        return list(dict.fromkeys(place.parent for place in self._settings))

    def _missing_settings(self) -> Iterator[Placeholder]:
        """The folders of settings: an empty one is seen neither by git nor by `ls`, as an empty file would be."""
        for place in self._settings:
            if place.name in settings_paths.SETTINGS_FOLDERS and (placeholder := Placeholder(path=place)).fits():
                yield placeholder

    def _is_explicit(self, place: Path) -> bool:
        return bool(self._explicit) and place.resolve() in self._explicit

    def _pinned(self, repositories: Sequence[Path]) -> Iterator[Path]:
        """Without a mount of its own a git folder could be moved away, and another put in its place."""
        for folder in dict.fromkeys([self._entry, *self.git, *repositories]):
            if is_real_folder(folder):
                yield folder
                yield from trees(folder)
