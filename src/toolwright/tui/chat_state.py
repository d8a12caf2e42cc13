"""The conversation itself, without its looks: agent, queue, work under way."""

import asyncio
import time
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from toolwright.app.doing import Doing
from toolwright.deadline import time_limit
from toolwright.errors import ToolwrightError
from toolwright.events import Event, EventsMissed
from toolwright.session.events import SessionIdle
from toolwright.terminal.background import Background
from toolwright.terminal.screen import RED, YELLOW
from toolwright.tui.blocks import Said
from toolwright.tui.story import Story

if TYPE_CHECKING:
    from toolwright.app.opened import OpenedChat
    from toolwright.app.project import Project, SessionUse, UsableModels
    from toolwright.messages import Message, SessionInfo
    from toolwright.services import Todo
    from toolwright.session.result import TurnResult

T = TypeVar("T")
REST = 10.0
"""Seconds in which the last events of a turn must have come; then its end is shown all the same."""
Mode = Literal["ask", "edits", "all"]
MODES: dict[Mode, str] = {"ask": "", "edits": "auto-approve: edits", "all": "auto-approve: everything"}
"""Modes by what is approved without asking. A rule that denies is never asked about, so it holds in all of them."""


class ChatState:
    """One person, one session at a time. What it does is done in the loop of the screen; the work is in another."""

    def __init__(self, background: Background, opened: "OpenedChat", changed: Callable[[], None]) -> None:
        self.background = background
        self.desk = opened.desk
        self.desk.room = "screen"
        self.mode: Mode = "ask"
        self.story = Story()
        """Of the session; those of its subagents are read when somebody steps into them."""
        self.doing = Doing("")
        """Activity of the agent between its calls."""
        self.below: dict[str, Story] = {}
        self.queue: list[str] = []
        """Prompts that are sent when their turn comes."""
        self.returned: list[str] = []
        """Prompts that are not sent, because a turn before them was stopped: they are the person's again."""
        self._answering = False
        self.use: SessionUse | None = None
        self.todos: list[Todo] = []
        self.usable: UsableModels | None = None
        """Models that could be taken at once, looked for where none is chosen."""
        self.next_model = ""
        self.began = 0.0
        """Start of the turn that is under way; 0 if none is."""
        self.stopping = False
        self._steered: list[str] = []
        self._idle = asyncio.Event()
        """Set when all that happened in a turn has been told here too."""
        self._changed = changed

    @property
    def project(self) -> "Project":
        return self.desk.project

    @property
    def session(self) -> "SessionInfo | None":
        return self.desk.session

    @property
    def has_model(self) -> bool:
        return bool(self.next_model)

    @property
    def busy(self) -> bool:
        return bool(self.began)

    async def call(self, work: Coroutine[Any, Any, T]) -> T:
        """Await work that runs in the other loop."""
        return await asyncio.wrap_future(self.background.submit(work))

    # Sessions.

    async def show(self) -> None:
        """Show the session that is open; an empty one where there is none yet."""
        if self.session is None:
            self.story, self.below = Story(), {}
        else:
            self._load(await self.call(self.project.messages(self.session.id)))

    def _load(self, messages: "Sequence[Message]") -> None:
        assert self.session is not None
        self.story, self.below = Story(self.session.id), {}
        self.story.load(messages)

    async def reload(self) -> None:
        """Read the session again: something was undone, or events were missed."""
        if self.session is not None:
            self.story.load(await self.call(self.project.messages(self.session.id)))
            await self.refresh()

    async def step_into(self, session_id: str) -> Story:
        """The story of a subagent, which goes on while it works."""
        if session_id not in self.below:
            story = self.below[session_id] = Story(session_id)
            story.load(await self.call(self.project.messages(session_id)))
        return self.below[session_id]

    async def refresh(self) -> None:
        """Look up what the edges of the screen tell."""
        session_id = self.session.id if self.session else ""
        try:
            self.next_model = await self.call(self.desk.next_model())
            self.use = await self.call(self.project.use_of(session_id)) if session_id else None
            self.todos = await self.call(self.project.todos(session_id)) if session_id else []
        except ToolwrightError as error:
            self.story.note(f"! {error}", RED)
        self._changed()

    def take(self, event: Event) -> None:
        """Pass an event to all that it concerns."""
        self.desk.take(event)
        match event:
            # A subagent rests before the turn does.
            case SessionIdle(session_id=session_id) if self.session is not None and session_id == self.session.id:
                self._idle.set()
            case EventsMissed():
                self._idle.set()
            case _:
                pass
        self.doing.take(event)
        self.story.take(event)
        for story in self.below.values():
            story.take(event)

    # Turns.

    async def say(self, text: str) -> None:
        """Send a prompt, once those before it are answered; only who sent the first of them waits for the answers."""
        self.queue.append(text)
        if self._answering:
            self._changed()
            return
        self._answering = True
        try:
            while self.queue:
                await self._turn(self.queue.pop(0))
        finally:
            self._answering = False

    async def _turn(self, text: str) -> None:
        self.began, self.stopping = time.monotonic(), False
        self._idle.clear()
        self._changed()
        try:
            if self.session is None:
                session, notes = await self.call(self.desk.begin()), self.story.blocks
                self.story = Story(session.id)
                for block in notes:
                    self.story.add(block)
            assert self.session is not None
            self.doing, story = Doing(self.session.id), self.story
            result = await self.call(self.desk.say(text))
            with suppress(TimeoutError):
                async with time_limit(REST):
                    await self._idle.wait()
            self._tell(result, story)
        except ToolwrightError as error:
            self.story.note(f"! {error}", RED)
            if not await self._is_stored(text):
                self.returned.append(text)
            self._return_all()
        finally:
            self.began = 0.0
            self._requeue_steer()
            await self.refresh()

    async def _is_stored(self, text: str) -> bool:
        """Tell whether a prompt is stored in the session; one that is not goes back to the person."""
        try:
            messages = await self.call(self.project.messages(self.session.id)) if self.session else []
        except ToolwrightError:
            return False  # nobody can tell, and words that are kept are not lost
        prompts = [one.text for one in messages if one.info.role == "user"]
        return bool(prompts) and prompts[-1] == text

    def _tell(self, result: "TurnResult", story: Story) -> None:
        from toolwright.terminal.renderer import spent

        if result.finish == "length":
            story.note("! the answer was truncated at the model's limit", YELLOW)
        story.note(f"  {spent(result, time.monotonic() - self.began)}")

    async def steer(self, text: str) -> None:
        """Tell the agent before its next step; where it is not at work, this is a prompt like any other."""
        if self.busy and self.session and await self.call(self.project.steer(self.session.id, text)):
            self._steered.append(text)
            self._changed()
        else:
            await self.say(text)

    @property
    def steered(self) -> list[str]:
        """Return the prompts sent during the turn that the agent has not read yet."""
        prompts = [block.words for block in self.story.blocks[-200:] if isinstance(block, Said)]
        self._steered = [text for text in self._steered if not any(text in one for one in prompts)]
        return self._steered

    def _requeue_steer(self) -> None:
        """Queue what the agent has not read as the next prompts, unless the turn was stopped."""
        unheard, self._steered = self.steered, []
        if self.stopping:
            self.returned += unheard
        else:
            self.queue = [*unheard, *self.queue]

    def _return_all(self) -> None:
        self.returned += self.queue
        self.queue.clear()

    async def stop(self) -> None:
        """Stop the turn. What waited before is the person's again; what is said from now on is sent after it."""
        if self.busy and self.session is not None:
            self.stopping = True
            self._return_all()
            self._changed()
            await self.call(self.project.abort(self.session.id))
