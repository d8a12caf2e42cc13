"""Opening the project of a conversation: one of this machine, or one on a server, as the command line says."""

import argparse
from typing import TYPE_CHECKING

from toolwright.app.desk import Desk
from toolwright.app.history import PromptHistory
from toolwright.app.naming import named_session
from toolwright.app.opened import OpenedChat
from toolwright.errors import UsageError

if TYPE_CHECKING:
    from toolwright.app.project import Project
    from toolwright.workspace import Workspace


async def open_project(options: argparse.Namespace) -> OpenedChat:
    """Open the project of a command line: that of a server if it names one."""
    return await (_on_server(options) if getattr(options, "url", "") else _of_this_machine(options))


async def _of_this_machine(options: argparse.Namespace) -> OpenedChat:
    from toolwright.app.project import LocalProject, answer_later
    from toolwright.cli.options import open_from

    workspace = await open_from(options, answer=answer_later, keep=True).__aenter__()
    try:
        if options.agent and options.agent not in workspace.agents:
            raise UsageError(f"There is no agent {options.agent!r}; tw agent list names them.")
        desk = await _desk(LocalProject(workspace), workspace.agents.default().name, options)
    except BaseException:
        await _closed(workspace)
        raise
    return OpenedChat(
        desk=desk,
        prompt=" ".join(options.prompt),
        where=str(workspace.directory),
        close=lambda: _closed(workspace),
        notes=_untrusted(workspace),
        warnings=tuple(f"warning: {one}" for one in workspace.config.warnings),
        history=PromptHistory(file=workspace.folders.data / "prompts.jsonl"),
        theme=workspace.settings.theme,
        keybinds=workspace.settings.keybinds,
    )


def _untrusted(workspace: "Workspace") -> tuple[str, ...]:
    """Tell what of the project does not take effect yet; of one that brings nothing there is nothing to tell."""
    from toolwright.config.content import content_of

    names = [] if workspace.trusted else [str(one) for one in content_of(workspace.directory, workspace.folders).files]
    if not names:
        return ()
    listed = ", ".join([*names[:3], *(["…"] if len(names) > 3 else [])])
    return (f"the project is not trusted: of {listed} only what forbids counts (tw trust)",)


async def _closed(workspace: "Workspace") -> None:
    if "titles" in workspace.__dict__:
        await workspace.titles.settled()
    await workspace.close()


async def _on_server(options: argparse.Namespace) -> OpenedChat:
    from toolwright.cli.options import server_address
    from toolwright.client import Client
    from toolwright.client.remote import RemoteProject
    from toolwright.machine.folders import Folders

    client = Client(server_address(options.url), directory=getattr(options, "directory", ""))
    project = await RemoteProject.open(client)
    try:
        names = [one.name for one in await project.agents()]
        if options.agent and options.agent not in names:
            raise UsageError(f"There is no agent {options.agent!r} there. There are: {', '.join(names)}.")
        desk = await _desk(project, names[0], options)
    except BaseException:
        await project.close()
        raise
    return OpenedChat(
        desk=desk,
        prompt=" ".join(options.prompt),
        where=f"{project.directory} on {client.address}",
        again=f"tw attach {options.url}",
        close=project.close,
        history=PromptHistory(file=Folders.of().data / "prompts.jsonl"),
    )


async def _desk(project: "Project", agent: str, options: argparse.Namespace) -> Desk:
    """Begin where the command line says: in a session that it names, with the agent and model that it names."""
    desk = Desk(project=project, agent=agent, model=options.model, room="terminal")
    if name := options.session or ("last" if options.go_on else ""):
        await desk.open((await named_session(project, name)).id)
    desk.agent = options.agent or desk.agent
    return desk
