"""The full-screen conversation without a terminal: what is on its screen, and keys that are pressed."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("textual", reason="the full screen needs textual: pip install 'toolwright[tui]'")

from textual.pilot import Pilot

from tests.waiting import patience_left
from toolwright.app.desk import Desk
from toolwright.app.history import PromptHistory
from toolwright.app.opened import OpenedChat
from toolwright.app.project import LocalProject, answer_later
from toolwright.messages import SessionInfo
from toolwright.models.model import Model
from toolwright.models.scripted import ScriptedTurn
from toolwright.terminal.background import Background
from toolwright.testing import ScriptedModel, make_workspace
from toolwright.tui.app import ChatApp
from toolwright.tui.asking import ChoiceDialog
from toolwright.tui.chat_state import ChatState
from toolwright.tui.permission import PermissionDialog
from toolwright.workspace import Workspace

ASKED = {"bash": {"rm *": "ask", "cat *": "ask"}, "edit": {"*.new": "ask"}}


class Stage:
    """The conversation under way."""

    def __init__(self, app: ChatApp, pilot: "Pilot[int]", workspaces: list[Workspace]) -> None:
        self.app, self.pilot, self._workspaces = app, pilot, workspaces

    @property
    def workspace(self) -> Workspace:
        return self._workspaces[0]

    @property
    def talk(self) -> ChatState:
        assert self.app.talk is not None
        return self.app.talk

    @property
    def text(self) -> str:
        """What is on the screen."""
        return "\n".join(strip.text.rstrip() for strip in self.app.screen._compositor.render_strips())

    @property
    def words(self) -> str:
        return " ".join(self.text.split())

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)

    async def type(self, text: str, *, send: bool = True) -> None:
        self.app.prompt.insert(text)
        await self.pilot.pause()
        if send:
            await self.press("enter")

    async def until(self, true: Callable[[], object], what: str = "") -> None:
        """Wait for something to be so, and for whatever screen it has brought to be laid out."""
        left = patience_left()
        while not true() or not all(screen.is_mounted for screen in self.app.screen_stack):
            assert left(), f"{what or 'it'} never came:\n{self.text}"
            await self.pilot.pause(0.01)

    async def see(self, text: str) -> None:
        await self.until(lambda: text in self.words, repr(text))

    async def rest(self) -> None:
        """Wait until the turn is over and its end is told."""
        await self.until(lambda: not self.talk.busy and " step" in self.shown, "the end of the turn")

    async def asked(self) -> PermissionDialog | ChoiceDialog:
        """Wait for a question that takes answers."""

        def there() -> bool:
            screen = self.app.screen
            return isinstance(screen, PermissionDialog | ChoiceDialog) and screen.armed

        await self.until(there, "a question")
        screen = self.app.screen
        assert isinstance(screen, PermissionDialog | ChoiceDialog)
        return screen

    @property
    def shown(self) -> str:
        """The whole transcript, also what has been scrolled away."""
        laid = self.app.transcript._laid
        return "\n".join(strip.text.rstrip() for one in laid for strip in one.strips)


def call(tool: str, **arguments: Any) -> ScriptedTurn:
    return {"tools": [{"name": tool, "args": arguments}]}


@asynccontextmanager
async def on_stage(
    project: Path,
    *turns: Any,
    size: tuple[int, int] = (100, 30),
    config: Mapping[str, Any] | None = None,
    model: Model | None = None,
    session: SessionInfo | None = None,
    **more: Any,
) -> AsyncIterator[Stage]:
    """The conversation about a project, answered by a script."""
    background = Background()
    workspaces: list[Workspace] = []
    sized = pytest.MonkeyPatch()

    async def opening() -> OpenedChat:
        settings = {"permission": ASKED, **(config or {})}
        answering = model or ScriptedModel(*turns)
        workspace = make_workspace(project, model=answering, user=answer_later, config=settings, keep=True)
        workspaces.append(await workspace.__aenter__())
        desk = Desk(project=LocalProject(workspace), agent="build")
        if session is not None:
            await desk.open(session.id)
        return OpenedChat(
            desk=desk,
            history=PromptHistory(file=project.parent / "prompts.jsonl"),
            theme=workspace.settings.theme,
            keybinds=workspace.settings.keybinds,
            **more,
        )

    app = ChatApp(background, opening)
    try:
        async with app.run_test(size=size) as pilot:
            sized.setenv("COLUMNS", str(size[0]))
            stage = Stage(app, pilot, workspaces)
            await stage.until(lambda: app.commands is not None and "opening" not in stage.text, "the project")
            yield stage
    finally:
        sized.undo()
        for workspace in workspaces:
            background.wait(workspace.close())
        background.close()
