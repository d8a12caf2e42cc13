"""Where a path really leads: made canonical once, here, and judged by that from then on."""

import os
from functools import cached_property
from pathlib import Path

from toolwright.errors import ToolError
from toolwright.record import record
from toolwright.request import PathPattern, Request


class Tree:
    """One opened project: the folder that was opened and the root it belongs to."""

    def __init__(self, directory: Path | str) -> None:
        self.directory = Path(os.path.realpath(directory))
        """The folder opened; relative paths start here."""
        self.root = _git_root(self.directory) or self.directory
        """The top folder of the git work tree around it; without git the folder itself."""

    def place(self, given: str) -> "Place":
        """The place a path names, links and `..` resolved the way the system would; the file need not exist."""
        if not given:
            raise ToolError("The path is empty, which would be the project folder itself. Name a file.", "is_folder")
        if "\0" in given:
            raise ToolError(f"The path {given!r} holds a NUL character, which no file name can. Correct it.", "schema")
        joined = os.path.join(self.directory, _with_home(given))  # noqa: PTH118 - Path would drop what `..` needs
        path = Path(os.path.realpath(joined))
        named = joined.rstrip("/")
        name = os.path.basename(named)  # noqa: PTH119 - on text, as above
        if name in ("", ".", ".."):
            return Place(given=given, path=path, name=path, tree=self)
        parent = os.path.realpath(os.path.dirname(named))  # noqa: PTH120 - on text, as above
        return Place(given=given, path=path, name=Path(parent, name), tree=self)

    def holds(self, path: Path) -> bool:
        """Whether a canonical path lies in the folder opened or in its project."""
        return path.is_relative_to(self.directory) or path.is_relative_to(self.root)


@record(frozen=True, kw_only=True)
class Place:
    """A path of a call, as given and as it really is. Get one from `Tree.place`."""

    given: str
    path: Path
    """Canonical: absolute, without links."""
    name: Path
    """The same, but for a link as the last part: its own name, not its target's."""
    tree: Tree

    @cached_property
    def relative(self) -> str:
        """The path from the project root; begins with `../` outside of it."""
        return _relative(self.path, self.tree.root)

    @cached_property
    def inside(self) -> bool:
        return self.tree.holds(self.path)

    @property
    def exists(self) -> bool:
        """Whether anything is there now."""
        return os.path.lexists(self.path)

    @cached_property
    def pattern(self) -> PathPattern:
        """What an `edit` question shows; rules may name the path from the root, from the folder opened, or in full."""
        return PathPattern(self.relative, (_relative(self.path, self.tree.directory), str(self.path)))

    @cached_property
    def absolute_pattern(self) -> PathPattern:
        """What a `read` or `list` question shows; rules may use the same spellings."""
        return PathPattern(str(self.path), self.pattern.spellings)

    def external(self, *, folder: bool = False) -> tuple[Request, ...]:
        """The leave a call needs for touching this place: none inside the project.

        `folder` says that the place itself is the folder in question, not the one that holds it.
        """
        if self.inside:
            return ()
        parent = self.path if folder else self.path.parent
        pattern = f"{str(parent).rstrip('/')}/*"
        metadata = {"filepath": str(self.path), "parentDir": str(parent)}
        return (Request(permission="external_directory", patterns=(pattern,), always=(pattern,), metadata=metadata),)


def _git_root(directory: Path) -> Path | None:
    """A `.git` entry marks the top of a work tree; it is a file in linked work trees and submodules."""
    return next((folder for folder in (directory, *directory.parents) if os.path.lexists(folder / ".git")), None)


def _with_home(given: str) -> str:
    return os.path.expanduser(given) if given == "~" or given.startswith("~/") else given  # noqa: PTH111 - text


def _relative(path: Path, start: Path) -> str:
    return os.path.relpath(path, start).replace(os.sep, "/")
