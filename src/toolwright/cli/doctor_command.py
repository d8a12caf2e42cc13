"""tw doctor: what this machine has for us, in one line each, and what to do about what is missing."""

import argparse
import asyncio
import os
import platform
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Literal

from toolwright.cli.options import open_from, parser, print_json, print_table
from toolwright.errors import ToolError
from toolwright.record import record
from toolwright.workspace import Workspace


@record(frozen=True, slots=True)
class Finding:
    """One thing looked at."""

    state: Literal["ok", "note", "bad"]
    what: str
    told: str


def main(arguments: list[str]) -> int:
    options = _parser().parse_args(arguments)
    workspace = open_from(options)
    findings = [*_examine(workspace), *asyncio.run(_alive(workspace)), *_models()]
    if options.json:
        print_json([asdict(finding) for finding in findings])
    else:
        print_table([(finding.state, finding.what, finding.told) for finding in findings])
    return 1 if any(finding.state == "bad" for finding in findings) else 0


def _parser() -> argparse.ArgumentParser:
    made = parser("doctor", "Checks this machine and this project; says what is missing and what that means.")
    made.add_argument("--json", action="store_true", help="machine-readable")
    return made


def _examine(workspace: Workspace) -> Iterator[Finding]:
    yield Finding("ok", "python", f"{platform.python_version()} on {platform.system()} {platform.release()}")
    yield _git()
    yield _ripgrep()
    yield _data_folder(workspace.folders.data)
    yield _project(workspace)
    yield from _configuration(workspace)


def _git() -> Finding:
    if shutil.which("git") is None:
        return Finding("note", "git", "not found; projects are recognised by their folder alone")
    return Finding("ok", "git", _version("git", "--version"))


def _ripgrep() -> Finding:
    from toolwright.files.ripgrep import find_ripgrep

    found = find_ripgrep()
    if found is None:
        return Finding("note", "ripgrep", "not found; searching works, more slowly")
    return Finding("ok", "ripgrep", f"{_version(str(found), '--version')} at {found}")


async def _alive(workspace: Workspace) -> list[Finding]:
    """What only an open workspace can tell: its extensions, and the sandbox."""
    async with workspace:
        if workspace.registry.refresh is not None:
            await workspace.registry.refresh()
        left_out = [
            Finding("note", "extension", f"{problem.name} is left out: {problem.reason}")
            for problem in workspace.left_out()
        ]
        return [*left_out, *await _sandbox(workspace)]


async def _sandbox(workspace: Workspace) -> list[Finding]:
    """Which rung of the ladder is in use, tried out on this machine."""

    try:
        sandbox = workspace.sandbox
        state: Literal["ok", "note"] = "note" if await sandbox.ready() == "none" else "ok"
        return [Finding(state, "sandbox", line) for line in await sandbox.describe()]
    except ToolError as error:
        return [Finding("bad", "sandbox", str(error))]


def _models() -> list[Finding]:
    """Model servers on this machine, and how to use them."""
    from toolwright.models.local_servers import find_local_servers

    findings: list[Finding] = []
    for server in find_local_servers():
        named = [f"--model {server.provider}/{model.id}{_context(model.context)}" for model in server.models[:5]]
        told = f"{server.name} answers at {server.url}: {', '.join(named) or 'no model is loaded'}"
        findings.append(Finding("ok", "models", told))
        if server.warning:
            findings.append(Finding("note", "models", server.warning))
    return findings


def _context(tokens: int) -> str:
    return f" ({tokens // 1024}k context)" if tokens else ""


def _version(*command: str) -> str:
    answer = subprocess.run(command, capture_output=True, text=True, timeout=10, check=False)
    return answer.stdout.splitlines()[0] if answer.stdout else "no answer"


def _data_folder(folder: Path) -> Finding:
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    if os.access(existing, os.W_OK):
        return Finding("ok", "data", str(folder))
    return Finding("bad", "data", f"{folder} cannot be written; set XDG_DATA_HOME to a folder that can")


def _project(workspace: Workspace) -> Finding:
    trusted = "trusted" if workspace.trusted else "not trusted: its rules only forbid, its code does not run (tw trust)"
    return Finding("ok" if workspace.trusted else "note", "project", f"{workspace.config.root}, {trusted}")


def _configuration(workspace: Workspace) -> Iterator[Finding]:
    read = len(workspace.config.sources)
    yield Finding("ok", "settings", f"{read} files read, {len(workspace.agents.by_name)} agents; tw config tells more")
    for warning in workspace.config.warnings:
        yield Finding("note", "settings", warning)
    for clash in workspace.registry.clashes:
        yield Finding("note", "tools", str(clash))
