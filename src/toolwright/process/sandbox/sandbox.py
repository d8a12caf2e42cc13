"""The sandbox: which walls this machine can put up, and the box around each command."""

import os
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Literal

from toolwright.errors import ToolError
from toolwright.machine.own_files import Ours
from toolwright.machine.own_ports import noted_ports
from toolwright.machine.private_files import make_folder
from toolwright.process.box.access import Access, ProjectPaths
from toolwright.process.box.box import SYSTEM, TEMP_FOLDERS, Box, Rung, Wall, Wrapped, walls
from toolwright.process.box.caches import CacheFolders, cache_folders
from toolwright.process.box.decoys import Decoys
from toolwright.process.box.hidden_paths import Hiding
from toolwright.process.box.mechanisms import put_up, within
from toolwright.process.box.mount_plan import Mounted, Mounting
from toolwright.process.box.own_paths import OwnPlaces
from toolwright.process.box.read_only_paths import Guarding
from toolwright.process.paths import settings_paths
from toolwright.process.paths.masks import Masks, Veils
from toolwright.process.paths.placeholders import Holdings
from toolwright.process.paths.safe_stat import is_folder, is_in, is_there, place_named
from toolwright.process.programs.environment import Withholding, with_git_setting
from toolwright.process.programs.lookup import Lookup
from toolwright.process.running.scope import Scopes
from toolwright.process.sandbox.scratch import Scratch
from toolwright.process.sandbox.self_test import SandboxFindings, SelfTest
from toolwright.record import record

MARK = "TOOLWRIGHT_SANDBOX"
"""Set within a box to the name of its rung, so that a program can tell where it is."""
SCRATCH = "tmp"
_NO_CACHES = CacheFolders()


Holding = Literal["", "namespace", "gate", "proxy"]
"""The thing that holds commands to destinations; empty for nothing, `proxy` where a box leads to our port alone."""


@record(frozen=True, slots=True, kw_only=True)
class SandboxSettings:
    """The user's wishes for the sandbox."""

    mode: Literal["auto", "bubblewrap", "landlock", "seatbelt", "off"] = "auto"
    writable: tuple[str, ...] = ()
    """Further places to write, the protected ones among them; `~` is the home folder, the rest is from the root."""
    readable: tuple[str, ...] = ("/",)
    """Places that may be read besides the project; anything else but the system itself is out of sight."""
    network: bool = True
    reveal: tuple[str, ...] = ()
    """Patterns of files that are not hidden although a rule denies to read them."""
    hidden: tuple[str, ...] = ()
    """Further places that no command gets to see, whatever the rules say."""
    capture: bool = True
    """True to keep what commands change as it was, where the machine can tell."""
    own_network: bool = False
    """True for a network of each session's own, where the machine can do that, although no rule asks for it."""


class Sandbox:
    """One for each opened project. Every command of the project runs in a box from here."""

    def __init__(
        self,
        settings: SandboxSettings,
        *,
        directory: Path,
        root: Path,
        ours: Ours,
        scopes: Scopes,
        environment: Mapping[str, str] = os.environ,
        lookup: Lookup | None = None,
    ) -> None:
        """`directory` is the folder opened and `root` its project, both canonical; `lookup` finds programs."""
        self.settings = settings
        data = ours.folders.data
        # With the home folder as project, the masks made for one command would be masked for the next, and so on.
        self.masks = Masks(root, closed=[data.resolve() / SCRATCH])
        self.veils = Veils()
        self._root, self._data = root, data
        self._home = ours.folders.home.resolve()
        self._ours = ours
        project = (directory, root)
        self._lookup = lookup or Lookup.of(environment, project=project, home=self._home, own=ours.closed)
        self._self_test = SelfTest(scopes, data, self._lookup)
        self._findings: SandboxFindings | None = None
        self._scratch: Scratch | None = None
        self._decoys: Decoys | None = None
        self._caches: CacheFolders | None = None
        self._holdings = Holdings()
        self._explicit = tuple(place for place in map(self._place, settings.writable) if not is_in(place, ours.closed))
        self._readable = tuple(map(self._place, settings.readable))
        self._own = OwnPlaces(ours, root=root, explicit=self._explicit)
        plans = data.resolve() / "plans"
        self._guarding = Guarding(directory=directory, root=root, explicit=self._explicit)
        hiding = Hiding(
            root=root,
            home=self._home,
            secrets=self._own.secrets,
            readable=(*ours.shown, plans, ours.folders.outputs_of(root).resolve()),
            hidden=tuple(map(self._place, settings.hidden)),
            reveal=settings.reveal,
            environment=environment,
        )
        self._mounting = Mounting(own=self._own, guarding=self._guarding, hiding=hiding)
        programs = (Path(name) for name in environment.get("PATH", os.defpath).split(":") if name)
        self._surroundings = ProjectPaths(
            root=root,
            home=self._home,
            own=ours.closed,
            fixed=(*self._own.secrets, *self._own.fixed),
            plans=(plans, *(root / name for name in settings_paths.PLANS)),
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
        """Tell whether boxes keep rules too, and have temporary folders of their own: not where there are no mounts."""
        rung = await self.ready()
        return rung == "bubblewrap" or (rung == "landlock" and self._findings is not None and self._findings.mounts)

    async def holds_network_by(self) -> Holding:
        """Return what can hold a command to its session's network: a namespace, or our leader making connections."""
        rung = await self.ready()
        if not self.settings.network or self._findings is None:
            return ""
        if rung in self._findings.anchored:
            return "namespace"
        if rung == "seatbelt":
            return "proxy"
        return "gate" if rung == "landlock" and self._findings.gates else ""

    def captures(self, box: Box) -> bool:
        """Tell whether what a command in this box changes can be seen as it does so."""
        return self.settings.capture and self._findings is not None and box.rung in self._findings.captured

    async def is_offline(self, access: Access) -> bool:
        """Tell whether a command would have no network."""
        rung = await self.ready()
        return rung != "none" and self._findings is not None and not self._is_online(rung, access)

    @property
    def is_anchored(self) -> bool:
        """True if commands hang on one process each, as far as is known."""
        return self._findings is not None and self.settings.mode != "off" and bool(self._findings.anchored)

    @property
    def has_repository(self) -> bool:
        """True if the project was under git when it was opened: then no command has written the settings of that."""
        return bool(self._guarding.git)

    def is_temporary_elsewhere(self, place: Path) -> bool:
        """Tell whether a path in a temporary folder leads to something outside that is not in commands' own."""
        for folder in TEMP_FOLDERS:
            if place.is_relative_to(folder) and not place.is_relative_to(self._root):
                own = self._scratch_folder().temp / place.relative_to(folder)
                return next((one for one in (place, *place.parents) if is_there(one)), folder) != folder and not (
                    is_there(own) or (is_there(own.parent) and own.parent != self._scratch_folder().temp)
                )
        return False

    @property
    def caches(self) -> CacheFolders:
        """The caches of packages as commands have them."""
        return self._caches_for(Access())

    @property
    def temp(self) -> Path:
        """Return the folder that commands in boxes have in the place of the system's temporary one."""
        return self._scratch_folder().temp

    def new_folder(self) -> Path:
        """Make a private folder, which lasts as long as this sandbox unless it is removed before."""
        return Path(tempfile.mkdtemp(dir=self._scratch_folder().path))

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
        brokered = self.settings.capture and rung in findings.brokered
        surroundings = replace(self._surroundings, own=self._own.folders())
        granted = list(surroundings.grants(access, brokered=brokered, by_name=rung == "seatbelt"))
        mounts = rung != "landlock" or findings.mounts
        readable = (*self._readable, self._root, *self._programs_in_temp, *access.reads)
        writable = self._writable(access, granted)
        if not mounts:
            # Too many programs insist on the system's own temporary folders to go without them.
            files = (wall.path for wall in granted if wall.effect == "open")
            writable += walls((*files, *TEMP_FOLDERS), "write")
        return Box(
            rung=rung,
            readable=tuple(filter(is_there, readable)),
            network=access.own_space or self._is_online(rung, access),
            own_space=access.own_space,
            doors=access.doors,
            ports=tuple(noted_ports(self._ours.folders.state)) if rung == "seatbelt" else (),
            temp=self._scratch_folder().temp,
            mounts=mounts,
            anchored=rung in findings.anchored,
            scoped=findings.scoped and rung == "bubblewrap",
            read_only=access.read_only,
            brokered=brokered,
            **self._mounted(rung, access, granted, writable, mounts=mounts, brokered=brokered),
        )

    def wrap(self, box: Box, argv: Sequence[str], cwd: Path, *, beside_others: bool = False) -> Wrapped:
        """The command as it is started to run within its box, while other commands run or not."""
        box = self._prepare(box)
        if self._walls is None or self._walls[0] != box:
            # One command is often like the one before, as far as its walls are concerned.
            wrapped = put_up(box, self._lookup.find("bwrap") or "")
            env = {} if box.rung == "none" else {**wrapped.env, **_git_variables(box), MARK: box.rung}
            self._walls = (box, replace(wrapped, env=env, temp=None if box.rung == "none" else box.temp))
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
        """Return the folders where settings are looked for."""
        return self._guarding.settings_folders

    def set_aside(self, absent: Iterable[Path]) -> list[tuple[str, Path]]:
        """Settings that were not there and now are, each with where it was moved to have no effect."""
        places = [place for place in absent if os.path.lexists(place)]
        moved = [(place.name, settings_paths.set_aside(place, self._data / "set-aside")) for place in places]
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
            if not self.settings.capture:
                lines.append("What commands change is not captured: sandbox.capture is off.")
        lines += self._own.describe(keeps=rung == "seatbelt" or await self.keeps_all())
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

    def _writable(self, access: Access, granted: Sequence[Wall]) -> list[Wall]:
        caches = self._caches_for(access)
        shared = (wall.path for wall in caches.walls if wall.effect == "write")
        usual = () if access.read_only else (self._root, *self._guarding.git, *shared)
        places = dict.fromkeys((*usual, *self._explicit, *(() if access.read_only else access.spared)))
        settings_paths = {wall.path: wall for wall in granted if wall.effect == "write"}
        open_ = [*walls((place for place in places if place not in settings_paths), "write"), *settings_paths.values()]
        return [wall for wall in open_ if is_there(wall.path) or wall.path in caches.missing]

    def _mounted(
        self,
        rung: Rung,
        access: Access,
        granted: Sequence[Wall],
        writable: Sequence[Wall],
        *,
        mounts: bool,
        brokered: bool,
    ) -> Mounted:
        decoys = self._decoy_maker()
        if not mounts:
            return self._mounting.look_without(access, granted, writable, decoys, brokered=brokered)
        caches = self._caches_for(access)
        return self._mounting.look(
            rung, access, granted, writable=writable, caches=caches, decoys=decoys, brokered=brokered
        )

    def _prepare(self, box: Box) -> Box:
        """Make what boxes need to be there, as late as can be; where we may make nothing, neither may a command."""
        failed = set[Path]()
        for placeholder in box.placeholders:
            try:
                self._holdings.hold(placeholder)
            except OSError:
                failed.add(placeholder.path)
        return _without(box, failed) if failed else box

    @cached_property
    def _programs_in_temp(self) -> tuple[Path, ...]:
        """Programs that lie in a temporary folder must not go with it. Looked for once."""
        programs = (place for place in self._surroundings.programs if not is_in(place, SYSTEM))
        return tuple(dict.fromkeys(place for one in programs for place in _temporary(one)))

    def _caches_for(self, access: Access) -> CacheFolders:
        if access.read_only or not access.caches:
            return _NO_CACHES
        if self._caches is None:
            own = self._data / "caches"
            writable = os.access(next(place for place in (own, *own.parents) if is_there(place)), os.W_OK)
            own = own if writable else self._scratch_folder().path / "caches"
            self._caches = cache_folders(self._home, own, self._lookup.find)
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

    def _place(self, path: str) -> Path:
        return place_named(path, home=self._home, root=self._root)

    def _scratch_folder(self) -> Scratch:
        if self._scratch is None:
            self._scratch = Scratch(self._data / SCRATCH)
            # A server may come to keep its secret there while a job runs: what is not there cannot be covered.
            with suppress(OSError):
                make_folder(self._ours.folders.state)
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


def _without(box: Box, places: set[Path]) -> Box:
    """Return a box without what could not be made to be kept or written."""

    def holds(wall: Wall) -> bool:
        if wall.effect == "stay":
            return is_there(wall.path)
        return wall.effect not in ("read", "empty", "write", "own") or wall.path not in places

    return replace(box, walls=tuple(filter(holds, box.walls)))


def _git_variables(box: Box) -> dict[str, str]:
    """Settings of git by variables."""
    variables = dict[str, str]()
    before = Withholding().apply(os.environ) if box.settings else {}
    for name, value in box.settings:
        variables |= with_git_setting({**before, **variables}, name, value)
    return variables


def _temporary(folder: Path) -> Iterator[Path]:
    """Yield what of a folder of programs, or of what its links lead to, lies in a temporary one."""
    try:
        with os.scandir(folder) as entries:
            links = [os.path.realpath(entry.path) for entry in entries if entry.is_symlink()]
    except OSError:
        return
    for real in (folder.resolve(), *(Path(link).parent for link in links)):
        if any(real.is_relative_to(temp) and real != temp for temp in TEMP_FOLDERS) and is_folder(real):
            # What a program needs lies beside the folder it is in.
            yield real.parent if real.name in ("bin", "sbin") and real.parent not in TEMP_FOLDERS else real
