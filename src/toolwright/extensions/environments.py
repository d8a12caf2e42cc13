"""The environments in which Python and JavaScript files run: made once, usable later without a network."""

import asyncio
import fcntl
import hashlib
import json
import os
import re
import shutil
import sys
import sysconfig
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from toolwright.deadline import time_limit
from toolwright.errors import ToolError
from toolwright.machine.folders import Folders
from toolwright.machine.private_files import open_private
from toolwright.process.programs.lookup import Lookup
from toolwright.process.programs.nodejs import EXTRA, newest_node, npm_command
from toolwright.process.running.child import run_child
from toolwright.protocols.json_text import read_json
from toolwright.record import record

HOST = Path(__file__).with_name("python_host.py")
JAVASCRIPT_HOST = Path(__file__).with_name("javascript") / "host.mjs"
OWN_PLUGIN = "@opencode-ai/plugin"
OLDEST_NODE = 20
INSTALLING = 600.0
"""Seconds for the packages of an environment to be installed."""
PAUSE = 0.1
"""Seconds between two looks whether another process has made the environment."""
_HEADER = re.compile(r"(?m)^# /// script\s*$\s(?P<content>(^#(| .*)$\s)+)^# ///$")


@record(frozen=True, slots=True, kw_only=True)
class Needs:
    """Requirements of a Python file beside the standard library."""

    requirements: tuple[str, ...] = ()
    python: str = ""

    @property
    def key(self) -> str:
        if not self.requirements and not self.python:
            return ""
        marks = json.dumps([self.requirements, self.python, sysconfig.get_python_version(), sys.platform])
        return hashlib.sha256(marks.encode()).hexdigest()[:20]


def needs_of(file: Path, text: str) -> Needs:
    """Return the needs in a file's header (PEP 723) or requirements.txt beside it. ToolError for a broken header."""
    match = _HEADER.search(text)
    if match is None:
        beside = file.parent / "requirements.txt"
        lines = beside.read_text("utf-8").splitlines() if beside.is_file() else []
        return Needs(requirements=tuple(line.strip() for line in lines if line.strip() and line.strip()[0] != "#"))
    import tomllib

    lines = [line[2:] if line.startswith("# ") else line[1:] for line in match["content"].splitlines()]
    try:
        header = tomllib.loads("\n".join(lines))
    except tomllib.TOMLDecodeError as error:
        raise ToolError(f"{file}:1: the block `# /// script` is no TOML: {error}.") from error
    wanted = header.get("dependencies", [])
    if not isinstance(wanted, list) or not all(isinstance(one, str) for one in wanted):
        raise ToolError(f"{file}:1: `dependencies` in the block `# /// script` must be a list of texts.")
    return Needs(requirements=tuple(wanted), python=str(header.get("requires-python", "")))


async def python_command(
    needs: Needs, folders: Folders, lookup: Lookup, environment: Mapping[str, str]
) -> Sequence[str]:
    """The command of a host in the environment that fits; made first if it is not there."""
    started = ["-P", str(HOST), str(Path(__file__).parents[2])]
    if not needs.key:
        return [sys.executable, *started]
    place = folders.data / "environments" / needs.key
    python = place / "bin" / "python"
    if not (place / "complete").exists():
        async with in_time("The packages that it needs"), alone(place.parent / f"{place.name}.lock"):
            if not (place / "complete").exists():
                await _make_environment(place, needs, lookup, lookup.around(environment))
    return [str(python), *started]


async def _make_environment(place: Path, needs: Needs, lookup: Lookup, environment: Mapping[str, str]) -> None:
    await asyncio.to_thread(shutil.rmtree, place, ignore_errors=True)
    uv = lookup.find("uv")
    python = str(place / "bin" / "python")
    if uv:
        wanted = ["--python", needs.python] if needs.python else ["--python", sys.executable]
        await run_step([uv, "venv", *wanted, str(place)], environment)
        install = [uv, "pip", "install", "--python", python]
    else:
        await run_step([sys.executable, "-P", "-m", "venv", str(place)], environment)
        install = [python, "-P", "-m", "pip", "install", "--disable-pip-version-check", "--no-input", "-q"]
    if needs.requirements:
        # Not as arguments, which everybody can see: an address of a package may have a password in it.
        with open_private(place / "requirements.txt") as stream:
            stream.write("\n".join(needs.requirements).encode())
        await run_step([*install, "-r", str(place / "requirements.txt")], environment)
    (place / "complete").write_text(json.dumps(needs.requirements))


@asynccontextmanager
async def in_time(what: str) -> AsyncIterator[None]:
    """Give what is done inside the time that an installation has."""
    try:
        async with time_limit(INSTALLING):
            yield
    except TimeoutError:
        raise ToolError(f"{what} were not installed within {INSTALLING:g} seconds.", "timeout") from None


@asynccontextmanager
async def alone(file: Path) -> AsyncIterator[None]:
    """Two processes that want the same environment make it once."""
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with file.open("w") as lock:
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                await asyncio.sleep(PAUSE)
        yield


async def run_step(argv: Sequence[str], environment: Mapping[str, str], cwd: Path | None = None) -> str:
    """Run one step of an installation and return what it printed; who gives up waiting for it ends it."""
    step = " ".join(argv[:4])
    try:
        ran = await run_child(argv, env={**os.environ, **environment}, cwd=cwd, seconds=None)
    except OSError as error:
        raise ToolError(f"{step} could not be run: {error}.") from error
    if ran.code:
        text = (ran.err or ran.out).decode("utf-8", "replace")
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        raise ToolError(f"{step} failed: {lines[-1] if lines else f'code {ran.code}'}")
    return ran.out.decode("utf-8", "replace")


async def javascript_runtime(lookup: Lookup) -> str:
    """Return bun if it is there, else the newest node there is. ToolError if there is neither."""
    runtime = lookup.find("bun") or await newest_node(lookup)
    if runtime is not None:
        return runtime
    fault = lookup.why_not("bun") or lookup.why_not("node")
    nothing = f"{fault}, so it is not run." if fault else "Neither bun nor node is on the PATH."
    raise ToolError(
        f"{nothing} pip install '{EXTRA}' brings a node; so does installing bun, or node {OLDEST_NODE} or newer.",
        "missing",
    )


async def javascript_command(folders: Sequence[Path], lookup: Lookup, environment: Mapping[str, str]) -> Sequence[str]:
    """The command of the host for JavaScript, once the packages of the config folders are installed."""
    runtime = await javascript_runtime(lookup)
    for folder in folders:
        async with in_time(f"The packages of {folder / 'package.json'}"):
            await _install_packages(folder, lookup, lookup.around(environment))
    quiet = [] if runtime.endswith("bun") else ["--no-warnings"]
    return [runtime, *quiet, str(JAVASCRIPT_HOST)]


async def _install_packages(folder: Path, lookup: Lookup, environment: Mapping[str, str]) -> None:
    """Install what package.json depends on, without its scripts; nothing if it is there already."""
    file = folder / "package.json"
    if not file.is_file():
        return
    try:
        manifest: Any = read_json(file.read_text("utf-8"))
    except ValueError as error:
        raise ToolError(f"{file} is no JSON: {error}.") from error
    wanted = manifest.get("dependencies", {}) if isinstance(manifest, dict) else {}
    if not isinstance(wanted, dict) or not set(wanted) - {OWN_PLUGIN}:
        return
    mark, stamp = folder / "node_modules" / ".toolwright", hashlib.sha256(file.read_bytes()).hexdigest()
    if mark.is_file() and mark.read_text() == stamp:
        return
    if not mark.exists() and all((folder / "node_modules" / name).is_dir() for name in wanted if name != OWN_PLUGIN):
        return
    bun, npm = lookup.find("bun"), npm_command(lookup)
    if bun:
        await run_step([bun, "install", "--ignore-scripts", "--no-save"], environment, folder)
    elif npm:
        await run_step(
            [*npm, "install", "--ignore-scripts", "--no-audit", "--no-fund", "--no-save"], environment, folder
        )
    else:
        raise ToolError(
            f"{file} needs packages, but neither bun nor npm is on the PATH. pip install '{EXTRA}' brings npm.",
            "missing",
        )
    mark.parent.mkdir(exist_ok=True)
    mark.write_text(stamp)
