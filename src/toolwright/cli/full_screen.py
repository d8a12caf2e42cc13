"""The full-screen conversation: started with its first frame, and the project opened behind it."""

import argparse
from typing import TYPE_CHECKING

from toolwright.chat.background import Background
from toolwright.tui.app import Conversation
from toolwright.tui.talk import Opened

if TYPE_CHECKING:
    from toolwright.cli.project import Project


def talk_on_full_screen(options: argparse.Namespace) -> int:
    background = Background()
    projects: list[Project] = []

    async def opening() -> Opened:
        from toolwright.cli.project import open_project

        projects.append(project := await open_project(options))
        return _opened(project, options)

    app = Conversation(background, opening)
    try:
        code = app.run(inline=options.inline)
    finally:
        for project in projects:
            background.wait(_closed(project))
        background.close()
    if app.talk is not None and app.talk.session is not None:
        print(f"{projects[0].again} --session {app.talk.session.id} goes on with it")
    return app.return_code or 0 if code is None else code


def _opened(project: "Project", options: argparse.Namespace) -> Opened:
    """The project, with whatever the command line says about it."""
    return Opened(
        backend=project.backend,
        agent=project.agent,
        model=options.model,
        session=project.session,
        prompt=" ".join(options.prompt),
        history=project.history,
        notes=(*project.warnings, *project.notes),
        theme=project.theme,
        keybinds=project.keybinds,
    )


async def _closed(project: "Project") -> None:
    await project.close()
