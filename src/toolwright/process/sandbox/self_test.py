"""A test of the kinds of sandbox on this machine: tried out once, remembered until the machine changes."""

import asyncio
import json
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from toolwright.deadline import time_limit
from toolwright.errors import ToolError
from toolwright.machine.private_files import make_folder, open_private
from toolwright.process.box.box import Box, Rung, Wall, Wrapped
from toolwright.process.box.mechanisms import put_up, within
from toolwright.process.keeper.landlock import SCOPES_SINCE
from toolwright.process.keeper.landlock import version as landlock_version
from toolwright.process.keeper.order import Capture
from toolwright.process.programs.lookup import Lookup
from toolwright.process.running.scope import Program, ProgramEnd, Scopes
from toolwright.protocols.json_text import read_json
from toolwright.record import record

PATIENCE = 5.0
"""Seconds for one trial; a sandbox that takes longer is of no use."""
GATES_SINCE = (5, 9)
"""The kernel from which on a descriptor can be given to a program whose call is held."""
SHELL = "/bin/sh"
ROOM = 1 << 16
"""Bytes that may be kept of what a trial changes."""
TRIAL = """
echo in > "$1/project/in" || exit 11
[ "$3" = given ] && { echo given > "$1/given" || exit 15; }
{ echo out > "$1/out"; } 2>/dev/null
[ "$2" = some ] && exit 0
{ read -r word < "$1/project/secret"; } 2>/dev/null && [ "$word" = kept ] && exit 13
{ echo changed > "$1/project/fixed"; } 2>/dev/null && exit 14
exit 0
"""
"""The findings that name kinds."""
VERDICTS = {
    11: "the project could not be written",
    13: "a hidden file could be read",
    14: "a protected file could be written",
    15: "what was approved outside could not be written",
}


@record(frozen=True, slots=True, kw_only=True)
class SandboxFindings:
    """Why each kind does not work here; empty for one that does."""

    bubblewrap: str
    landlock: str
    seatbelt: str
    mounts: bool
    """True if Landlock can also protect parts of the project, hide files and have a temporary folder of its own."""
    offline: bool
    """True if bubblewrap can take the network away."""
    anchored: tuple[str, ...] = ()
    """The kinds that can hang all of a command on one process, with which the kernel ends the rest."""
    scoped: bool = False
    """True if bubblewrap can be kept from processes and nameless sockets outside."""
    captured: tuple[str, ...] = ()
    """The kinds in which what a command changes can be seen as it does so."""
    uncaptured: str = ""
    """Why not in the others."""
    brokered: tuple[str, ...] = ()
    """Those of them in which what was approved outside can be changed for a command, without opening it."""
    unbrokered: str = ""
    """Why not in the others."""

    @property
    def gates(self) -> bool:
        """True if connections can be made in the place of programs where there are no namespaces."""
        return "landlock" in self.captured and kernel() >= GATES_SINCE

    def problem(self, rung: Rung) -> str:
        return str(getattr(self, rung))

    def working(self) -> list[Rung]:
        rungs: tuple[Rung, ...] = ("bubblewrap", "landlock", "seatbelt")
        return [rung for rung in rungs if not self.problem(rung)]

    def lines(self) -> list[str]:
        """Each kind in a sentence."""
        sentences = [f"{rung}: {self.problem(rung) or 'works'}" for rung in ("bubblewrap", "landlock")]
        if sys.platform == "darwin":
            sentences = [f"seatbelt: {self.seatbelt or 'works'}"]
        if not self.landlock and not self.mounts:
            sentences.append(
                "landlock has no namespaces to go with it: it cannot hide files, protect parts of the project,"
                " keep /tmp private, or stop changes of mode and owner"
            )
        if not self.bubblewrap and not self.offline:
            sentences.append("bubblewrap cannot take the network away here")
        if not self.bubblewrap and not self.scoped:
            sentences.append("nameless sockets, such as those of X11, can be reached from within bubblewrap")
        if self.captured:
            sentences.append(f"whatever programs change is captured and can be undone: {', '.join(self.captured)}")
        if self.brokered:
            sentences.append(
                f"what is approved outside the project is changed there by the keeper: {', '.join(self.brokered)}"
            )
        if self.unbrokered:
            sentences.append(f"new names outside the project cannot be made where the keeper cannot: {self.unbrokered}")
        if self.uncaptured:
            sentences.append(f"only what a command's line names can be undone without capture: {self.uncaptured}")
        return sentences


class SelfTest:
    """Tries each kind with a real command; the answers are kept in the data folder, out of the reach of commands."""

    def __init__(self, scopes: Scopes, data: Path, programs: Lookup) -> None:
        self._scopes = scopes
        self._programs = programs
        self._data = data.resolve()
        self._file = data / "sandbox.json"
        self._lock = asyncio.Lock()

    async def findings(self) -> SandboxFindings:
        machine = machine_of(self._programs)
        async with self._lock:
            return self._remembered(machine) or await self._find_out(machine)

    def forget(self) -> None:
        with suppress(OSError):
            self._file.unlink(missing_ok=True)

    def _remembered(self, machine: Mapping[str, Any]) -> SandboxFindings | None:
        try:
            kept: Any = read_json(self._file.read_text("utf-8"))
            findings = kept["findings"] | {
                name: tuple(kept["findings"][name]) for name in ("anchored", "captured", "brokered")
            }
            return SandboxFindings(**findings) if kept["machine"] == machine else None
        except (OSError, ValueError, KeyError, TypeError):
            return None

    async def _find_out(self, machine: Mapping[str, Any]) -> SandboxFindings:
        findings = await (self._try_mac() if sys.platform == "darwin" else self._try_linux())
        text = json.dumps({"machine": machine, "findings": asdict(findings)}, indent=2)
        # Where nothing can be kept, it is found out again the next time.
        with suppress(OSError):
            make_folder(self._data)
            with open_private(self._file) as stream:
                stream.write(text.encode())
        return findings

    async def _try_mac(self) -> SandboxFindings:
        nowhere = "only on Linux"
        problem = await self._try(Box(rung="seatbelt"))
        return SandboxFindings(
            bubblewrap=nowhere,
            landlock=nowhere,
            seatbelt=problem,
            mounts=False,
            offline=True,
            uncaptured="macOS tells nobody what a program is about to change",
        )

    async def _try_linux(self) -> SandboxFindings:
        """Each kind with all it may be capable of first, and then with less and less."""
        bubblewrap, problem = await self._first(_BUBBLEWRAPS)
        offline = "" if problem else await self._try(replace(bubblewrap, network=False))
        landlock, trouble = await self._first(_LANDLOCKS)
        working = [box for box, why in ((bubblewrap, problem), (landlock, trouble)) if not why]
        refusals = {box.rung: await self._try(box, captured=True) for box in working}
        seen = [box for box in working if not refusals[box.rung]]
        unable = {box.rung: await self._try(replace(box, brokered=True), captured=True) for box in seen}
        return SandboxFindings(
            bubblewrap=problem,
            landlock=trouble,
            seatbelt="only on macOS",
            mounts=landlock.mounts,
            offline=not offline,
            anchored=tuple(box.rung for box in working if box.anchored),
            scoped=bubblewrap.scoped and landlock_version() >= SCOPES_SINCE,
            captured=tuple(rung for rung, refusal in refusals.items() if not refusal),
            uncaptured=_first_reason(refusals),
            brokered=tuple(rung for rung, refusal in unable.items() if not refusal),
            unbrokered=_first_reason(unable),
        )

    async def _first(self, boxes: Sequence[Box]) -> tuple[Box, str]:
        """The first that works; or the last, and what is wrong with it."""
        problem = ""
        for box in boxes:
            problem = await self._try(box)
            if not problem:
                return box, ""
        return boxes[-1], problem

    async def _try(self, box: Box, *, captured: bool = False) -> str:
        """Why this kind does not work, or does not when what it changes is captured; empty if it does."""
        if box.rung == "bubblewrap" and self._programs.find("bwrap") is None:
            return self._programs.why_not("bwrap") or "bubblewrap is not installed"
        scratch: Path | None = None
        try:
            scratch = _scratch(self._data)
            return await self._try_in(scratch, box, captured=captured)
        except ToolError as error:
            return str(error)
        except TimeoutError:
            return f"it took longer than {PATIENCE:.0f} seconds"
        finally:
            if scratch is not None:
                shutil.rmtree(scratch, ignore_errors=True)

    async def _try_in(self, scratch: Path, box: Box, *, captured: bool) -> str:
        project, temp = scratch / "project", scratch / "temp"
        secret, fixed = project / "secret", project / "fixed"
        project.mkdir()
        temp.mkdir()
        for file in (secret, fixed):
            file.write_text("kept\n")
        walls = [Wall(project, "write")]
        if box.mounts:
            decoy = scratch / "decoy"
            decoy.touch()
            walls += [Wall(fixed, "read"), Wall(secret, "replace", "hidden", decoy)]
        shell = self._programs.find("sh") or SHELL
        granted = "given" if box.brokered else ""
        walls += [Wall(scratch / granted, "give")] if granted else []
        box = replace(box, walls=tuple(walls), temp=temp)
        argv = [shell, "-c", TRIAL, "trial", str(scratch), "all" if box.mounts else "some", granted]
        async with time_limit(PATIENCE):
            wrapped = within(self._put_up(box), box, argv, project)
            capture: Capture | None = None
            if captured:
                capture = {
                    "store": str(scratch / "captured"),
                    "roots": [str(project)],
                    "room": ROOM,
                    "asks": [],
                    **box.powers(),
                }
            end, printed = await self._run(wrapped, project, capture)
        if (scratch / "out").exists():
            return "a file outside the project could be written"
        if captured and end.code == 0 and not _has_noted(scratch / "captured", project / "in"):
            return "a file that was written was not seen"
        return _verdict(end, printed)

    def _put_up(self, box: Box) -> Wrapped:
        return put_up(box, self._programs.find("bwrap") or "")

    async def _run(self, wrapped: Wrapped, cwd: Path, capture: Capture | None) -> tuple[ProgramEnd, str]:
        env = {"PATH": self._programs.path, **wrapped.env}
        program = replace(Program.of(wrapped, cwd=cwd, env=env), capture=capture)
        scope = await self._scopes.start(program)
        try:
            end = await scope.ended()
            try:
                printed = os.read(scope.stdout, 4096)
            except BlockingIOError:
                printed = b""
        finally:
            scope.release()
        return end, printed.decode("utf-8", "replace")


_BUBBLEWRAPS = tuple(
    Box(rung="bubblewrap", anchored=anchored, scoped=scoped) for anchored in (True, False) for scoped in (True, False)
)
_LANDLOCKS = (
    Box(rung="landlock", anchored=True),
    Box(rung="landlock"),
    Box(rung="landlock", mounts=False),
)


def _scratch(wanted: Path) -> Path:
    """A folder to try things in: in ours if that can be written, for a box has a temporary folder of its own."""
    with suppress(OSError):
        wanted.mkdir(parents=True, exist_ok=True, mode=0o700)
        return _with_room(Path(tempfile.mkdtemp(prefix="selftest-", dir=wanted)))
    try:
        return _with_room(Path(tempfile.mkdtemp(prefix="toolwright-selftest-")).resolve())
    except OSError as problem:
        raise ToolError(f"no folder to try it in could be made: {problem.strerror}") from problem


def _has_noted(store: Path, file: Path) -> bool:
    try:
        lines = (store / "log").read_text("utf-8").splitlines()
        return any(json.loads(line).get("path") == str(file) for line in lines)
    except (OSError, ValueError):
        return False


def _with_room(folder: Path) -> Path:
    """The folder, if a file can be written there: on a full disk folders can be made all the same."""
    try:
        (folder / "room").write_bytes(b"for this")
        (folder / "room").unlink()
    except OSError:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return folder


def _first_reason(refusals: Mapping[Rung, str]) -> str:
    return next((f"{rung}: {refusal}" for rung, refusal in refusals.items() if refusal), "")


def _verdict(end: ProgramEnd, printed: str) -> str:
    first = next(iter(printed.strip().splitlines()), "")
    if not end.ran:
        return first or "it ended before it came to the command"
    if end.code == 0:
        return ""
    return VERDICTS.get(end.code or 0) or f"a trial ended with {end.code or end.signal}: {first}"


def machine_of(programs: Lookup) -> dict[str, Any]:
    """Return what the answers depend on: the kernel, the bubblewrap, who we are, and what confines ourselves."""
    program = programs.find("bwrap")
    stat = Path(program).stat() if program else None
    return {
        "system": [os.uname().sysname, os.uname().release, os.uname().version, os.uname().machine],
        "bubblewrap": [program, stat.st_size, stat.st_mtime_ns] if stat else None,
        "user": os.geteuid(),
        "confined": [
            line for line in _lines("/proc/self/status") if line.startswith(("CapBnd", "NoNewPrivs", "Seccomp:"))
        ],
        "namespace": str(Path("/proc/self/ns/user").readlink()) if sys.platform == "linux" else "",
        "switches": [_lines(path) for path in SWITCHES],
    }


def kernel() -> tuple[int, int]:
    """Return the version of this machine's kernel."""
    match = re.match(r"(\d+)\.(\d+)", os.uname().release)
    return (int(match[1]), int(match[2])) if match else (0, 0)


SWITCHES = (
    "/proc/sys/user/max_user_namespaces",
    "/proc/sys/kernel/unprivileged_userns_clone",
    "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
    "/sys/kernel/security/lsm",
)


def _lines(path: str) -> list[str]:
    try:
        return Path(path).read_text("utf-8").splitlines()
    except OSError:
        return []
