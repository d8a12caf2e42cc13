"""The environments in which Python and JavaScript files run: made once, usable later without a network."""

import asyncio
import fcntl
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from toolwright.errors import ToolError
from toolwright.folders import Folders
from toolwright.jsontext import read_json
from toolwright.record import record

HOST = Path(__file__).with_name("python_host.py")
JAVASCRIPT_HOST = Path(__file__).with_name("javascript") / "host.mjs"
OWN_PLUGIN = "@opencode-ai/plugin"
OLDEST_NODE = 20
PATIENCE = 600
"""Seconds for the packages of an environment to be installed."""
_HEADER = re.compile(r"(?m)^# /// script\s*$\s(?P<content>(^#(| .*)$\s)+)^# ///$")


@record(frozen=True, slots=True, kw_only=True)
class Needs:
    """What a Python file needs beside the standard library."""

    requirements: tuple[str, ...] = ()
    python: str = ""

    @property
    def key(self) -> str:
        if not self.requirements and not self.python:
            return ""
        said = json.dumps([self.requirements, self.python, sysconfig.get_python_version(), sys.platform])
        return hashlib.sha256(said.encode()).hexdigest()[:20]


def needs_of(file: Path, text: str) -> Needs:
    """What the header of a file says (PEP 723), or the requirements.txt beside it. ToolError for a broken header."""
    match = _HEADER.search(text)
    if match is None:
        beside = file.parent / "requirements.txt"
        lines = beside.read_text("utf-8").splitlines() if beside.is_file() else []
        return Needs(requirements=tuple(line.strip() for line in lines if line.strip() and line.strip()[0] != "#"))
    import tomllib

    lines = [line[2:] if line.startswith("# ") else line[1:] for line in match["content"].splitlines()]
    try:
        said = tomllib.loads("\n".join(lines))
    except tomllib.TOMLDecodeError as error:
        raise ToolError(f"{file}:1: the block `# /// script` is no TOML: {error}.") from error
    wanted = said.get("dependencies", [])
    if not isinstance(wanted, list) or not all(isinstance(one, str) for one in wanted):
        raise ToolError(f"{file}:1: `dependencies` in the block `# /// script` must be a list of texts.")
    return Needs(requirements=tuple(wanted), python=str(said.get("requires-python", "")))


async def python_command(needs: Needs, folders: Folders, environment: Mapping[str, str]) -> list[str]:
    """The command of a host in the environment that fits; made first if it is not there."""
    started = ["-P", str(HOST), str(Path(__file__).parents[2])]
    if not needs.key:
        return [sys.executable, *started]
    place = folders.data / "environments" / needs.key
    python = place / "bin" / "python"
    if not (place / "complete").exists():
        await asyncio.to_thread(_make_environment, place, needs, environment)
    return [str(python), *started]


def _make_environment(place: Path, needs: Needs, environment: Mapping[str, str]) -> None:
    place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with _alone(place.parent / f"{place.name}.lock"):
        if (place / "complete").exists():
            return
        shutil.rmtree(place, ignore_errors=True)
        uv = shutil.which("uv", path=environment.get("PATH"))
        python = str(place / "bin" / "python")
        if uv:
            wanted = ["--python", needs.python] if needs.python else ["--python", sys.executable]
            _run([uv, "venv", *wanted, str(place)], environment)
            install = [uv, "pip", "install", "--python", python]
        else:
            _run([sys.executable, "-m", "venv", str(place)], environment)
            install = [python, "-m", "pip", "install", "--disable-pip-version-check", "--no-input", "-q"]
        if needs.requirements:
            _run([*install, *needs.requirements], environment)
        (place / "complete").write_text(json.dumps(needs.requirements))


@contextmanager
def _alone(file: Path) -> Iterator[None]:
    """Two processes that want the same environment make it once."""
    with file.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _run(argv: Sequence[str], environment: Mapping[str, str], cwd: Path | None = None) -> None:
    try:
        done = subprocess.run(
            argv,
            env={**os.environ, **environment},
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ToolError(f"{' '.join(argv[:4])} could not be run: {error}.") from error
    if done.returncode:
        lines = [line.strip() for line in (done.stderr or done.stdout).splitlines() if line.strip()]
        raise ToolError(f"{' '.join(argv[:4])} failed: {lines[-1] if lines else f'code {done.returncode}'}")


def javascript_runtime(environment: Mapping[str, str]) -> str:
    """bun if it is there, else node. ToolError if there is neither."""
    for name in ("bun", "node"):
        if found := shutil.which(name, path=environment.get("PATH")):
            return found
    raise ToolError(f"Neither bun nor node is on the PATH. Install bun, or node {OLDEST_NODE} or newer.", "missing")


async def javascript_command(folders: Sequence[Path], environment: Mapping[str, str]) -> list[str]:
    """The command of the host for JavaScript, once the packages of the config folders are installed."""
    runtime = javascript_runtime(environment)
    for folder in folders:
        await asyncio.to_thread(_install_packages, folder, environment)
    quiet = [] if runtime.endswith("bun") else ["--no-warnings"]
    return [runtime, *quiet, str(JAVASCRIPT_HOST)]


def _install_packages(folder: Path, environment: Mapping[str, str]) -> None:
    """What package.json depends on, without its scripts; nothing if it is there as it was asked for."""
    file = folder / "package.json"
    if not file.is_file():
        return
    try:
        said: Any = read_json(file.read_text("utf-8"))
    except ValueError as error:
        raise ToolError(f"{file} is no JSON: {error}.") from error
    wanted = said.get("dependencies", {}) if isinstance(said, dict) else {}
    if not isinstance(wanted, dict) or not set(wanted) - {OWN_PLUGIN}:
        return
    mark, stamp = folder / "node_modules" / ".toolwright", hashlib.sha256(file.read_bytes()).hexdigest()
    if mark.is_file() and mark.read_text() == stamp:
        return
    if not mark.exists() and all((folder / "node_modules" / name).is_dir() for name in wanted if name != OWN_PLUGIN):
        return
    bun, npm = (shutil.which(name, path=environment.get("PATH")) for name in ("bun", "npm"))
    if bun:
        _run([bun, "install", "--ignore-scripts", "--no-save"], environment, folder)
    elif npm:
        _run([npm, "install", "--ignore-scripts", "--no-audit", "--no-fund", "--no-save"], environment, folder)
    else:
        raise ToolError(f"{file} needs packages, but neither bun nor npm is on the PATH.", "missing")
    mark.parent.mkdir(exist_ok=True)
    mark.write_text(stamp)
