"""Real paths: made canonical once, here, and judged by that from then on."""

import os
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cached_property
from pathlib import Path

from toolwright.calls.request import PathPattern, Request
from toolwright.errors import ToolError
from toolwright.record import record

_LONGEST_NAME, _LONGEST_PATH = 255, 4095
"""Bytes; what Linux and macOS take at most."""
_MOST_LINKS = 40


class Tree:
    """One opened project: the folder that was opened and the root it belongs to."""

    def __init__(self, directory: Path | str) -> None:
        self.directory = Path(os.path.realpath(directory))
        """The folder opened; relative paths start here."""
        self.root = _git_root(self.directory) or self.directory
        """The top folder of the git work tree around it; without git the folder itself."""
        self.other_names: Callable[[Path], Iterable[str]] = _none
        """Tells under which other names of the project a file is there that has several."""

    def place(self, given: str) -> "Place":
        """The place a path names, links and `..` resolved the way the system would; the file need not exist."""
        if not given:
            raise ToolError("The path is empty, which would be the project folder itself. Name a file.", "is_folder")
        if "\0" in given:
            raise ToolError(f"The path {given!r} holds a NUL character, which no file name can. Correct it.", "schema")
        expanded = os.path.expanduser(given) if given == "~" or given.startswith("~/") else given  # noqa: PTH111 - text
        joined = os.path.join(self.directory, expanded)  # noqa: PTH118 - Path would drop what `..` needs
        if len(joined) > _LONGEST_NAME or not joined.isascii():
            _check_name(joined)
        aliases: list[str] = []
        folder, _, name = joined.rstrip("/").rpartition("/")
        if name in ("", ".", ".."):
            path = Path(resolve("/", joined, aliases))
            return Place(given=given, path=path, name=path, tree=self, aliases=tuple(aliases))
        parent = resolve("/", folder, aliases, name)
        path = Path(resolve(parent, name, aliases))
        return Place(given=given, path=path, name=Path(parent, name), tree=self, aliases=tuple(aliases))

    def exactly(self, path: Path) -> "Place":
        """A path that was canonical when it was written down; a link that has come since is not followed."""
        return Place(given=str(path), path=path, name=path, tree=self)

    def holds(self, path: Path) -> bool:
        """Tell whether a canonical path lies in the folder opened or in its project."""
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
    aliases: tuple[str, ...] = ()
    """Other spellings of the path: as given, and with one link after the other resolved."""

    @cached_property
    def relative(self) -> str:
        """The path from the project root; begins with `../` outside of it."""
        return _relative(str(self.path), str(self.tree.root))

    @cached_property
    def inside(self) -> bool:
        return self.tree.holds(self.path)

    @property
    def exists(self) -> bool:
        """True if anything is there now."""
        return os.path.lexists(self.path)

    @cached_property
    def pattern(self) -> PathPattern:
        """The text of an `edit` question; rules may name the path from the root, from the folder opened, or in full."""
        try:
            several = os.lstat(self.path).st_nlink > 1
        except OSError:
            several = False
        named = (*self.aliases, *self.tree.other_names(self.path)) if several else self.aliases
        aliases = [spelling for alias in named for spelling in self._spellings(alias)]
        spellings = self._spellings(str(self.path))
        return PathPattern(spellings[0], spellings, aliases, self.path)

    @cached_property
    def absolute_pattern(self) -> PathPattern:
        """The text of a `read` or `list` question; rules may use the same spellings."""
        return PathPattern(str(self.path), self.pattern.spellings, self.pattern.aliases, self.path)

    def itself(self) -> "Place":
        """The entry of that name: the link, if it is one, and not what it leads to."""
        if self.name == self.path:
            return self
        return replace(self, path=self.name, aliases=(*self.aliases, str(self.path)))

    def external(self, *, folder: bool = False) -> tuple[Request, ...]:
        """The permission that a call needs to touch this place: none inside the project.

        `folder` says that the place itself is the folder in question, not the one that holds it.
        """
        if self.inside:
            return ()
        parent = self.path if folder else self.path.parent
        pattern = f"{str(parent).rstrip('/')}/*"
        metadata = {"filepath": str(self.path), "parentDir": str(parent)}
        return (Request(permission="external_directory", patterns=(pattern,), always=(pattern,), metadata=metadata),)

    def _spellings(self, path: str) -> tuple[str, ...]:
        root, directory = str(self.tree.root), str(self.tree.directory)
        relative = _relative(path, root)
        return (relative, relative if directory == root else _relative(path, directory), path)


def _none(_: Path) -> Iterable[str]:
    return ()


def _check_name(path: str) -> None:
    """Refuse what no file can be called."""
    try:
        data = os.fsencode(path)
    except UnicodeEncodeError as error:
        raise ToolError(f"The path {path!r} cannot be the name of a file. Correct the character.", "schema") from error
    longest = max(map(len, data.split(b"/")))
    if longest > _LONGEST_NAME:
        raise ToolError(
            f"A name in the path {path[:100]!r}... has {longest} bytes; {_LONGEST_NAME} is the most.", "schema"
        )
    if len(data) > _LONGEST_PATH:
        raise ToolError(f"The path {path[:100]!r}... has {len(data)} bytes; {_LONGEST_PATH} is the most.", "schema")


def resolve(start: str, path: str, aliases: list[str] | None = None, rest: str = "") -> str:
    """Return the end of a path from a canonical folder; adds its spelling before each link, with the rest that follows.

    A link is asked where it leads and never before whether it is one: in between it could become another thing.
    """
    done, names, links = start, path.split("/")[::-1], 0
    while names:
        name = names.pop()
        if name in ("", ".", ".."):
            done = os.path.dirname(done) if name == ".." else done  # noqa: PTH120 - on text
            continue
        step = f"{done.rstrip('/')}/{name}"
        try:
            target = os.readlink(step) if links < _MOST_LINKS else ""  # noqa: PTH115 - on text
        except OSError:
            target = ""
        if not target:
            done = step
            continue
        links += 1
        if aliases is not None:
            aliases.append(os.path.normpath("/".join((step, *names[::-1], rest))))
        names += target.split("/")[::-1]
        done = "/" if target.startswith("/") else done
    return done


def _git_root(directory: Path) -> Path | None:
    """A `.git` entry marks the top of a work tree; it is a file in linked work trees and submodules."""
    return next((folder for folder in (directory, *directory.parents) if (folder / ".git").exists()), None)


def _relative(path: str, start: str) -> str:
    inner = path.removeprefix(f"{start}/")
    if inner != path and inner and ".." not in inner:  # a search asks this of every file it finds
        return inner
    return os.path.relpath(path, start).replace(os.sep, "/")
