"""Subagents: work handed to another agent in a session below the caller's, never with more rights than the caller."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, contextmanager
from dataclasses import field, replace
from typing import Any

from toolwright.agents import Agents
from toolwright.calls.parts import Completed, Running, ToolPart
from toolwright.deadline import to_the_end
from toolwright.definition import ToolContext
from toolwright.errors import ToolError, UsageError
from toolwright.events import Bus, Event, PartUpdated
from toolwright.inbox import WrongAnswer
from toolwright.protocols.json_types import Json
from toolwright.record import record
from toolwright.services import Delegation, Report
from toolwright.session.asking import answered
from toolwright.session.prompt import Prompt
from toolwright.session.result import TurnResult
from toolwright.session.session import Session
from toolwright.session.sessions import Sessions
from toolwright.session.subagents.background import BackgroundAgents, last_text
from toolwright.text.ids import new_id

DEEPEST = 4
SHOW_EVERY = 0.1
"""Seconds between two reports of how a subagent is getting on."""


Settled = Callable[[ToolContext, TurnResult[Any]], Awaitable[str]]
"""Brings back what work in a copy has come to, in the name of the call that handed it down, and tells of it."""


@record(frozen=True, slots=True, kw_only=True)
class ElsewhereSession:
    """A session that works in a copy, and what is to be done with that when it has ended."""

    session: Session
    outcome: "Settled"


Elsewhere = Callable[[Session, Delegation], AbstractAsyncContextManager[ElsewhereSession]]


@record(slots=True)
class ChildSessions:
    """Implements Subagents over the sessions of a workspace."""

    agents: Agents
    sessions: Sessions
    bus: Bus
    background: BackgroundAgents
    end_jobs: Callable[[str], Coroutine[Any, Any, None]]
    """Ends the commands that a session has left running."""
    primary_tools: tuple[str, ...] = ()
    """Tools that are kept from subagents."""

    elsewhere: "Callable[[], Elsewhere | None]" = lambda: None
    """Has work done in copies of the project, where somebody can."""

    async def run(self, ctx: ToolContext, task: Delegation) -> Report:
        try:
            if task.background:
                return await self._begin(ctx, task)
            async with AsyncExitStack() as stack:
                parent, child, outcome = await self._sessions(ctx, task, stack)
                progress = CallProgress(ctx, task.description, child.id)
                with progress.following(self.bus):
                    result = await self._answered(child, self._prompt(parent, task))
                report = _report(child, result, tuple(progress.calls.values()))
                report = replace(report, text=_with(report.text, await outcome(ctx, result)))
        except WrongAnswer:
            raise
        except UsageError as error:
            raise ToolError(str(error), "not_found") from error
        if (turn := parent.turns.turn) is not None and turn.handed is not None:
            turn.handed.report = report
        return report

    async def _begin(self, ctx: ToolContext, task: Delegation) -> Report:
        """Have the subagent work in the background, by what the prompt leaves on now."""
        self.background.require_room(self.sessions.opened(ctx.session_id))
        async with AsyncExitStack() as opening:
            parent, child, outcome = await self._sessions(ctx, task, opening)
            prompt, stack = self._prompt(parent, task), opening.pop_all()

        async def answer() -> TurnResult[Any]:
            async with stack:
                result = await self._answered(child, prompt)
                text = result.text or last_text(child.conversation.messages)
                return replace(result, text=_with(text, await outcome(ctx, result)))

        worker = self.background.begin(parent, child, task.agent, task.description, answer)
        return Report(session_id=child.id, text=worker.name, at_work=True)

    async def attend(self, ctx: ToolContext, session_id: str, text: str, *, stop: bool) -> str | None:
        agent = self.background.at_work(session_id)
        if agent is None or ctx.session_id not in agent.session.callers:
            return None
        if stop:
            agent.is_known_to_end = agent.parent.id == ctx.session_id
            await self.background.stop(agent)
            return f"{agent.name} was stopped. {last_text(agent.session.messages)}".rstrip()
        if text.strip() and agent.session.turns.steer(text):
            return f"{agent.name} is told before its next step."
        doing = f"; last: {agent.doing}" if agent.doing else ""
        return f"{agent.name} is at work: {agent.steps} steps, {agent.seconds} s{doing}. You are told when it is done."

    async def _answered(self, child: Session, prompt: Prompt) -> TurnResult[Any]:
        """The subagent's answer, in the form that it has. Whatever it left running ends with its task."""
        try:
            return await answered(child, replace(prompt, message_id=new_id("msg")))
        finally:
            await to_the_end(self.end_jobs(child.id))

    async def _sessions(
        self, ctx: ToolContext, task: Delegation, stack: AsyncExitStack
    ) -> tuple[Session, Session, Settled]:
        """The session that hands the work down, the one that takes it, and what brings it back from a copy."""
        sessions = self.sessions
        parent = sessions.opened(ctx.session_id)
        if len(parent.callers) >= DEEPEST:
            raise ToolError(f"Work can be handed down {DEEPEST} times, no further. Do this part yourself.", "denied")
        goes_on = bool(task.session_id) and await sessions.store.knows(task.session_id)
        if not goes_on and (task.copy or self.agents[task.agent].copy):
            return parent, *await self._in_copy(parent, task, stack)
        child = await self._resumed(sessions, parent, task) if goes_on else self._created(sessions, parent, task)
        child.turns.above = parent.turns.turn.spending if parent.turns.turn else None
        above: Session | None = parent
        while above is not None:
            above.turns.changes.follow(child.id)
            above = above.parent
        return parent, child, _nothing

    async def _in_copy(self, parent: Session, task: Delegation, stack: AsyncExitStack) -> tuple[Session, Settled]:
        """A session in a copy of the project, whose changes are not those of its parent."""
        make = self.elsewhere()
        if make is None:
            raise ToolError("Nothing makes copies of this project here. Hand the work down without a copy.", "denied")
        place = await stack.enter_async_context(make(parent, task))
        place.session.turns.above = parent.turns.turn.spending if parent.turns.turn else None
        return place.session, place.outcome

    def _prompt(self, parent: Session, task: Delegation) -> Prompt:
        """Make the prompt of a subagent: what is switched off above is switched off below."""
        last = parent.conversation.last_user()
        turn = parent.turns.turn
        above = turn.model if turn else None
        model = self.agents[task.agent].model or above or (str(last.model) if last else "")
        off = dict.fromkeys((*(turn.withheld if turn else ()), *self.primary_tools), False)
        handed = turn.handed.prompt if turn and turn.handed else Prompt(text="", verbatim=True)
        return replace(handed, text=task.prompt, agent=task.agent, model=handed.model or model, tools=off)

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
class CallProgress:
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


def _report(child: Session, result: TurnResult[Any], calls: tuple[Json, ...]) -> Report:
    failure = str(result.error) if result.error is not None else ""
    text = last_text(child.conversation.messages)
    return Report(session_id=child.id, text=text, summary=calls, failure=failure, steps=result.steps)


def _with(text: str, outcome: str) -> str:
    return f"{text}\n\n{outcome}" if outcome else text


async def _nothing(_: ToolContext, __: TurnResult[Any]) -> str:
    """For work in the project itself, whose changes are there."""
    return ""
