"""Draws docs/screen-*.svg, the full screen in a session that really happens: python docs/screens.py"""

import asyncio
import os
import re
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from textual.pilot import Pilot

from toolwright.backend import LocalBackend, answer_later
from toolwright.chat.background import Background
from toolwright.demo.project import write_project
from toolwright.demo.script import PROMPT, turns
from toolwright.testing import ScriptedModel, make_workspace
from toolwright.tui.app import Conversation
from toolwright.tui.asking import PermissionDialog
from toolwright.tui.talk import Opened
from toolwright.tui.undoing import UndoDialog
from toolwright.workspace import Workspace

HERE = Path(__file__).parent
SIZE = (112, 34)
WHOLE = (132, 44)
"""So wide that there is room for the panel, so high that the whole turn is seen."""
RULES = {"permission": {"bash": {"rm *": "ask"}}}


async def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder, "shop")
        write_project(project)
        os.environ["COLUMNS"] = str(SIZE[0])
        await draw(project)


async def draw(project: Path) -> None:
    background = Background()
    opened: list[Workspace] = []

    async def opening() -> Opened:
        model = ScriptedModel(*turns("python3"), title={"text": "Fix the basket"})
        workspace = make_workspace(project, model=model, user=answer_later, config=RULES, keep=True)
        opened.append(await workspace.__aenter__())
        return Opened(backend=LocalBackend(workspace), agent="build", prompt=PROMPT)

    app = Conversation(background, opening)
    async with app.run_test(size=SIZE) as pilot:
        await until(pilot, lambda: isinstance(app.screen, PermissionDialog) and app.screen.armed)
        save(app, "question", project)
        await pilot.press("y")
        await until(pilot, lambda: app.talk is not None and not app.talk.busy and "todo 3/3" in shown(app))
        await until(pilot, lambda: "Esc twice stops" not in shown(app))
        await pilot.resize_terminal(*WHOLE)
        await until(pilot, lambda: "cost" in shown(app))
        save(app, "conversation", project)
        await pilot.resize_terminal(*SIZE)
        await pilot.press("f8")
        await until(pilot, lambda: isinstance(app.screen, UndoDialog) and "def add" in shown(app))
        save(app, "undo", project)
    for workspace in opened:
        background.wait(workspace.close())
    background.close()


async def until(pilot: "Pilot[int]", true: Callable[[], bool]) -> None:
    while not true():
        await pilot.pause(0.05)


def shown(app: Conversation) -> str:
    return "\n".join(strip.text for strip in app.screen._compositor.render_strips())


def save(app: Conversation, name: str, project: Path) -> None:
    picture = app.export_screenshot(title="tw").replace(str(project.parent), "~")
    picture = re.sub(r"terminal-\d+", "terminal", picture)
    (HERE / f"screen-{name}.svg").write_text(re.sub(r"[ \t]+$", "", picture, flags=re.MULTILINE), "utf-8")


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
