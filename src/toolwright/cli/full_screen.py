"""The full-screen conversation: started with its first frame, and the project opened behind it."""

import argparse
from typing import TYPE_CHECKING

from toolwright.chat.background import Background
from toolwright.chat.history import History
from toolwright.tui.app import Conversation
from toolwright.tui.talk import Opened

if TYPE_CHECKING:
    from toolwright.workspace import Workspace


def talk_on_full_screen(options: argparse.Namespace) -> int:
    background = Background()
    workspaces: list[Workspace] = []

    async def opening() -> Opened:
        return await _opened(options, workspaces)

    app = Conversation(background, opening)
    try:
        code = app.run(inline=options.inline)
    finally:
        for workspace in workspaces:
            from toolwright.cli.line_chat import closed

            background.wait(closed(workspace))
        background.close()
    if app.talk is not None and app.talk.session is not None:
        print(f"tw --session {app.talk.session.id} goes on with it")
    return app.return_code or 0 if code is None else code


async def _opened(options: argparse.Namespace, workspaces: "list[Workspace]") -> Opened:
    """The project, with whatever the command line says about it."""
    from toolwright.backend import LocalBackend, answer_later
    from toolwright.cli.options import named_session, open_from
    from toolwright.errors import UsageError

    workspace = await open_from(options, answer=answer_later, keep=True).__aenter__()
    workspaces.append(workspace)
    if options.agent and options.agent not in workspace.agents.by_name:
        raise UsageError(f"There is no agent {options.agent!r}; tw agent list names them.")
    session = None
    if options.session or options.go_on:
        session = await named_session(workspace, options.session or "last")
    notes = [f"warning: {one}" for one in workspace.config.warnings]
    if not workspace.trusted:
        notes.append("the project is not trusted: its own rules only forbid (tw trust)")
    return Opened(
        backend=LocalBackend(workspace),
        agent=options.agent or workspace.agents.default().name,
        model=options.model,
        session=session,
        prompt=" ".join(options.prompt),
        history=History(file=workspace.folders.data / "prompts.jsonl"),
        notes=tuple(notes),
        theme=workspace.settings.theme,
        keybinds=workspace.settings.keybinds,
    )
