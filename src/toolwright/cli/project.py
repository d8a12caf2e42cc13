"""What a conversation is about: a project of this machine, or one on a server, opened as the command line says."""

import argparse
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Any

from toolwright.chat.history import History
from toolwright.errors import UsageError
from toolwright.messages import SessionInfo
from toolwright.record import record

if TYPE_CHECKING:
    from toolwright.backend import Backend
    from toolwright.workspace import Workspace

MOST = 10_000
"""Sessions that are looked through for one that is named."""


@record(frozen=True, slots=True, kw_only=True)
class Project:
    """A project that is ready to be talked about."""

    backend: "Backend"
    agent: str
    """Who answers first."""
    where: str
    """The folder, and whose."""
    again: str
    """The command that opens it again."""
    close: Callable[[], Awaitable[None]]
    session: SessionInfo | None = None
    """The session to go on with."""
    notes: tuple[str, ...] = ()
    """What the person should know first."""
    warnings: tuple[str, ...] = ()
    """What was told on stderr already, where a full screen hides it."""
    history: History = field(default_factory=History)
    theme: str = ""
    keybinds: Mapping[str, Any] = field(default_factory=dict[str, Any])


async def open_project(options: argparse.Namespace) -> Project:
    """The project of a command line: that of a server if it names one."""
    return await (_on_server(options) if getattr(options, "url", "") else _of_this_machine(options))


async def _of_this_machine(options: argparse.Namespace) -> Project:
    from toolwright.backend import LocalBackend, answer_later
    from toolwright.cli.options import named_session, open_from

    workspace = await open_from(options, answer=answer_later, keep=True).__aenter__()
    try:
        if options.agent and options.agent not in workspace.agents.by_name:
            raise UsageError(f"There is no agent {options.agent!r}; tw agent list names them.")
        session = None
        if options.session or options.go_on:
            session = await named_session(workspace, options.session or "last")
        first = options.agent or workspace.agents.default().name
    except BaseException:
        await _closed(workspace)
        raise
    return Project(
        backend=LocalBackend(workspace),
        agent=first,
        where=str(workspace.directory),
        again="tw",
        close=lambda: _closed(workspace),
        session=session,
        notes=_untrusted(workspace),
        warnings=tuple(f"warning: {one}" for one in workspace.config.warnings),
        history=History(file=workspace.folders.data / "prompts.jsonl"),
        theme=workspace.settings.theme,
        keybinds=workspace.settings.keybinds,
    )


def _untrusted(workspace: "Workspace") -> tuple[str, ...]:
    """What of the project does not take effect yet; of one that brings nothing there is nothing to tell."""
    from toolwright.config.content import content_of

    names = [] if workspace.trusted else [str(one) for one in content_of(workspace.directory, workspace.folders).files]
    if not names:
        return ()
    told = ", ".join([*names[:3], *(["…"] if len(names) > 3 else [])])
    return (f"the project is not trusted: of {told} only what forbids counts (tw trust)",)


async def _closed(workspace: "Workspace") -> None:
    if "titles" in workspace.__dict__:
        await workspace.titles.settled()
    await workspace.close()


async def _on_server(options: argparse.Namespace) -> Project:
    from toolwright.cli.options import server_address
    from toolwright.client import Client
    from toolwright.client.remote import RemoteBackend
    from toolwright.folders import Folders

    client = Client(server_address(options.url), directory=getattr(options, "directory", ""))
    backend = await RemoteBackend.open(client)
    try:
        names = [one.name for one in await backend.agents()]
        if options.agent and options.agent not in names:
            raise UsageError(f"There is no agent {options.agent!r} there. There are: {', '.join(names)}.")
        session = None
        if options.session or options.go_on:
            session = await _named(backend, options.session or "last")
    except BaseException:
        await backend.close()
        raise
    return Project(
        backend=backend,
        agent=options.agent or names[0],
        where=f"{backend.directory} on {client.address}",
        again=f"tw attach {options.url}",
        close=backend.close,
        session=session,
        history=History(file=Folders.of().data / "prompts.jsonl"),
    )


async def _named(backend: "Backend", name: str) -> SessionInfo:
    """A session of a server: by its id, the beginning of it, its two words, or `last`."""
    listed = await backend.sessions(MOST)
    if name == "last":
        if not listed:
            raise UsageError("There is no session to continue there.")
        return listed[0]
    found = [one for one in listed if name in (one.id, one.slug)]
    found = found or [one for one in listed if len(name) > len("ses_") and one.id.startswith(name)]
    if len(found) != 1:
        count = f"{len(found)} sessions fit" if found else "There is no session"
        raise UsageError(f"{count} {name!r} there. Give an id such as ses_…, its beginning, its two words, or last.")
    return found[0]
