"""Subagents that work in the background: begun, looked at, told something, stopped; who began them hears of the end."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any, Literal

from toolwright.calls.parts import Completed, ToolPart
from toolwright.errors import ToolError, ToolwrightError
from toolwright.messages import Assistant, Message, TextPart, User
from toolwright.record import record
from toolwright.session.budget import Budget, Spending
from toolwright.session.session import LEFT_BEHIND
from toolwright.session.turns.between_steps import Notice
from toolwright.session.turns.delivery import tell
from toolwright.text.ids import now

if TYPE_CHECKING:
    from toolwright.session.result import TurnResult
    from toolwright.session.session import Session
    from toolwright.session.store import Store

State = Literal["working", "done", "failed", "stopped"]
ABOUT = "background"
"""Key, in the metadata of a call and of a notice, of the session that works in the background."""
STOPPED = "the agent in the background was stopped"


@record(frozen=True, slots=True, kw_only=True)
class BackgroundLimits:
    """Limits of what goes on in the background of one tree of sessions."""

    agents: int = 16
    """At once."""
    total: int = 100
    """For one prompt of a person's."""
    seconds: float | None = 3600
    """For each of them."""


@record(slots=True, kw_only=True, eq=False)
class BackgroundAgent:
    """One of them, at work or done."""

    session: "Session"
    parent: "Session"
    agent: str
    title: str
    """Its task in a few words."""
    spending: Spending
    began: int
    """Milliseconds since 1970."""
    ended: int = 0
    state: State = "working"
    work: "asyncio.Task[None] | None" = None
    is_known_to_end: bool = False
    """True if its parent has stopped it, and need not be told."""

    @property
    def name(self) -> str:
        """Return the name that people call it by."""
        return self.session.info.slug

    @property
    def root(self) -> str:
        return _root_of(self.parent)

    @property
    def steps(self) -> int:
        turn = self.session.turns.turn
        return turn.spending.steps if turn else sum(isinstance(one.info, Assistant) for one in self.session.messages)

    @property
    def seconds(self) -> int:
        return max(0, (self.ended or now()) - self.began) // 1000

    @property
    def doing(self) -> str:
        """Return its last call, or its last words, in one line."""
        for part in (part for one in reversed(self.session.messages) for part in reversed(one.parts.values())):
            if isinstance(part, ToolPart):
                return f"{part.tool} {getattr(part.state, 'title', '') or ''}".rstrip()
            if isinstance(part, TextPart) and not part.synthetic and part.text.strip():
                return " ".join(part.text.split())[:100]
        return ""


@record(slots=True, kw_only=True)
class BackgroundAgents:
    """All of one workspace."""

    limits: BackgroundLimits
    known: dict[str, BackgroundAgent] = field(default_factory=dict[str, BackgroundAgent])

    def find(self, session_id: str) -> BackgroundAgent | None:
        return self.known.get(session_id)

    def at_work(self, session_id: str) -> BackgroundAgent | None:
        """Return the one that works in a session now."""
        agent = self.known.get(session_id)
        return agent if agent is not None and agent.state == "working" else None

    def below(self, session_id: str) -> list[BackgroundAgent]:
        """Return all that a session, or one below it, has begun, in that order."""
        return [one for one in self.known.values() if session_id in (one.parent.id, *one.parent.callers)]

    def working_below(self, session_id: str) -> list[BackgroundAgent]:
        """Return those of them that are at work."""
        return [one for one in self.below(session_id) if one.state == "working"]

    def require_room(self, parent: "Session") -> None:
        """Raise ToolError where the tree of sessions has as many as it may."""
        root = _root_of(parent)
        tree = [one for one in self.known.values() if one.root == root]
        working = [one for one in tree if one.state == "working"]
        if len(working) >= self.limits.agents:
            raise ToolError(
                f"{len(working)} agents are at work in the background, which is the limit (background.agents). Wait"
                " for one, stop one, or leave background out.",
                "denied",
            )
        top = parent
        while top.parent is not None:
            top = top.parent
        since = _last_prompt(top)
        if sum(one.began >= since for one in tree) >= self.limits.total:
            raise ToolError(
                f"{self.limits.total} agents were begun in the background since the last prompt, which is the limit"
                " (background.total). Leave background out, or tell the user what is left to do.",
                "denied",
            )

    def spending(self, parent: "Session") -> Spending:
        """Return what limits one that begins now: its own time, and the budget of the turn that begins it."""
        turn = parent.turns.turn
        return Spending(budget=Budget(steps=None, seconds=self.limits.seconds), above=turn.spending if turn else None)

    def begin(
        self,
        parent: "Session",
        child: "Session",
        agent: str,
        title: str,
        answer: "Callable[[], Awaitable[TurnResult[Any]]]",
    ) -> BackgroundAgent:
        """Have a session answer while its parent goes on."""
        spending = child.turns.above = self.spending(parent)
        worker = BackgroundAgent(session=child, parent=parent, agent=agent, title=title, spending=spending, began=now())
        child.name = worker.name
        self.known[child.id] = worker
        worker.work = asyncio.create_task(self._carry_out(worker, answer))
        return worker

    async def _carry_out(self, agent: BackgroundAgent, answer: "Callable[[], Awaitable[TurnResult[Any]]]") -> None:
        text, failure = "", ""
        state: State = "failed"
        try:
            result = await answer()
            text, failure, state = result.text or last_text(agent.session.messages), "", "done"
            if result.error is not None:
                failure, state = str(result.error), "stopped" if result.error.kind == "aborted" else "failed"
        except ToolwrightError as error:
            failure = str(error)
        finally:
            agent.state, agent.ended = state, now()
        # What nobody wants to be over is told when the session is opened again.
        if not (failure.rstrip(".").endswith(LEFT_BEHIND) or agent.parent.closed or agent.is_known_to_end):
            notice = notice_of(agent.session.id, agent.name, agent.title, agent.agent, text, failure)
            ending = Notice(text=notice, about=_about(agent.session.id, agent.state), spending=agent.spending)
            await tell(agent.parent.turns, ending)

    async def stop(self, agent: BackgroundAgent, reason: str = STOPPED) -> None:
        """Stop it and all below it. When this returns, nothing of them is left to do."""
        await self.stop_below(agent.session.id, reason)
        await agent.session.abort(reason)
        if agent.work is not None:
            await asyncio.wait([agent.work])

    async def stop_below(self, session_id: str, reason: str = STOPPED) -> None:
        """Stop all that a session has begun."""
        working = [one for one in self.known.values() if one.parent.id == session_id and one.state == "working"]
        await asyncio.gather(*(self.stop(one, reason) for one in working))

    def forget(self, session_id: str) -> None:
        """Let go of those that a session has begun."""
        self.known = {name: one for name, one in self.known.items() if session_id not in (name, one.parent.id)}


def last_text(messages: Sequence[Message]) -> str:
    """Return the last words of the last reply that has any."""
    for message in reversed(messages):
        if isinstance(message.info, Assistant):
            texts = [part.text for part in message.parts.values() if isinstance(part, TextPart) and part.text]
            if texts:
                return texts[-1]
    return ""


async def missed(messages: Iterable[Message], store: "Store") -> list[Notice]:
    """Return what a session was never told of those that it began: they ended with the process, or just before it."""
    begun, known = dict[str, ToolPart](), set[str]()
    for part in (part for one in messages for part in one.parts.values()):
        if isinstance(part, ToolPart) and isinstance(part.state, Completed) and part.state.metadata:
            session_id = str(part.state.metadata.get("sessionId"))
            if part.state.metadata.get(ABOUT) is True:
                begun[session_id] = part
            elif part.state.input.get("stop"):
                known.add(session_id)
        elif isinstance(part, TextPart) and part.synthetic and part.metadata and ABOUT in part.metadata:
            known.add(str(part.metadata[ABOUT].get("session")))
    return [await _missed(name, part, store) for name, part in begun.items() if name not in known]


async def _missed(session_id: str, part: ToolPart, store: "Store") -> Notice:
    title, agent = str(part.state.input.get("description", "")), str(part.state.input.get("subagent_type", ""))
    try:
        name, messages = (await store.session(session_id)).slug, await store.messages(session_id, 20)
    except ToolwrightError:
        name, messages = "", []
    last = messages[-1].info if messages else None
    is_done = isinstance(last, Assistant) and last.error is None and last.finish not in ("", "tool-calls", None)
    failure = "" if is_done else "The program that it worked in has ended."
    text = notice_of(session_id, name, title, agent, last_text(messages), failure)
    return Notice(text=text, about=_about(session_id, "done" if is_done else "failed"))


def notice_of(session_id: str, name: str, title: str, agent: str, text: str, failure: str) -> str:
    """Return what the model is told of one that has ended."""
    who = f"The agent {agent} in the background, {name} ({title}),"
    end = f"\n\n<task_metadata>\nsession_id: {session_id}\n</task_metadata>"
    if not failure:
        return f"{who} is done. It reports:\n\n{text}{end}"
    so_far = f" What it had written by then:\n\n{text}" if text else ""
    again = " Call task with its session_id to let it go on."
    return f"{who} did not finish: {failure}{again}{so_far}{end}"


def _about(session_id: str, state: State) -> dict[str, Any]:
    return {ABOUT: {"session": session_id, "state": state}}


def _root_of(session: "Session") -> str:
    return session.callers[-1] if session.callers else session.id


def _last_prompt(session: "Session") -> int:
    """Return when a person last prompted a session."""
    for message in reversed(session.messages):
        words = (part for part in message.parts.values() if isinstance(part, TextPart))
        if isinstance(message.info, User) and any(not part.synthetic for part in words):
            return message.info.time.created
    return 0
