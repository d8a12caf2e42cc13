"""The sandbox: which walls this machine can put up, and the box around each command."""

import os
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Literal

from toolwright.errors import ToolError
from toolwright.process import bubblewrap, doors, folders, landlock, seatbelt
from toolwright.process.access import Access, Opened, Surroundings
from toolwright.process.box import SYSTEM, TEMP_FOLDERS, Box, Rung, Shown, Wrapped
from toolwright.process.caches import CacheFolders, cache_folders
from toolwright.process.decoys import Decoys
from toolwright.process.gitfolders import Placeholder, git_code, git_folders, trees
from toolwright.process.holdings import Holdings
from toolwright.process.masks import Masks, Veils
from toolwright.process.scope import Scopes
from toolwright.process.scratch import Scratch
from toolwright.process.selftest import Findings, SelfTest
from toolwright.process.sight import is_folder, is_there
from toolwright.record import record
from toolwright.wildcard import matches

MARK = "TOOLWRIGHT_SANDBOX"
"""Set within a box to the name of its rung, so that a program can tell where it is."""
KIN = "opencode"
SCRATCH = "tmp"


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
    hidden: tuple[str, ...] = ()
    """Further places that no command gets to see, whatever the rules say."""


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
        config: Sequence[Path] = (),
        environment: Mapping[str, str] = os.environ,
    ) -> None:
        """`directory` is the folder opened and `root` its project, both canonical.

        `data` is the program's own folder, `config` those that its settings are kept in.
        """
        self.settings = settings
        # With the home folder as project, the masks made for one command would be masked for the next, and so on.
        self.masks = Masks(root, closed=[data.resolve() / SCRATCH])
        self.veils = Veils()
        self._directory, self._root, self._data = directory, root, data
        self._home = (home or Path.home()).resolve()
        self._environment = environment
        self._self_test = SelfTest(scopes, data)
        self._findings: Findings | None = None
        self._scratch: Scratch | None = None
        self._decoys: Decoys | None = None
        self._caches: CacheFolders | None = None
        self._holdings = Holdings()
        # Looked up once: a command could write a `.git` file that points elsewhere.
        self._git = git_folders(root)
        self._explicit = tuple(self._place(given) for given in settings.writable)
        own = [data, *config, data.parent / KIN]
        self._own = tuple(dict.fromkeys(place.resolve() for place in own))
        programs = (Path(name) for name in environment.get("PATH", os.defpath).split(":") if name)
        self._surroundings = Surroundings(
            root=root,
            home=self._home,
            own=self._own,
            plans=(data.resolve() / "plans", *(root / name for name in folders.PLANS)),
            programs=tuple(place for place in programs if place.is_absolute()),
        )

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

    async def keeps_all(self) -> bool:
        """Whether boxes keep rules too, and have temporary folders of their own: not where there are no mounts."""
        rung = await self.ready()
        return rung == "bubblewrap" or (rung == "landlock" and self._findings is not None and self._findings.mounts)

    @property
    def shows_all(self) -> bool:
        """Whether commands may read the whole machine, but for what is hidden."""
        return "/" in self.settings.readable

    @property
    def is_anchored(self) -> bool:
        """Whether commands hang on one process each, as far as is known."""
        return self._findings is not None and self.settings.mode != "off" and bool(self._findings.anchored)

    def is_temporary_elsewhere(self, place: Path) -> bool:
        """Whether a path in a temporary folder leads to something that is there outside, and not in commands' own."""
        for folder in TEMP_FOLDERS:
            if place.is_relative_to(folder) and not place.is_relative_to(self._root):
                own = self._scratch_folder().temp / place.relative_to(folder)
                return next((one for one in (place, *place.parents) if is_there(one)), folder) != folder and not (
                    is_there(own) or (is_there(own.parent) and own.parent != self._scratch_folder().temp)
                )
        return False

    def distrust(self) -> None:
        """Forget what was found out about this machine: something that worked no longer does."""
        self._findings = None
        self._self_test.forget()

    async def box(self, access: Access = Access()) -> Box:  # noqa: B008 - frozen
        """The walls for one command."""
        rung = await self.ready()
        if rung == "none":
            return Box(rung=rung)
        findings = self._findings
        box = Box(
            rung=rung,
            readable=(*map(self._place, self.settings.readable), self._root, *self._programs_in_temp, *access.reads),
            network=self._is_online(rung, access),
            temp=self._scratch_folder().temp,
            mounts=rung != "landlock" or (findings is not None and findings.mounts),
            anchored=findings is not None and rung in findings.anchored,
            scoped=findings is not None and findings.scoped and rung == "bubblewrap",
            read_only=access.read_only,
        )
        opened = self._surroundings.opened(access)
        box = replace(box, writable=self._writable(access, opened))
        if not box.mounts:
            # Too many programs insist on the system's own temporary folders to go without them.
            return replace(box, writable=(*box.writable, *opened.files, *TEMP_FOLDERS))
        return self._with_mounts(box, access, opened)

    def wrap(self, box: Box, argv: Sequence[str], cwd: Path) -> Wrapped:
        """The command as it is started to run within its box."""
        box = self._prepare(box)
        match box.rung:
            case "bubblewrap":
                wrapped = bubblewrap.wrap(box, shutil.which("bwrap") or "bwrap", argv, cwd)
            case "landlock":
                wrapped = landlock.wrap(box, argv)
            case "seatbelt":
                wrapped = seatbelt.wrap(box, argv)
            case "none":
                return Wrapped(argv=tuple(argv), disk=(cwd,))
        return replace(wrapped, env={**wrapped.env, MARK: box.rung}, disk=(cwd, box.temp), temp=box.temp)

    def tidy(self) -> None:
        """When no command runs any more: take away what had to be there for the boxes."""
        self._holdings.release()

    def absent(self) -> list[Path]:
        """Settings that are not there, and that a command could therefore write."""
        return [place for place in self._settings_places if not os.path.lexists(place)]

    def set_aside(self, absent: Iterable[Path]) -> list[tuple[str, Path]]:
        """Settings that were not there and now are, each with where it was moved to have no effect."""
        found = [place for place in absent if os.path.lexists(place)]
        moved = [(place.name, folders.set_aside(place, self._data / "set-aside")) for place in found]
        return [(name, target) for name, target in moved if target is not None]

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
        """Remove the private temporary folder, and whatever else was only there for commands."""
        self.tidy()
        self._decoys = None
        if self._scratch is not None:
            self._scratch.close()
            self._scratch = None

    def _writable(self, access: Access, opened: Opened) -> tuple[Path, ...]:
        usual = [] if access.read_only else [self._root, *self._git, *self._cache_folders().writable]
        places = [*usual, *self._explicit, *opened.folders, *(() if access.read_only else access.spared)]
        return tuple(dict.fromkeys(place for place in places if is_there(place)))

    def _with_mounts(self, box: Box, access: Access, opened: Opened) -> Box:
        """The same with all that only mounts can say."""
        shared = () if access.read_only else self._cache_folders().places
        wanted = (place for place in opened.files if not any(place.is_relative_to(cache) for cache in shared))
        made = [one.path for one in opened.made]
        files = tuple(place for place in wanted if is_there(place) or place in made)
        hidden = [place for place in self._hidden(access) if place not in files]
        closed = self._closed([place for place in hidden if is_folder(place)])
        masked = [place for place in hidden if not is_folder(place)]
        sockets = doors.sockets_elsewhere([*closed, *TEMP_FOLDERS], self._root) if box.rung != "seatbelt" else []
        decoys = self._decoy_maker()
        empty = [Shown(decoys.empty(), place) for place in (*access.covered, *self._unless_revealed(sockets))]
        box = replace(
            box,
            granted=files,
            made=tuple(one for one in opened.made if one.path in files),
            beside=tuple(opened.kept),
            closed=tuple(closed),
            kept=tuple(self._kept(closed, access)),
            hidden=tuple(hidden),
            covered=access.covered,
            replaced=(*filter(None, map(decoys.of_file, masked)), *empty),
        )
        views = [view for git in self._repositories(access) for view in decoys.git_view(*git, masked, access.veiled)]
        box = replace(box, replaced=(*box.replaced, *views))
        if access.read_only:
            return box
        code = git_code(self._git_places(access))
        missing = [*code.missing, *self._missing_settings()]
        protected = [*self._protected(code.there, missing), *self._cache_folders().protected]
        return replace(
            box,
            private=self._cache_folders().private,
            protected=tuple(dict.fromkeys(protected)),
            placeholders=tuple(one for one in missing if not self._is_explicit(one.path)),
            ruled=access.locked,
            pinned=tuple(dict.fromkeys([*self._pinned(access), *access.pinned])),
        )

    def _prepare(self, box: Box) -> Box:
        """What boxes need to be there is made as late as can be; where we may make nothing, neither may a command."""
        failed = set[Path]()
        for placeholder in box.placeholders:
            try:
                self._holdings.hold(placeholder)
            except OSError:
                failed.add(placeholder.path)
        for made in box.made:
            try:
                self._holdings.hold(made)
            except OSError as problem:
                raise ToolError(f"{made.path} cannot be made: {problem.strerror}. Choose another place.") from problem
        return replace(box, protected=tuple(one for one in box.protected if one not in failed)) if failed else box

    def _git_places(self, access: Access) -> list[Path]:
        return [*self._git, self._root / ".git", *access.repositories]

    def _repositories(self, access: Access) -> Iterator[tuple[Path, Path]]:
        """Each git folder that has the settings of a work tree, with that work tree."""
        if self._git:
            yield self._git[-1], self._root
        yield from ((git, git.parent) for git in access.repositories)

    def _protected(self, code: Sequence[Path], missing: Sequence[Placeholder]) -> Iterator[Path]:
        entry = self._root / ".git"
        settings = self._settings_places
        for place in dict.fromkeys([*code, *settings, *([entry] if entry.is_file() else [])]):
            if is_there(place) and place.resolve() not in self._explicit:
                yield place.resolve()
        yield from (one.path for one in missing if not self._is_explicit(one.path))

    def _is_explicit(self, place: Path) -> bool:
        return bool(self._explicit) and place.resolve() in self._explicit

    def _missing_settings(self) -> Iterator[Placeholder]:
        """The folders of settings: an empty one is seen neither by git nor by `ls`, as an empty file would be."""
        for place in self._settings_places:
            if place.name in folders.SETTINGS_FOLDERS and Placeholder(path=place).fits():
                yield Placeholder(path=place)

    def _pinned(self, access: Access) -> Iterator[Path]:
        """Without a mount of its own a git folder could be moved away, and another put in its place."""
        for folder in dict.fromkeys([self._root / ".git", *self._git, *access.repositories]):
            if is_folder(folder) and not folder.is_symlink():
                yield folder
                yield from trees(folder)

    def _hidden(self, access: Access) -> list[Path]:
        places = [*map(self._place, self.settings.hidden), *access.hidden]
        found = dict.fromkeys(place.resolve() for place in places if is_there(place))
        return list(self._unless_revealed(found))

    def _closed(self, hidden: Sequence[Path]) -> list[Path]:
        own = (place for place in self._own if is_folder(place))
        return list(dict.fromkeys([*own, *self._doors[0], *hidden]))

    def _kept(self, closed: Sequence[Path], access: Access) -> Iterator[Path]:
        """What is shown in a closed folder: of ours only what may be, if it was asked for; of others what is needed."""
        asked = [place for place in access.reads if not self._is_own(place) or _is_in(place, self._shown)]
        for place in dict.fromkeys([*asked, *self._doors[1], *self._skills]):
            if _is_in(place.parent, closed) and is_there(place) and not place.is_symlink():
                yield place

    @cached_property
    def _doors(self) -> tuple[list[Path], list[Path]]:
        """Folders of sockets, and what is shown of them all the same. Looked for once."""
        revealed = [Path(pattern) for pattern in self.settings.reveal if pattern.startswith("/")]
        return doors.closed_doors(self._home), [*doors.needed_of_run(self._environment), *revealed]

    @cached_property
    def _settings_places(self) -> tuple[Path, ...]:
        return tuple(folders.settings_of(self._directory, self._root))

    @cached_property
    def _shown(self) -> tuple[Path, ...]:
        return tuple(own / name for own in self._own for name in folders.SHOWN_OF_OURS)

    @cached_property
    def _skills(self) -> tuple[Path, ...]:
        """Where skills keep what they speak of, which commands run."""
        return tuple(place for place in self._shown if place.name.startswith("skill"))

    def _is_own(self, place: Path) -> bool:
        return _is_in(place, self._own)

    def _unless_revealed(self, places: Iterable[Path]) -> Iterator[Path]:
        for place in places:
            names = [str(place), os.path.relpath(place, self._root)]
            if not any(matches(name, pattern) for name in names for pattern in self.settings.reveal):
                yield place

    @cached_property
    def _programs_in_temp(self) -> tuple[Path, ...]:
        """Programs that lie in a temporary folder must not go with it. Looked for once."""
        found = (place for place in self._surroundings.programs if not _is_in(place, SYSTEM))
        return tuple(dict.fromkeys(place for one in found for place in _temporary(one)))

    def _cache_folders(self) -> CacheFolders:
        if self._caches is None:
            own = self._data / "caches"
            writable = os.access(next(place for place in (own, *own.parents) if is_there(place)), os.W_OK)
            self._caches = cache_folders(self._home, own if writable else self._scratch_folder().path / "caches")
        return self._caches

    def _is_online(self, rung: Rung, access: Access) -> bool:
        can_go_offline = rung != "bubblewrap" or self._findings is None or self._findings.offline
        online = access.network and self.settings.network
        if not online and not can_go_offline:
            raise ToolError(
                "The network is off for commands, but this machine cannot switch it off for one."
                " The user can allow it with sandbox.network, or install bubblewrap."
            )
        return online and not (access.better_offline and can_go_offline)

    def _place(self, given: str) -> Path:
        home = given == "~" or given.startswith("~/")
        return (self._home / given[2:] if home else self._root / given).resolve()

    def _scratch_folder(self) -> Scratch:
        if self._scratch is None:
            self._scratch = Scratch(self._data / SCRATCH)
        return self._scratch

    def _decoy_maker(self) -> Decoys:
        if self._decoys is None:
            self._decoys = Decoys(self._scratch_folder().masks)
        return self._decoys


_IN_USE: dict[Rung, str] = {
    "bubblewrap": "Commands run in a sandbox by bubblewrap: they write only where they should.",
    "landlock": "Commands run in a sandbox by Landlock: they write only where they should.",
    "seatbelt": "Commands run in a sandbox by macOS: they write only where they should.",
    "none": "Commands run without a sandbox: they can do whatever you can.",
}


def _is_in(place: Path, folders_: Iterable[Path]) -> bool:
    """By their texts, which for canonical paths is many times faster than `is_relative_to`; asked at every command."""
    text = f"{place}/"
    return any(text.startswith(f"{str(folder).rstrip('/')}/") for folder in folders_)


def _temporary(folder: Path) -> Iterator[Path]:
    """What of a folder of programs, or of what its links lead to, lies in a temporary one."""
    try:
        with os.scandir(folder) as entries:
            links = [os.path.realpath(entry.path) for entry in entries if entry.is_symlink()]
    except OSError:
        return
    for real in (folder.resolve(), *(Path(link).parent for link in links)):
        if any(real.is_relative_to(temp) and real != temp for temp in TEMP_FOLDERS) and is_folder(real):
            # What a program needs lies beside the folder it is in.
            yield real.parent if real.name in ("bin", "sbin") and real.parent not in TEMP_FOLDERS else real
