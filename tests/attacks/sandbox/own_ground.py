"""What is ours, laid out in one way, and a hostile program let loose on all of it: the outcome as JSON.

Run in a process of its own, so that the same can be tried as root and as an ordinary user, and by an interpreter that
the project holds.
"""

import asyncio
import json
import os
import stat
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from toolwright.machine.folders import Folders
from toolwright.machine.own_files import Ours
from toolwright.process.box.access import Access
from toolwright.process.running.output import OutputReader, ProgramOutput
from toolwright.process.running.scope import Program, Scopes
from toolwright.process.sandbox.sandbox import Sandbox, SandboxSettings

SECRET = "SECRET of ours"
HOSTILE = Path(__file__).with_name("hostile.py")
OF_A_BOX = ("tmp", "caches", "set-aside", "sandbox.json")
"""What of our data changes with every command."""


def environment_of(kind: str, base: Path) -> tuple[Path, dict[str, str]]:
    """Return the project and the variables of one way to lay things out."""
    home, project = base / "home", base / "project"
    environment = {"HOME": str(home), "PATH": "/usr/local/bin:/usr/bin:/bin"}
    match kind:
        case "beside" | "installed in the project" | "editable in the project":
            pass
        case "the home as project" | "nothing is there yet":
            project = home
        case "the home as project, by links":
            project = home
            for name in (".config/toolwright", ".local/share/toolwright", ".local/state"):
                (base / "elsewhere" / name).mkdir(parents=True)
                (home / name).parent.mkdir(parents=True, exist_ok=True)
                (home / name).symlink_to(base / "elsewhere" / name)
            (home / "dotfiles" / "opencode").mkdir(parents=True)
            (home / ".config" / "opencode").symlink_to("../dotfiles/opencode")
        case "by variables in the project":
            for name in ("DATA", "STATE", "CACHE", "CONFIG"):
                environment[f"XDG_{name}_HOME"] = str(project / "xdg" / name.lower())
            environment["TOOLWRIGHT_CONFIG"] = str(project / "own.json")
            environment["RAY_AUTH_TOKEN_PATH"] = str(project / "deep" / "token")
        case "in a copy of a project":
            project = Folders.of(environment).copies / "odd-name" / "work" / "project"
        case _:
            raise ValueError(kind)
    for folder in (home, project):
        folder.mkdir(parents=True, exist_ok=True)
    return project, environment


def fill(ours: Ours, project: Path) -> None:
    for folder in ours.closed:
        for name in ("keys.json", "deep/er/keys.json"):
            file = folder / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(SECRET)
    if project.is_relative_to(ours.folders.copies):
        for name in BESIDE_A_COPY:
            file = project.parents[1] / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(SECRET)
    for file in (*ours.secrets, *ours.settings):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("{}" if file in ours.settings else SECRET)


BESIDE_A_COPY = ("copy.json", "base.git/config", "base.git/info/attributes")


def targets_of(ours: Ours, project: Path) -> list[Path]:
    """Return everything on the list that a program could have a try at, and what holds it."""
    installed = [place for place in ours.installation if place.is_relative_to(project)]
    inside = [
        *(place / "lib" / "evil.py" for place in installed),
        *(place / "bin" / "tw" for place in installed),
        Path(sys.modules["toolwright"].__file__ or "").parent / "version.py",
    ]
    closed = [folder / name for folder in ours.closed for name in ("keys.json", "deep/er/keys.json", "new.json", "")]
    beside = [project.parents[1] / name for name in BESIDE_A_COPY if project.is_relative_to(ours.folders.copies)]
    return [*closed, *ours.secrets, *ours.settings, *inside, *installed, *beside, *ours.links]


def state_of(places: Sequence[Path], project: Path, *, modes: bool) -> dict[str, Any]:
    """Return all of it in a form that compares, with or without what Landlock alone does not keep.

    A project in one of these places is left out.
    """
    found = dict[str, Any]()
    for place in places:
        for path in _all_below(place, project):
            status = path.lstat()
            content = path.read_bytes().hex()[:400] if stat.S_ISREG(status.st_mode) else ""
            content = str(path.readlink()) if path.is_symlink() else content
            kept = [stat.S_IMODE(status.st_mode), status.st_uid, status.st_mtime_ns] if modes else []
            found[str(path)] = [status.st_ino, status.st_nlink, *kept, content]
    return found


def _all_below(place: Path, project: Path) -> Iterator[Path]:
    if not os.path.lexists(place):
        return
    yield place
    if place.is_dir() and not place.is_symlink():
        for entry in sorted(place.iterdir()):
            if entry.name not in OF_A_BOX and entry.name != "__pycache__" and entry != project:
                yield from _all_below(entry, project)


async def run(
    sandbox: Sandbox, scopes: Scopes, access: Access, project: Path, base: Path, env: Mapping[str, str]
) -> str:
    """Run the hostile program in a box; what it printed."""
    (project / "hostile.py").write_text(HOSTILE.read_text())
    box = await sandbox.box(access)
    wrapped = sandbox.wrap(
        box, ["/usr/bin/python3", str(project / "hostile.py"), str(project / "targets"), str(base)], project
    )
    scope = await scopes.start(Program.of(wrapped, cwd=project, env=env))
    reader = OutputReader(scope.stdout, ProgramOutput(lambda: Path(os.devnull)))
    try:
        await scope.ended()
        await scope.stop()
    finally:
        reader.close()
        scope.release()
        sandbox.tidy()
    return (reader.output.head + reader.output.tail).decode(errors="replace")


async def main(kind: str, rung: str, base: Path) -> dict[str, Any]:
    project, environment = environment_of(kind, base)
    ours = Ours.of(environment)
    if kind != "nothing is there yet":
        fill(ours, project)
    targets = targets_of(ours, project)
    scopes = Scopes()
    mode = SandboxSettings(mode="landlock" if rung == "landlock alone" else rung)  # type: ignore[arg-type]
    sandbox = Sandbox(mode, directory=project, root=project, ours=ours, scopes=scopes, environment=environment)
    told = dict[str, Any]()
    try:
        await sandbox.ready()
        if rung == "landlock alone" and sandbox._findings is not None:
            sandbox._findings = replace(sandbox._findings, mounts=False, anchored=())
        inside = [place for place in ours.installation if place.is_relative_to(base)]
        watched = [*ours.closed, *ours.secrets, *ours.settings, *inside, *ours.links]
        await sandbox.box()
        before = state_of(watched, project, modes=rung != "landlock alone")
        # What is allowed is named by what links lead to.
        everything = tuple(place for place in targets if place not in ours.links)
        granted = Access(changes=everything, deletes=everything, enters=everything, reads=everything)
        for name, access in {"with nothing allowed": Access(), "with all of it allowed": granted}.items():
            # The project is its own, which it may have emptied before.
            (project / "targets").write_text(json.dumps([str(place) for place in targets]))
            printed = await run(sandbox, scopes, access, project, base, environment)
            after = state_of(watched, project, modes=rung != "landlock alone")
            different = [path for path in before.keys() | after.keys() if before.get(path) != after.get(path)]
            told[name] = {"printed": printed, "different": sorted(different)}
    finally:
        await scopes.close()
        sandbox.close()
    return told


if __name__ == "__main__":
    json.dump(asyncio.run(main(sys.argv[1], sys.argv[2], Path(sys.argv[3]))), sys.stdout)
