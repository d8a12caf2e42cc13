"""Draws the full screen in a session that really happens: twelve screens, of which docs/ shows three.

python docs/screens.py            docs/screen-*.svg
python docs/screens.py FOLDER     all twelve at three sizes, with a page that shows them beside each other
"""

import asyncio
import os
import re
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from textual.pilot import Pilot
from textual.screen import Screen

from toolwright.app.desk import Desk
from toolwright.app.opened import OpenedChat
from toolwright.app.project import LocalProject, answer_later
from toolwright.demo.project import write_project
from toolwright.demo.script import PROMPT, turns
from toolwright.models.scripted import ScriptedTurn
from toolwright.terminal.background import Background
from toolwright.testing import ScriptedModel, make_workspace
from toolwright.tui.app import Conversation
from toolwright.tui.dialog import Picker, TextDialog
from toolwright.tui.finding import FindDialog
from toolwright.tui.permission import PermissionDialog
from toolwright.tui.undoing import ChangesDialog, UndoDialog
from toolwright.workspace import Workspace

HERE = Path(__file__).parent
SIZES = ((80, 24), (120, 40), (200, 50))
SHOWN = {"question": (112, 34), "conversation": (132, 44), "undo": (112, 34)}
"""The screens of docs/, and how large they are there."""
RULES = {"permission": {"bash": {"rm *": "ask"}, "edit": {"*.py": "ask"}}}
STORY: ScriptedTurn = {
    "text": "A basket holds prices; `add` puts one in as often as `count` says.\n\n" * 40,
    "chunk": 8,
    "gap": 0.01,
}


LONGEST = 120
"""Seconds that a screen may take to come."""


class Screens:
    """One session at one size, and what of it is kept."""

    def __init__(self, project: Path, size: tuple[int, int], keep: Callable[[str, str], None]) -> None:
        self.project, self.size, self.keep = project, size, keep
        self.app: Conversation
        self.pilot: Pilot[int]
        self.question: Screen[Any] | None = None
        """The last that was saved."""

    async def draw(self) -> None:
        background = Background()
        opened: list[Workspace] = []

        async def opening() -> OpenedChat:
            model = ScriptedModel(*turns("python3"), STORY, title={"text": "Fix the basket"})
            workspace = make_workspace(self.project, model=model, user=answer_later, config=RULES, keep=True)
            opened.append(await workspace.__aenter__())
            return OpenedChat(desk=Desk(project=LocalProject(workspace), agent="build"), theme="dark")

        os.environ["COLUMNS"] = str(self.size[0])
        self.app = Conversation(background, opening)
        try:
            async with self.app.run_test(size=self.size) as pilot:
                self.pilot = pilot
                await self._screens()
        finally:
            for workspace in opened:
                background.wait(workspace.close())
            background.close()

    async def _screens(self) -> None:
        app, press = self.app, self.pilot.press
        await self.until(lambda: "Ask anything" in self.text and "opening" not in self.text)
        self.save("start")
        await self.typed("/connect", Picker, "connect")
        await press("escape")
        await self.typed("/model", Picker, "models")
        await press("escape")
        await self.typed("/keys", TextDialog, "keys")
        await press("escape")
        app.prompt.insert(PROMPT)
        await press("enter")
        await self.asked("question-edit")
        await press("a")
        await self.until(lambda: "will store" in self.text)
        self.save("always")
        await press("escape", "y")
        await self.asked("question")
        await press("y")
        await self.until(lambda: app.talk is not None and not app.talk.busy and "todo 3/3" in self.text)
        await self.until(lambda: "Esc Esc to stop" not in self.text)
        self.save("conversation")
        await self.typed("/diff", ChangesDialog, "diff")
        await press("escape")
        await press("f8")
        await self.until(lambda: isinstance(app.screen, UndoDialog) and "def add" in self.text)
        self.save("undo")
        await press("escape")
        await self.typed("/find basket", FindDialog, "find")
        await press("escape")
        app.prompt.insert("How does it count?")
        await press("enter")
        await self.until(lambda: "writing ·" in self.text and "A basket holds" in self.text)
        self.save("writing")
        await self.until(lambda: app.talk is not None and not app.talk.busy)
        await press("ctrl+r")
        await self.until(lambda: isinstance(app.screen, Picker))
        await press(*"count")
        await self.until(lambda: "·" in self.text)
        self.save("sessions")

    async def typed(self, line: str, dialog: type, name: str) -> None:
        """Save what a command opens."""
        self.app.prompt.insert(line)
        await self.pilot.press("enter")
        await self.until(lambda: isinstance(self.app.screen, dialog))
        await self.pilot.pause(0.3)
        self.save(name)

    async def asked(self, name: str) -> None:
        """Save a question; one that has just been answered may still be the screen, and takes no key any more."""

        def is_new() -> bool:
            screen = self.app.screen
            return isinstance(screen, PermissionDialog) and screen.armed and screen is not self.question

        await self.until(is_new)
        self.question = self.app.screen
        self.save(name)

    async def until(self, true: Callable[[], bool]) -> None:
        until = time.monotonic() + LONGEST
        while not true():
            if time.monotonic() > until:
                raise TimeoutError(f"It never came to what is waited for:\n{self.text}")
            await self.pilot.pause(0.05)

    @property
    def text(self) -> str:
        return "\n".join(strip.text for strip in self.app.screen._compositor.render_strips())

    def save(self, name: str) -> None:
        picture = self.app.export_screenshot(title="tw").replace(str(self.project.parent), "~")
        picture = re.sub(r"terminal-\d+", "terminal", picture)
        # A path that has become shorter is not stretched to its old length.
        picture = re.sub(r' textLength="[^"]*"(?=[^>]*>~)', "", picture)
        self.keep(name, re.sub(r"[ \t]+$", "", picture, flags=re.MULTILINE))


async def main(folder: str = "") -> None:
    if folder:
        for size in SIZES:
            await draw(size, Path(folder), f"{size[0]}x{size[1]}-")
        write_page(Path(folder))
        return
    for name, size in SHOWN.items():
        await draw(size, HERE, "screen-", only=name)


async def draw(size: tuple[int, int], folder: Path, before: str, only: str = "") -> None:
    folder.mkdir(parents=True, exist_ok=True)

    def keep(name: str, picture: str) -> None:
        if only in ("", name):
            (folder / f"{before}{name}.svg").write_text(picture, "utf-8")

    with tempfile.TemporaryDirectory() as temporary:
        project = Path(temporary, "shop")
        write_project(project)
        await Screens(project, size, keep).draw()


def write_page(folder: Path) -> None:
    """A page with every screen at every size."""
    names = sorted({file.stem.partition("-")[2] for file in folder.glob("*.svg")})
    rows = [
        f"<h2>{name}</h2>" + "".join(f'<img src="{width}x{height}-{name}.svg" alt="{name}">' for width, height in SIZES)
        for name in names
    ]
    style = "<style>body{background:#222;color:#ddd}img{max-width:48%;margin:.5em;vertical-align:top}</style>"
    (folder / "index.html").write_text(f"<!doctype html><title>tw</title>{style}{''.join(rows)}", "utf-8")


if __name__ == "__main__":
    sys.exit(asyncio.run(main(*sys.argv[1:])))
