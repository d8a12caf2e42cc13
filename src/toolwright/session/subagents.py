"""Subagents: work handed to another agent in a session below the caller's, never with more rights than the caller."""

from collections.abc import Callable
from dataclasses import dataclass

from toolwright.agents import Agents
from toolwright.errors import ToolError
from toolwright.events import Bus, Event, PartUpdated
from toolwright.messages import Assistant, Message, TextPart
from toolwright.parts import Completed, Running, ToolPart
from toolwright.services import Report, Task
from toolwright.session.prompt import Prompt
from toolwright.session.sessions import Sessions
from toolwright.session.turns import Turns
from toolwright.tool import Json, ToolContext

DEEPEST = 4


@dataclass(slots=True)
class ChildSessions:
    """Implements Subagents over the sessions of a workspace."""

    agents: Agents
    sessions: Callable[[], Sessions]
    bus: Bus

    async def run(self, ctx: ToolContext, task: Task) -> Report:
        sessions = self.sessions()
        parent = sessions.open(ctx.session_id)
        if len(parent.session.callers) >= DEEPEST:
            raise ToolError(f"Work can be handed down {DEEPEST} times, no further. Do this part yourself.", "denied")
        child = self._resumed(sessions, parent, task) if task.session_id else self._created(sessions, parent, task)
        parent.children.add(child)
        calls: dict[str, Json] = {}

        def follow(event: Event) -> None:
            part = event.part if isinstance(event, PartUpdated) else None
            if isinstance(part, ToolPart) and part.session_id == child.session.id:
                calls[part.id] = _summary(part)
                ctx.metadata(task.description, {"sessionId": child.session.id, "summary": list(calls.values())})

        stop_following = self.bus.subscribe(follow)
        ctx.metadata(task.description, {"sessionId": child.session.id, "summary": []})
        model = parent.conversation.last_user()
        try:
            message = await child.prompt(
                Prompt(
                    text=task.prompt, agent=task.agent, model=self._model(task.agent, str(model.model) if model else "")
                )
            )
        finally:
            stop_following()
            parent.children.discard(child)
        return _report(child, message, tuple(calls.values()))

    def _model(self, agent: str, callers: str) -> str:
        return self.agents[agent].model or callers

    def _created(self, sessions: Sessions, parent: Turns, task: Task) -> Turns:
        title = f"{task.description} (@{task.agent} subagent)"
        return sessions.create(title=title, parent=parent)

    def _resumed(self, sessions: Sessions, parent: Turns, task: Task) -> Turns:
        """A session of the same tree; no other is anybody's to go on with."""
        child = sessions.open(task.session_id)
        if parent.session.id not in child.session.callers:
            raise ToolError(
                f"{task.session_id} is not a session that was started from here."
                " Leave session_id out to start a new one.",
                "denied",
            )
        return child


def _summary(part: ToolPart) -> Json:
    state: Json = {"status": part.state.status}
    if isinstance(part.state, Running | Completed) and part.state.title:
        state["title"] = part.state.title
    return {"id": part.id, "tool": part.tool, "state": state}


def _report(child: Turns, message: Message, calls: tuple[Json, ...]) -> Report:
    failure = ""
    if isinstance(message.info, Assistant) and message.info.error is not None:
        failure = str(message.info.error.data.get("message", message.info.error.name))
    return Report(session_id=child.session.id, text=_last_text(child, message), summary=calls, failure=failure)


def _last_text(child: Turns, message: Message) -> str:
    """The last words of the last message that has any."""
    for one in [message, *reversed(child.conversation.messages)]:
        if isinstance(one.info, Assistant):
            texts = [part.text for part in one.parts.values() if isinstance(part, TextPart) and part.text]
            if texts:
                return texts[-1]
    return ""
