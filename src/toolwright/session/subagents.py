"""Subagents: work handed to another agent in a session below the caller's, never with more rights than the caller."""

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import field
from typing import Any

from toolwright.agents import Agents
from toolwright.definition import ToolContext
from toolwright.errors import ToolError, UsageError
from toolwright.events import Bus, Event, PartUpdated
from toolwright.jsontypes import Json
from toolwright.messages import Assistant, Message, TextPart
from toolwright.parts import Completed, Running, ToolPart
from toolwright.record import record
from toolwright.services import Delegation, Report
from toolwright.session.prompt import Prompt
from toolwright.session.session import Session
from toolwright.session.sessions import Sessions

DEEPEST = 4
SHOW_EVERY = 0.1
"""Seconds between two reports of how a subagent is getting on."""


@record(slots=True)
class ChildSessions:
    """Implements Subagents over the sessions of a workspace."""

    agents: Agents
    sessions: Sessions
    bus: Bus
    end_jobs: Callable[[str], Coroutine[Any, Any, None]]
    """Ends the commands that a session has left running."""
    primary_tools: tuple[str, ...] = ()
    """Tools that are kept from subagents."""

    async def run(self, ctx: ToolContext, task: Delegation) -> Report:
        try:
            parent, child = await self._sessions(ctx, task)
            progress = Progress(ctx, task.description, child.id)
            with progress.following(self.bus):
                message = await self._answered(child, self._prompt(parent, task))
        except UsageError as error:
            raise ToolError(str(error), "not_found") from error
        return _report(child, message, tuple(progress.calls.values()))

    async def _answered(self, child: Session, prompt: Prompt) -> Message:
        """The subagent's answer. Whatever it left running ends with its task."""
        try:
            return (await child.turns.answer(prompt)).message
        finally:
            await asyncio.shield(self.end_jobs(child.id))

    async def _sessions(self, ctx: ToolContext, task: Delegation) -> tuple[Session, Session]:
        """The session that hands the work down, and the one that takes it."""
        sessions = self.sessions
        parent = sessions.opened(ctx.session_id)
        if len(parent.callers) >= DEEPEST:
            raise ToolError(f"Work can be handed down {DEEPEST} times, no further. Do this part yourself.", "denied")
        goes_on = bool(task.session_id) and await sessions.store.knows(task.session_id)
        child = await self._resumed(sessions, parent, task) if goes_on else self._created(sessions, parent, task)
        child.turns.above = parent.turns.spending
        parent.turns.changes.follow(child.id)
        return parent, child

    def _prompt(self, parent: Session, task: Delegation) -> Prompt:
        """What is switched off above is switched off below."""
        last = parent.conversation.last_user()
        turn = parent.turns.turn
        above = turn.model if turn else None
        model = self.agents[task.agent].model or above or (str(last.model) if last else "")
        off = dict.fromkeys((*(turn.withheld if turn else ()), *self.primary_tools), False)
        return Prompt(text=task.prompt, agent=task.agent, model=model, tools=off)

    def _created(self, sessions: Sessions, parent: Session, task: Delegation) -> Session:
        title = f"{task.description} (@{task.agent} subagent)"
        return sessions.create(title=title, parent=parent)

    async def _resumed(self, sessions: Sessions, parent: Session, task: Delegation) -> Session:
        """A session of the same tree; no other is anybody's to go on with."""
        child = await sessions.open(task.session_id)
        if parent.id not in child.callers:
            raise ToolError(
                f"{task.session_id} is not a session that was started from here."
                " Leave session_id out to start a new one.",
                "denied",
            )
        return child


@record(slots=True)
class Progress:
    """Shows in the caller's call what the subagent calls, at most ten times a second."""

    ctx: ToolContext
    title: str
    child: str
    calls: dict[str, Json] = field(default_factory=dict[str, Json])
    """The calls so far, by the id of their part."""
    _due: asyncio.TimerHandle | None = None

    @contextmanager
    def following(self, bus: Bus) -> Iterator[None]:
        self._show()
        stop_following = bus.subscribe(self._hear)
        try:
            yield
        finally:
            stop_following()
            if self._due is not None:
                self._due.cancel()

    def _hear(self, event: Event) -> None:
        part = event.part if isinstance(event, PartUpdated) else None
        if isinstance(part, ToolPart) and part.session_id == self.child and part.parent_call_id is None:
            self.calls[part.id] = _summary(part)
            if self._due is None:
                self._due = asyncio.get_running_loop().call_later(SHOW_EVERY, self._show)

    def _show(self) -> None:
        self._due = None
        self.ctx.metadata(self.title, {"sessionId": self.child, "summary": list(self.calls.values())})


def _summary(part: ToolPart) -> Json:
    state: Json = {"status": part.state.status}
    if isinstance(part.state, Running | Completed) and part.state.title:
        state["title"] = part.state.title
    return {"id": part.id, "tool": part.tool, "state": state}


def _report(child: Session, message: Message, calls: tuple[Json, ...]) -> Report:
    failure = ""
    if isinstance(message.info, Assistant) and message.info.error is not None:
        failure = str(message.info.error.data.get("message", message.info.error.name))
    return Report(session_id=child.id, text=_last_text(child, message), summary=calls, failure=failure)


def _last_text(child: Session, message: Message) -> str:
    """The last words of the last message that has any."""
    for one in [message, *reversed(child.conversation.messages)]:
        if isinstance(one.info, Assistant):
            texts = [part.text for part in one.parts.values() if isinstance(part, TextPart) and part.text]
            if texts:
                return texts[-1]
    return ""
