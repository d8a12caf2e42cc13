"""Agents that work in the background, as people see them: a list of them, and which one is meant by a name."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from toolwright.app.words import duration, money, plural
from toolwright.errors import UsageError
from toolwright.record import record

if TYPE_CHECKING:
    from toolwright.workspace import Workspace


@record(frozen=True, slots=True, kw_only=True)
class AgentAtWork:
    """One of them; some may be done."""

    session: str
    name: str
    agent: str
    title: str
    state: str
    """working, waiting (for an answer of a person's), done, failed or stopped."""
    steps: int = 0
    seconds: int = 0
    cost: float = 0.0
    doing: str = ""
    """The last that it did, or said."""

    @property
    def line(self) -> str:
        """Return all that is worth knowing, in one line."""
        taken = ", ".join(
            [plural(self.steps, "step"), duration(self.seconds), *([money(self.cost)] if self.cost else [])]
        )
        last = f" · {self.doing}" if self.doing and self.state in ("working", "waiting") else ""
        return f"{self.name:<18} {self.state:<8} {self.agent}: {self.title} ({taken}){last}"


def agents_below(workspace: "Workspace", session_id: str) -> list[AgentAtWork]:
    """Return those that a session, or one below it, has begun since the program did."""
    if "background" not in workspace.__dict__:
        return []
    asking = {name for one in workspace.inbox.pending for name in (one.session_id, *one.callers)}
    return [
        AgentAtWork(
            session=one.session.id,
            name=one.name,
            agent=one.agent,
            title=one.title,
            state="waiting" if one.state == "working" and one.session.id in asking else one.state,
            steps=one.steps,
            seconds=one.seconds,
            cost=one.spending.cost,
            doing=one.doing,
        )
        for one in workspace.background.below(session_id)
    ]


def agent_meant(agents: Sequence[AgentAtWork], name: str) -> AgentAtWork:
    """Return the one of a name or its beginning; UsageError if there is none, or several."""
    fitting = [one for one in agents if one.name == name] or [one for one in agents if one.name.startswith(name)]
    if len(fitting) == 1:
        return fitting[0]
    known = ", ".join(one.name for one in fitting or agents)
    raise UsageError(
        f"{'Several agents begin' if fitting else 'No agent in the background begins'} with {name!r}: {known}."
    )
