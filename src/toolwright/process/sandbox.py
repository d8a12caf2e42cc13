"""The sandbox: which walls this machine can put up, and the box around each command."""

import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Literal, TypedDict

from toolwright.errors import ToolError
from toolwright.process import folders
from toolwright.process.access import Access, Opened, Surroundings
from toolwright.process.box import SYSTEM, TEMP_FOLDERS, Box, Rung, Shown, Wrapped
from toolwright.process.caches import CacheFolders, cache_folders
from toolwright.process.decoys import SETTINGS, Decoys
from toolwright.process.environment import Withholding, with_git_setting
from toolwright.process.gitfolders import Placeholder
from toolwright.process.guarding import Guarded, Guarding
from toolwright.process.hiding import Hiding
from toolwright.process.holdings import Holdings
from toolwright.process.masks import Masks, Veils
from toolwright.process.rungs import put_up, within
from toolwright.process.scope import Scopes
from toolwright.process.scratch import Scratch
from toolwright.process.selftest import Findings, SelfTest
from toolwright.process.sight import is_folder, is_in, is_there
from toolwright.record import record

MARK = "TOOLWRIGHT_SANDBOX"
"""Set within a box to the name of its rung, so that a program can tell where it is."""
KIN = "opencode"
SCRATCH = "tmp"
_NO_CACHES = CacheFolders()


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
        self._root, self._data = root, data
        self._home = (home or Path.home()).resolve()
        self._self_test = SelfTest(scopes, data)
        self._findings: Findings | None = None
        self._scratch: Scratch | None = None
        self._decoys: Decoys | None = None
        self._caches: CacheFolders | None = None
        self._holdings = Holdings()
        self._explicit = tuple(map(self._place, settings.writable))
        self._readable = tuple(map(self._place, settings.readable))
        own = tuple(dict.fromkeys(place.resolve() for place in (data, *config, data.parent / KIN)))
        self._guarding = Guarding(directory=directory, root=root, explicit=self._explicit)
        self._hiding = Hiding(
            root=root,
            home=self._home,
            own=own,
            hidden=tuple(map(self._place, settings.hidden)),
            reveal=settings.reveal,
            environment=environment,
        )
        programs = (Path(name) for name in environment.get("PATH", os.defpath).split(":") if name)
        self._surroundings = Surroundings(
            root=root,
            home=self._home,
            own=own,
            plans=(data.resolve() / "plans", *(root / name for name in folders.PLANS)),
            programs=tuple(place for place in programs if place.is_absolute()),
        )
        self._walls: tuple[Box, Wrapped] | None = None

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

    async def is_offline(self, access: Access) -> bool:
        """Whether a command would have no network."""
        rung = await self.ready()
        return rung != "none" and self._findings is not None and not self._is_online(rung, access)

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
        findings = self._findings
        if rung == "none" or findings is None:
            return Box(rung="none")
        opened = self._surroundings.opened(access)
        mounts = rung != "landlock" or findings.mounts
        readable = (*self._readable, self._root, *self._programs_in_temp, *access.reads)
        writable = self._writable(access, opened)
        if not mounts:
            # Too many programs insist on the system's own temporary folders to go without them.
            writable = (*writable, *opened.files, *TEMP_FOLDERS)
        return Box(
            rung=rung,
            readable=tuple(filter(is_there, readable)),
            writable=writable,
            network=self._is_online(rung, access),
            temp=self._scratch_folder().temp,
            mounts=mounts,
            anchored=rung in findings.anchored,
            scoped=findings.scoped and rung == "bubblewrap",
            read_only=access.read_only,
            **(self._said_by_mounts(rung, access, opened) if mounts else {}),
        )

    def wrap(self, box: Box, argv: Sequence[str], cwd: Path, *, beside_others: bool = False) -> Wrapped:
        """The command as it is started to run within its box, while other commands run or not."""
        box = self._prepare(box)
        if self._walls is None or self._walls[0] != box:
            # One command is often like the one before, as far as its walls are concerned.
            walls = put_up(box)
            env = {} if box.rung == "none" else {**walls.env, **_git_variables(box), MARK: box.rung}
            self._walls = (box, replace(walls, env=env, temp=None if box.rung == "none" else box.temp))
        return within(self._walls[1], box, argv, cwd, beside_others=beside_others)

    def veil(self, veiled: Sequence[tuple[str, bool]], env: Mapping[str, str]) -> Mapping[str, str]:
        """For commands without mounts: variables by which git keeps back what it has of files with such names."""
        if not any(kept for _, kept in veiled):
            return {}
        own = Path(env.get("XDG_CONFIG_HOME") or self._home / ".config", "git", "attributes")
        try:
            file = self._decoy_maker().attributes(veiled, own.read_bytes() if own.is_file() else b"")
        except (OSError, ToolError):
            # Where nothing can be written a command runs all the same.
            return {}
        return with_git_setting(env, "core.attributesFile", str(file))

    def tidy(self) -> None:
        """When no command runs any more: take away what had to be there for the boxes."""
        self._holdings.release()

    def absent(self) -> list[Path]:
        """Settings that are not there, and that a command could therefore write."""
        return self._guarding.absent()

    @property
    def settings_folders(self) -> list[Path]:
        """Where settings are looked for."""
        return self._guarding.settings_folders

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
        usual = () if access.read_only else (self._root, *self._guarding.git, *self._caches_for(access).writable)
        places = (*usual, *self._explicit, *opened.folders, *(() if access.read_only else access.spared))
        return tuple(filter(is_there, dict.fromkeys(places)))

    def _said_by_mounts(self, rung: Rung, access: Access, opened: Opened) -> "SaidByMounts":
        """All that only mounts can say."""
        caches = self._caches_for(access)
        made = [one.path for one in opened.made]
        wanted = (place for place in opened.files if not is_in(place, caches.places))
        files = tuple(place for place in wanted if is_there(place) or place in made)
        decoys = self._decoy_maker()
        hidden = self._hiding.look(access, files, decoys, shared=caches.places, sockets=rung != "seatbelt")
        guarded = self._guarding.look(access.repositories) if not access.read_only else Guarded()
        named = self._guarding.of_git((*access.changes, *access.deletes))
        guarded = guarded.without(named)
        ours = [one.path for one in guarded.placeholders if one.content is None]
        repositories = self._guarding.repositories(access.repositories)
        views = [view for git in repositories for view in decoys.git_view(*git, hidden.masked, access.veiled, ours)]
        said: SaidByMounts = {
            "granted": files,
            "made": tuple(one for one in opened.made if one.path in files),
            "beside": tuple(opened.kept),
            "closed": hidden.closed,
            "nothing": decoys.nothing(),
            "kept": hidden.kept,
            "hidden": hidden.hidden,
            "covered": access.covered,
            "replaced": (*hidden.replaced, *(view for view in views if not is_in(view.target, named))),
            "settings": SETTINGS if any(view.target in named for view in views) else (),
        }
        if not access.read_only:
            said["private"] = caches.private
            said["protected"] = (*guarded.protected, *caches.protected)
            said["placeholders"] = guarded.placeholders
            said["ruled"] = access.locked
            said["pinned"] = (*guarded.pinned, *access.pinned)
        return said

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

    @cached_property
    def _programs_in_temp(self) -> tuple[Path, ...]:
        """Programs that lie in a temporary folder must not go with it. Looked for once."""
        found = (place for place in self._surroundings.programs if not is_in(place, SYSTEM))
        return tuple(dict.fromkeys(place for one in found for place in _temporary(one)))

    def _caches_for(self, access: Access) -> CacheFolders:
        if access.read_only or not access.caches:
            return _NO_CACHES
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


class SaidByMounts(TypedDict, total=False):
    """The fields of a box that take mounts."""

    granted: tuple[Path, ...]
    made: tuple[Placeholder, ...]
    beside: tuple[Path, ...]
    closed: tuple[Path, ...]
    nothing: Path
    kept: tuple[Path, ...]
    hidden: tuple[Path, ...]
    covered: tuple[Path, ...]
    replaced: tuple[Shown, ...]
    settings: tuple[tuple[str, str], ...]
    private: tuple[Shown, ...]
    protected: tuple[Path, ...]
    placeholders: tuple[Placeholder, ...]
    ruled: tuple[Path, ...]
    pinned: tuple[Path, ...]


def _git_variables(box: Box) -> dict[str, str]:
    """Settings of git by variables."""
    found = dict[str, str]()
    before = Withholding().apply(os.environ) if box.settings else {}
    for name, value in box.settings:
        found |= with_git_setting({**before, **found}, name, value)
    return found


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
