"""The demo on the full screen: the same session, with its question asked and its changes there to be undone."""

from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path

from toolwright.app.desk import Desk
from toolwright.app.opened import OpenedChat
from toolwright.app.project import LocalProject, answer_later
from toolwright.demo.script import PROMPT
from toolwright.models.info import ModelInfo
from toolwright.models.scripted import ScriptedModel, ScriptedTurn
from toolwright.terminal.background import Background
from toolwright.tui.app import ChatApp
from toolwright.workspace import open_workspace

PAUSE = 0.6
"""Seconds before each answer, so that one can watch."""
AFTER: ScriptedTurn = {"text": "That was the demo. `/undo` undoes what it changed, Ctrl-D leaves it.", "repeat": True}
NOTE = "A small project with a fault, and a model that is a script; everything else is real. Ctrl-D leaves it."


def play_on_full_screen(folder: Path, turns: Sequence[ScriptedTurn], info: ModelInfo) -> int:
    paced: list[ScriptedTurn] = [{**turn, "delay": PAUSE} for turn in turns]
    model = ScriptedModel(*paced, AFTER, title={"text": "Fix the basket"}, info=info)
    background = Background()
    stack = AsyncExitStack()

    async def opening() -> OpenedChat:
        opened = open_workspace(folder, answer=answer_later, model=model, client="cli", keep=True)
        workspace = await stack.enter_async_context(opened)
        return OpenedChat(desk=Desk(project=LocalProject(workspace), agent="build"), prompt=PROMPT, notes=(NOTE,))

    app = ChatApp(background, opening)
    try:
        return app.run() or 0
    finally:
        background.wait(stack.aclose())
        background.close()
