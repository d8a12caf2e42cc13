"""The full-screen conversation: started with its first frame, and the project opened behind it."""

import argparse

from toolwright.app.opened import OpenedChat
from toolwright.cli.output import say
from toolwright.terminal.background import Background
from toolwright.tui.app import ChatApp


def talk_on_full_screen(options: argparse.Namespace) -> int:
    background = Background()
    projects: list[OpenedChat] = []

    async def opening() -> OpenedChat:
        from toolwright.cli.conversation.opening import open_project

        projects.append(opened := await open_project(options))
        return opened

    app = ChatApp(background, opening)
    try:
        code = app.run(inline=options.inline)
    finally:
        for opened in projects:
            background.wait(_closed(opened))
        background.close()
    if app.talk is not None and app.talk.session is not None:
        say(f"{projects[0].again} --session {app.talk.session.id} goes on with it")
    return app.return_code or 0 if code is None else code


async def _closed(opened: OpenedChat) -> None:
    await opened.close()
