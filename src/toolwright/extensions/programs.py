"""The programs that attend to every change, formatters and language servers, as extensions of a workspace."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from toolwright.definition import ANY, Call, Result, Tool, ToolContext
from toolwright.events import Bus, Event
from toolwright.extension import Extension
from toolwright.hooks import CallHook, Proceed
from toolwright.record import record
from toolwright.registry import Registry
from toolwright.settings import Settings

if TYPE_CHECKING:
    from toolwright.agents import Agents
    from toolwright.files.store import Commit, Files
    from toolwright.format.formatting import Formatters
    from toolwright.lsp.languages import Languages
    from toolwright.machine.folders import Folders
    from toolwright.process.programs.lookup import Lookup
    from toolwright.process.running.scope import Scopes
    from toolwright.process.sandbox.program_box import ProgramBoxes
    from toolwright.process.sandbox.sandbox import Sandbox
    from toolwright.session.session import Session


@record(frozen=True, slots=True, kw_only=True)
class LspUpdated(Event):
    """A language server has come up, failed or ended."""

    type = "lsp.updated"


@record(frozen=True, slots=True, kw_only=True)
class LspDiagnostics(Event):
    """A language server finds something else in a file than before."""

    type = "lsp.client.diagnostics"
    server_id: str
    path: str


LATER = 0.2
"""Seconds before a file that was read is opened in its server, so that a single call does not pay for it."""


class Attended(Protocol):
    """The services of a workspace that these need."""

    environment: Mapping[str, str]
    bus: Bus
    registry: Registry
    folders: "Folders"
    agents: "Agents"
    trusted: bool
    closed: bool
    sessions_open: "dict[str, Session]"

    @property
    def settings(self) -> Settings: ...
    @property
    def files(self) -> "Files": ...
    @property
    def scopes(self) -> "Scopes": ...
    @property
    def lookup(self) -> "Lookup": ...
    @property
    def sandbox(self) -> "Sandbox": ...
    @property
    def formatters(self) -> "Formatters": ...
    @property
    def languages(self) -> "Languages": ...


def program_extensions(workspace: Attended) -> list[Extension]:
    """An extension for each kind that the settings ask for; what is on disk is formatted before it is checked."""
    extensions = list[Extension]()
    if workspace.settings.formatter is not False:

        async def formatters(commit: "Commit") -> str | None:
            return await workspace.formatters.committed(commit)

        extensions.append(Extension(name="formatters", committed=formatters))
    if workspace.settings.lsp is not False:

        async def languages(commit: "Commit") -> str | None:
            return await workspace.languages.committed(commit)

        tools = [_undo_tool(workspace)] if workspace.settings.edit.gate else []
        extensions.append(Extension(name="languages", committed=languages, hooks=[_attentive(workspace)], tools=tools))
    return extensions


def _attentive(workspace: Attended) -> CallHook:
    async def attend(proceed: Proceed, call: Call, _: ToolContext) -> Result:
        """Have the servers ready for files that were read, and say first that a call has made things worse."""
        result = await proceed(call)
        tool = workspace.registry.loaded.get(call.tool)
        if "languages" in vars(workspace) and (tool is None or tool.unseen_changes):
            workspace.languages.watch.is_stale = True
        if result.error is not None:
            return result
        if tool is not None and not tool.writes and tool.reads not in ("", ANY) and isinstance(call.arguments, dict):
            value = call.arguments.get(tool.reads)
            if isinstance(value, str):
                asyncio.get_running_loop().call_later(LATER, _warm, workspace, value)
            return result
        warning = "" if "languages" not in vars(workspace) else workspace.languages.warnings.pop(call.id, "")
        return replace(result, output=f"{warning}\n\n{result.output}") if warning else result

    return attend


def _undo_tool(workspace: Attended) -> Tool:
    """Return the tool by which a model undoes its last change, for one that has made new errors."""
    from toolwright.definition import tool

    @tool(asks=True, permission="edit", writes=ANY)
    async def undo(ctx: ToolContext) -> Result:
        """Undoes your last call that changed files, and no other; called again, the one before it."""
        from toolwright.session.undo.last_change import undo_last_change

        return await undo_last_change(ctx, workspace.files, workspace.sessions_open[ctx.session_id].conversation)

    return undo


def _warm(workspace: Attended, path: str) -> None:
    if not workspace.closed:
        workspace.languages.warm(workspace.files.tree.place(path).path)


def make_languages(workspace: Attended) -> "Languages":
    """The language servers of a workspace; none runs yet."""
    from toolwright.lsp.languages import Languages
    from toolwright.lsp.pool import Pool
    from toolwright.lsp.servers import Finder, ServerChoice, chosen_servers

    section, tree = workspace.settings.lsp, workspace.files.tree
    choices = {
        name: ServerChoice(
            disabled=one.disabled,
            command=tuple(one.command),
            extensions=tuple(one.extensions),
            environment={**one.env, **one.environment},
            initialization=one.initialization,
        )
        for name, one in (section.items() if not isinstance(section, bool) else ())
    }
    finder = Finder(
        servers=chosen_servers(choices),
        directory=tree.directory,
        top=tree.root,
        environment=workspace.environment,
        lookup=workspace.lookup,
        installed=installed_servers(workspace.folders.data),
        trusted=workspace.trusted,
    )
    kept = workspace.folders.cache / "servers"
    pool = Pool(workspace.scopes, make_boxes(workspace), _environment(workspace), kept=kept)
    pool.on_change.append(lambda: workspace.bus.publish(LspUpdated()))
    pool.on_findings.append(lambda name, path: workspace.bus.publish(LspDiagnostics(server_id=name, path=str(path))))
    files, settings = workspace.files, workspace.settings
    return Languages(finder, pool, lambda: files.at_work, legacy=settings.encoding, gate=settings.edit.gate)


def make_formatters(workspace: Attended) -> "Formatters":
    from toolwright.format.formatting import Formatters
    from toolwright.format.registry import Chooser, FormatterChoice, chosen_formatters

    section, tree = workspace.settings.formatter, workspace.files.tree
    choices = {
        name: FormatterChoice(
            disabled=one.disabled,
            command=tuple(one.command),
            extensions=tuple(one.extensions),
            environment={**one.env, **one.environment},
            timeout=one.timeout,
        )
        for name, one in (section.items() if not isinstance(section, bool) else ())
    }
    chooser = Chooser(
        formatters=chosen_formatters(choices),
        directory=tree.directory,
        top=tree.root,
        lookup=workspace.lookup,
        trusted=workspace.trusted,
    )
    return Formatters(chooser, workspace.scopes, make_boxes(workspace), _environment(workspace))


def make_boxes(workspace: Attended) -> "ProgramBoxes":
    """Make the boxes of formatters and language servers, under the rules of the agent that answers by default."""
    from toolwright.process.sandbox.program_box import ProgramBoxes
    from toolwright.tools.commands.access import access_for_programs

    agents, tree = workspace.agents, workspace.files.tree
    return ProgramBoxes(
        workspace.sandbox,
        workspace.lookup,
        root=tree.root,
        installed=installed_servers(workspace.folders.data),
        access=lambda: access_for_programs(agents.ruled(agents.default()), tree),
    )


def installed_servers(data: Path) -> Path:
    """The folder that `tw lsp install` installs into."""
    return data / "servers"


def _environment(workspace: Attended) -> dict[str, str]:
    """Return our variables without the secrets, as commands get them."""
    from toolwright.process.programs.environment import SECRETS, Withholding

    section = workspace.settings.environment
    withheld = Withholding(names=(*SECRETS, *section.deny), except_for=section.allow)
    return workspace.lookup.around_theirs(withheld.apply(workspace.environment))
