"""Decoys for hidden files: same size and mtime, so git sees no change."""

import os
import shutil
import stat
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from toolwright.process.box.box import Wall, Why
from toolwright.process.keeper.order import DECOY
from toolwright.process.paths.safe_stat import is_folder, is_real_folder, is_there, read_itself

WORDS = DECOY
LARGEST = 1024 * 1024
"""Bytes up to which a decoy is as long as what it stands for."""
STALE = 32
"""Things of the past that are kept for a while: a box that is just being put up may need them."""
MANY = 2000
"""Decoys from which on those are dropped whose files are gone."""
DRIVER = "toolwright-mask"
SETTINGS = (
    (f"filter.{DRIVER}.clean", "git cat-file blob :%f 2>/dev/null || git cat-file blob HEAD:%f"),
    (f"filter.{DRIVER}.smudge", f"cat > /dev/null; echo '{WORDS.decode().strip()}'"),
    (f"filter.{DRIVER}.required", "true"),
    ("repack.updateServerInfo", "false"),
    ("core.checkStat", "minimal"),
    ("core.trustctime", "false"),
)
"""Whatever git would take from a decoy, it takes from its index instead, or from the last commit; what is in neither it
refuses to add. Where it would write such a file anew, as in a new work tree, it writes that it is hidden. It makes no
list of refs for plain web servers, which would lie beside settings."""


class Decoys:
    """Makes decoys in a folder of its own, each once for as long as the file does not change."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files = dict[Path, tuple[object, Path]]()
        self._views = dict[Path, tuple[object, list[Wall]]]()
        self._empty: Path | None = None
        self._nothing: Path | None = None
        self._attributes: tuple[object, Path] | None = None
        self._stale = deque[Path]()
        self._enough = MANY

    def of_file(self, path: Path, why: Why = "hidden") -> Wall | None:
        """The decoy for a file; None if there is nothing to hide."""
        try:
            known = path.stat()
        except OSError:
            self._drop(path)
            return None
        if not stat.S_ISREG(known.st_mode):
            return Wall(path, "replace", why, self.empty())
        key = (known.st_size, known.st_mtime_ns, known.st_mode)
        decoy = self._files.get(path)
        if decoy is None or decoy[0] != key:
            self._drop(path)
            decoy = (key, self._new_file(_words(known.st_size), known))
            self._files[path] = decoy
            if len(self._files) > self._enough:
                for place in [one for one in self._files if not is_there(one)]:
                    self._drop(place)
                self._enough = MANY + 2 * len(self._files)
        return Wall(path, "replace", why, decoy[1])

    def _drop(self, path: Path) -> None:
        decoy = self._files.pop(path, None)
        if decoy is not None:
            self._retire(decoy[1])

    def _retire(self, source: Path) -> None:
        self._stale.append(source)
        if len(self._stale) > STALE:
            oldest = self._stale.popleft()
            if is_folder(oldest):
                shutil.rmtree(oldest, ignore_errors=True)
            else:
                oldest.unlink(missing_ok=True)

    def empty(self) -> Path:
        """A file that nobody can run and that says nothing."""
        if self._empty is None:
            self._empty = self._folder / "empty"
            self._empty.touch(mode=0o444)
        return self._empty

    def nothing(self) -> Path:
        """A folder in which nothing is."""
        if self._nothing is None:
            self._nothing = self._folder / "nothing"
            self._nothing.mkdir(mode=0o755)
        return self._nothing

    def git_view(
        self,
        git: Path,
        root: Path,
        hidden: Sequence[Path],
        veiled: Sequence[tuple[str, bool]] = (),
        placeholders: Iterable[Path] = (),
    ) -> list[Wall]:
        """Settings of a git folder in which the hidden files of its work tree have not changed, and are not new.

        Names that are veiled have no content in what git shows of the past, whether such a file is there today or not.
        Folders that are only there for the box are none that `git clean` would try to remove.
        """
        names = sorted(str(path.relative_to(root)) for path in hidden if path.is_relative_to(root))
        ours = sorted(f"{path.relative_to(root)}/" for path in placeholders if path.is_relative_to(root))
        if not (names or veiled or ours) or not _is_small_file(git / "config"):
            return []
        rest = (_stamp(git / "config"), _stamp(git / "info"), *map(_stamp, _files(git / "info")))
        key = (tuple(names), tuple(ours), tuple(veiled), *rest)
        view = self._views.get(git)
        if view is None or view[0] != key:
            for wall in view[1] if view is not None else ():
                if wall.source is not None:
                    self._retire(wall.source)
            try:
                view = (key, self._new_view(git, names, ours, veiled))
            except OSError:
                return []
            self._views[git] = view
        return view[1]

    def attributes(self, veiled: Sequence[tuple[str, bool]], before: bytes) -> Path:
        """A file of attributes by which git shows no content of files with veiled names; `before` comes first."""
        key = (tuple(veiled), before)
        if self._attributes is None or self._attributes[0] != key:
            file = self._name()
            file.write_bytes(before)
            _append(file, (line for pattern, kept in veiled for line in _veils(pattern, kept=kept)))
            self._attributes = (key, file)
        return self._attributes[1]

    def _new_view(
        self, git: Path, names: Sequence[str], ours: Sequence[str], veiled: Sequence[tuple[str, bool]]
    ) -> list[Wall]:
        config, info = self._name(), self._name()
        config.write_bytes(read_itself(git / "config", LARGEST) + _as_file(SETTINGS).encode())
        info.mkdir()
        for file in _files(git / "info"):
            (info / file.name).write_bytes(read_itself(file, LARGEST))
        _append(info / "exclude", (_excluded(name) for name in (*names, *ours)))
        _append(info / "attributes", (line for pattern, kept in veiled for line in _veils(pattern, kept=kept)))
        _append(info / "attributes", (f"{_quoted(name)} filter={DRIVER} -text" for name in names))
        with suppress(OSError):
            (git / "info").mkdir(exist_ok=True)
        walls = [Wall(git / "config", "replace", "git", config)]
        return [*walls, Wall(git / "info", "replace", "git", info)] if is_real_folder(git / "info") else walls

    def _new_file(self, content: bytes, like: os.stat_result) -> Path:
        decoy = self._name()
        decoy.write_bytes(content)
        decoy.chmod(stat.S_IMODE(like.st_mode) & 0o777 | stat.S_IRUSR)
        os.utime(decoy, ns=(like.st_atime_ns, like.st_mtime_ns))
        return decoy

    def _name(self) -> Path:
        return self._folder / os.urandom(8).hex()


def _as_file(settings: Iterable[tuple[str, str]]) -> str:
    """Settings as git keeps them in a file."""
    lines = [""]
    for name, value in settings:
        section, _, key = name.rpartition(".")
        head, _, rest = section.partition(".")
        lines += [f'[{head} "{rest}"]' if rest else f"[{head}]", f'\t{key} = "{value}"']
    return "\n".join(lines) + "\n"


def _words(size: int) -> bytes:
    """As long as the file, where that is bearable, and harmless to whatever reads lines."""
    if size > LARGEST:
        return WORDS
    return WORDS + b"\n" * (size - len(WORDS)) if size >= len(WORDS) else b"\n" * size


def _append(file: Path, lines: Iterable[str]) -> None:
    before = file.read_bytes() if file.exists() else b""
    file.write_bytes(before.rstrip(b"\n") + b"\n" + "".join(f"{line}\n" for line in lines).encode(errors="replace"))


def _excluded(name: str) -> str:
    return "/" + "".join(f"\\{letter}" if letter in "\\*?[ !#" else letter for letter in name)


def _quoted(name: str) -> str:
    pattern = "".join(f"\\{letter}" if letter in "\\*?[" else letter for letter in name)
    return '"/' + pattern.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _veils(pattern: str, *, kept: bool) -> Iterator[str]:
    """A rule's pattern as git's attributes know them: a `*` of ours crosses folders, one of theirs does not."""
    if '"' in pattern or "\n" in pattern:
        return
    plain = pattern.replace("\\", "\\\\\\\\").replace("[", "\\\\[")
    start = "/" if "/" in plain and not plain.startswith("*") else "" if "/" not in plain else "**/"
    whole = start + "/".join("**" if part == "*" else part for part in plain.split("/"))
    what = "-diff export-ignore" if kept else "!diff !export-ignore"
    yield f'"{whole}" {what}'
    yield f'"{whole if "/" in whole else f"**/{whole}"}/**" {what}'


def _files(folder: Path) -> list[Path]:
    """Without links, in a folder that is none: what they lead to may be what the command is not to see."""
    try:
        return sorted(filter(_is_small_file, folder.iterdir() if is_real_folder(folder) else ()))
    except OSError:
        return []


def _is_small_file(file: Path) -> bool:
    try:
        known = file.lstat()
    except OSError:
        return False
    return stat.S_ISREG(known.st_mode) and known.st_size <= LARGEST


def _stamp(path: Path) -> object:
    try:
        known = path.stat()
    except OSError:
        return None
    return known.st_size, known.st_mtime_ns, known.st_ino
