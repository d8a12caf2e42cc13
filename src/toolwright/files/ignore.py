"""Files that the ignore files of a project hide, read as git and ripgrep read them."""

import os
import re
import stat
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from toolwright.files.globs import Glob, parse_ignore_line
from toolwright.record import record

_MOST_BYTES = 1024 * 1024
_MOST_LINES = 10_000
"""At most this many lines of an ignore file are read."""
_NAMES = frozenset((".rgignore", ".ignore", ".gitignore", ".git"))


@record(frozen=True, slots=True)
class Rules:
    """The patterns of one ignore file, for paths under its folder."""

    folder: str
    globs: tuple[Glob, ...]
    any: re.Pattern[str]
    """Fits whatever one of the patterns fits: most paths fit none, and are done with at once."""

    def verdict(self, path: str, *, folder: bool) -> bool | None:
        """True: hidden. False: shown for certain. None: not spoken of. The last pattern that fits decides."""
        relative = path[len(self.folder) + 1 :] if self.folder else path[1:]
        if self.any.fullmatch(relative) is None:
            return None
        fitting = (glob for glob in reversed(self.globs) if glob.fits(relative, folder=folder))
        decisive = next(fitting, None)
        return None if decisive is None else not decisive.negated


Chain = tuple[Rules, ...]


@record(frozen=True, slots=True, kw_only=True)
class Ignore:
    """All rules that hold in one folder, by kind; in each kind the nearest ones come first."""

    ripgrep: Chain = ()
    """From `.rgignore`; these win over the other kinds."""
    plain: Chain = ()
    """From `.ignore`."""
    git: Chain = ()
    """From `.gitignore`, up to the top of the repository; none outside of one."""
    exclude: Chain = ()
    """From `info/exclude` of the repository."""
    user: Chain = ()
    """From the user's own git settings."""
    in_repository: bool = False

    @classmethod
    def above(cls, root: Path) -> "Ignore":
        """The rules that the parents of a folder hand down to it."""
        ignore = cls()
        for folder in reversed(root.parents):
            ignore = ignore.enter(str(folder).rstrip("/"), filter(lambda name: (folder / name).exists(), _NAMES))
        return ignore

    @classmethod
    def inside(cls, folder: Path) -> "Ignore":
        """The rules that hold for the entries of a folder."""
        return cls.above(folder / "any")

    def enter(self, folder: str, names: Iterable[str]) -> "Ignore":
        """The rules that hold for the entries of a sub-folder, which has these names in it."""
        names = _NAMES.intersection(names)
        if not names:
            return self
        inner = replace(
            self,
            ripgrep=(*_rules_in(folder, names & {".rgignore"}), *self.ripgrep),
            plain=(*_rules_in(folder, names & {".ignore"}), *self.plain),
        )
        if ".git" in names:
            inner = replace(inner, git=(), exclude=_excluded(folder), user=_user_rules(folder), in_repository=True)
        if not inner.in_repository:
            return inner
        return replace(inner, git=(*_rules_in(folder, names & {".gitignore"}), *inner.git))

    def hides(self, path: str, *, folder: bool) -> bool:
        """Tell whether an entry (by its full path) is to be passed over."""
        for chain in (self.ripgrep, self.plain, self.git, self.exclude, self.user):
            for rules in chain:
                verdict = rules.verdict(path, folder=folder)
                if verdict is not None:
                    return verdict
        return False


def _rules_in(folder: str, names: Iterable[str]) -> Chain:
    return tuple(rules for name in names for rules in _read_rules(f"{folder}/{name}", folder))


def _read_rules(file: str, folder: str) -> Iterator[Rules]:
    text = _text_of(Path(file))
    lines = text.removeprefix("\ufeff").split("\n")
    globs = tuple(glob for line in lines[:_MOST_LINES] if (glob := parse_ignore_line(line)))
    if globs:
        anything = re.compile("|".join(f"(?:{glob.regex.pattern})" for glob in globs), re.DOTALL)
        yield Rules(folder, globs, anything)


def _text_of(path: Path) -> str:
    """The text of a small file; nothing for a pipe, a device, or what is too large to be what it says."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError):
        return ""
    with os.fdopen(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            return ""
        return file.read(_MOST_BYTES).decode("utf-8", "surrogateescape")


def _excluded(top: str) -> Chain:
    return tuple(_read_rules(str(_git_folder(Path(top, ".git")) / "info/exclude"), top))


def _git_folder(entry: Path) -> Path:
    """The repository behind a `.git`, which is a file that names it in linked work trees and submodules."""
    try:
        if entry.is_dir():
            return entry
        own = entry.parent / _text_of(entry).removeprefix("gitdir:").strip()
        common = _text_of(own / "commondir").strip()
        return own / common if common else own
    except (OSError, ValueError):
        return entry


def _user_rules(top: str) -> Chain:
    # Whoever has no home has none of these settings.
    home = Path(os.environ.get("HOME") or os.path.expanduser("~"))  # noqa: PTH111 - the other form raises
    settings = Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config", "git")
    named = next(filter(None, map(_excludes_file, (home / ".gitconfig", settings / "config"))), "")
    file = os.path.expanduser(named) if named else str(settings / "ignore")  # noqa: PTH111 - text in, text out
    return tuple(_read_rules(file, top))


def _excludes_file(config: Path) -> str:
    match = re.search(r"(?im)^\s*excludesfile\s*=\s*\"?\s*(.+?)\s*\"?\s*$", _text_of(config))
    return match[1] if match else ""


class Ignored:
    """Files and folders that the projects around them ignore, by themselves or with a folder they are in."""

    def __init__(self) -> None:
        self._rules = dict[Path, Ignore]()
        self._folders = dict[Path, bool]()

    def has(self, path: Path, *, folder: bool = False) -> bool:
        around = path.parent
        # What lies around a repository ignores nothing in it.
        if around == path or (folder and (path / ".git").exists()):
            return False
        if around not in self._folders:
            self._folders[around] = self.has(around, folder=True)
            self._rules[around] = Ignore.inside(around)
        return self._folders[around] or self._rules[around].hides(str(path), folder=folder)
