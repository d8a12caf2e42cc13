"""The sandbox: which walls this machine can put up, and the box around each command."""

import os
import shutil
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import Literal

from toolwright.errors import ToolError
from toolwright.private import make_folder
from toolwright.process import bubblewrap, folders, landlock, seatbelt
from toolwright.process.box import EVERYTHING, TEMP_FOLDERS, Box, Rung, Wrapped
from toolwright.process.masks import Masks
from toolwright.process.scope import Scopes
from toolwright.process.selftest import Findings, SelfTest
from toolwright.record import record
from toolwright.wildcard import matches

MARK = "TOOLWRIGHT_SANDBOX"
"""Set within a box to the name of its rung, so that a program can tell where it is."""


@record(frozen=True, slots=True, kw_only=True)
class SandboxSettings:
    """What the user wants of the sandbox."""

    mode: Literal["auto", "bubblewrap", "landlock", "seatbelt", "off"] = "auto"
    writable: tuple[str, ...] = ()
    """Further places to write, the protected ones among them; `~` is the home folder, the rest is from the root."""
    readable: tuple[str, ...] = ("/",)
    """What may be read besides the project; anything else but the system itself is out of sight."""
    network: bool = True
    reveal: tuple[str, ...] = ()
    """Patterns of files that are not hidden although a rule denies to read them."""
    hidden: tuple[str, ...] = field(default_factory=folders.control_sockets)
    """Places no command gets to see, whatever the rules say."""


class Sandbox:
    """One for each opened project. Every command of the project runs in a box from here."""

    def __init__(
        self,
        settings: SandboxSettings,
        *,
        directory: Path,
        root: Path,
        data: Path,
        scopes: Scopes,
        home: Path | None = None,
    ) -> None:
        """`directory` is the folder opened and `root` its project, both canonical; `data` is the program's own."""
        self.settings = settings
        self.masks = Masks(root)
        self._directory, self._root, self._data = directory, root, data
        self._home = home or Path.home()
        self._self_test = SelfTest(scopes, data)
        self._findings: Findings | None = None
        self._temp: Path | None = None
        self._caches: tuple[list[Path], list[Path]] | None = None
        # Looked up once: a command could write a `.git` file that points elsewhere.
        self._git = _git_folders(root)
        self._explicit = tuple(self._place(given) for given in settings.writable)

    async def ready(self) -> Rung:
        """The rung in use, found out when first asked. ToolError if the one the user insists on does not work."""
        wanted = self.settings.mode
        if wanted == "off" or sys.platform == "win32":
            return "none"
        if self._findings is None:
            self._findings = await self._self_test.findings()
        working = self._findings.working()
        if wanted == "auto":
            return working[0] if working else "none"
        if wanted in working:
            return wanted
        raise ToolError(
            f"The sandbox {wanted!r} that the settings ask for does not work on this machine:"
            f" {self._findings.problem(wanted)}. The user can set sandbox.mode to auto, or repair it."
        )

    def distrust(self) -> None:
        """Forget what was found out about this machine: something that worked no longer does."""
        self._findings = None
        self._self_test.forget()

    async def box(
        self,
        *,
        writable: Iterable[Path] = (),
        readable: Iterable[Path] = (),
        masked: Iterable[Path] = (),
        read_only: bool = False,
        network: bool = True,
    ) -> Box:
        """The walls for one command.

        `writable` and `readable` are folders approved for it, `masked` files it must not read.
        """
        rung = await self.ready()
        if rung == "none":
            return Box(rung=rung)
        online = network and self.settings.network
        if not online and not self._can_go_offline(rung):
            raise ToolError(
                "The network is off for commands, but this machine cannot switch it off for one."
                " The user can allow it with sandbox.network, or install bubblewrap."
            )
        approved = [*self._explicit, *filter(None, map(self._existing, writable))]
        open_ = approved if read_only else [self._root, *self._git, *self._cache_folders(), *approved]
        box = Box(
            rung=rung,
            writable=_outermost(place for place in open_ if place.exists()),
            readable=(
                *map(self._place, self.settings.readable),
                self._root,
                *filter(None, map(self._existing, readable)),
            ),
            network=online,
            temp=self._temp_folder(),
            mounts=rung != "landlock" or self._has_mounts(),
        )
        if not box.mounts:
            # Too many programs insist on the system's own temporary folders to go without them.
            return replace(box, writable=(*box.writable, *TEMP_FOLDERS))
        return replace(
            box,
            protected=() if read_only else tuple(self._protected(approved)),
            pinned=() if read_only else tuple(self._pinned()),
            hidden=tuple(self._hidden(masked)),
        )

    def wrap(self, box: Box, argv: Sequence[str], cwd: Path) -> Wrapped:
        """The command as it is started to run within its box."""
        match box.rung:
            case "bubblewrap":
                wrapped = bubblewrap.wrap(box, shutil.which("bwrap") or "bwrap", argv, cwd)
            case "landlock":
                wrapped = landlock.wrap(box, argv)
            case "seatbelt":
                wrapped = seatbelt.wrap(box, argv)
            case "none":
                return Wrapped(argv=tuple(argv))
        return Wrapped(argv=wrapped.argv, env={**wrapped.env, MARK: box.rung}, confinement=wrapped.confinement)

    def absent(self) -> list[Path]:
        """Settings that are not there, and that a command could therefore write. They wait for the user's trust."""
        return [place for place in folders.settings_of(self._directory, self._root) if not os.path.lexists(place)]

    async def describe(self) -> list[str]:
        """The state of things for `tw doctor`, a line each; the first says what is in use."""
        try:
            rung = await self.ready()
        except ToolError as error:
            return [str(error)]
        lines = [_IN_USE[rung]]
        if self._findings is not None:
            lines += self._findings.lines()
        if os.environ.get(MARK):
            lines.append(f"This is itself running in a toolwright sandbox ({os.environ[MARK]}).")
        return lines

    def close(self) -> None:
        """Remove the private temporary folder."""
        if self._temp is not None:
            shutil.rmtree(self._temp, ignore_errors=True)
            self._temp = None

    def _protected(self, approved: Sequence[Path]) -> Iterable[Path]:
        code = folders.git_code([*self._git, self._root / ".git"])
        entry = self._root / ".git"
        settings = folders.settings_of(self._directory, self._root)
        caches = self._caches[1] if self._caches else []
        for place in dict.fromkeys([*code, *settings, *caches, *([entry] if entry.is_file() else [])]):
            if place.exists() and place.resolve() not in approved:
                yield place.resolve()

    def _pinned(self) -> Iterable[Path]:
        """Without a mount of its own a git folder could be moved away, and another put in its place."""
        folders_ = dict.fromkeys([self._root / ".git", *self._git])
        yield from (folder for folder in folders_ if folder.is_dir() and not folder.is_symlink())

    def _hidden(self, masked: Iterable[Path]) -> Iterable[Path]:
        own = self._data / "auth.json"
        places = [*map(self._place, self.settings.hidden), own, *masked]
        for place in dict.fromkeys(place.resolve() for place in places if place.exists()):
            if not self._is_revealed(place):
                yield place

    def _is_revealed(self, place: Path) -> bool:
        names = [str(place), os.path.relpath(place, self._root)]
        return any(matches(name, pattern) for name in names for pattern in self.settings.reveal)

    def _cache_folders(self) -> list[Path]:
        if self._caches is None:
            self._caches = folders.cache_folders(self._home)
        return self._caches[0]

    def _existing(self, place: Path) -> Path | None:
        """The nearest folder that exists, unless that would open far more than was approved."""
        found = next(folder for folder in (place, *place.parents) if folder.is_dir())
        too_wide = found != place and (len(found.parts) <= 2 or found == self._home)
        return None if too_wide or found == EVERYTHING else found

    def _place(self, given: str) -> Path:
        home = given == "~" or given.startswith("~/")
        return (self._home / given[2:] if home else self._root / given).resolve()

    def _temp_folder(self) -> Path:
        if self._temp is None:
            base = self._data / "tmp"
            make_folder(base)
            _remove_abandoned(base)
            self._temp = Path(tempfile.mkdtemp(prefix=f"{os.getpid()}-", dir=base))
        return self._temp

    def _can_go_offline(self, rung: Rung) -> bool:
        return rung != "bubblewrap" or self._findings is None or self._findings.offline

    def _has_mounts(self) -> bool:
        return self._findings is not None and self._findings.mounts


_IN_USE: dict[Rung, str] = {
    "bubblewrap": "Commands run in a sandbox by bubblewrap: they write only where they should.",
    "landlock": "Commands run in a sandbox by Landlock: they write only where they should.",
    "seatbelt": "Commands run in a sandbox by macOS: they write only where they should.",
    "none": "Commands run without a sandbox: they can do whatever you can.",
}


def _git_folders(root: Path) -> list[Path]:
    folder = folders.git_folder(root)
    return [] if folder is None else list(dict.fromkeys([folder, folders.common_folder(folder)]))


def _outermost(places: Iterable[Path]) -> tuple[Path, ...]:
    """Without those that lie in another."""
    distinct = list(dict.fromkeys(places))
    return tuple(
        place for place in distinct if not any(place != other and place.is_relative_to(other) for other in distinct)
    )


def _remove_abandoned(base: Path) -> None:
    """Whoever was killed has left its temporary folder behind."""
    for folder in base.iterdir():
        pid = folder.name.partition("-")[0]
        if pid.isdecimal() and not _is_running(int(pid)):
            shutil.rmtree(folder, ignore_errors=True)


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
