"""Desk of a person: a project, a session of it, and who answers the next prompt."""

from contextlib import suppress
from typing import TYPE_CHECKING, Literal, get_args

from toolwright.errors import ToolwrightError, UsageError
from toolwright.messages import Message, SessionInfo, User
from toolwright.record import record
from toolwright.session.events import AgentSwitched, SessionUpdated

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from toolwright.app.project import Project
    from toolwright.events import Event
    from toolwright.session.prompt import Prompt
    from toolwright.session.result import TurnResult

Room = Literal["session", "desk", "terminal", "screen"]
"""Parts of a surface: a session that somebody else chose, the choice of it, a terminal as well, or a whole screen."""


def holds(room: Room, wanted: Room) -> bool:
    """Tell whether a surface has what is wanted."""
    order = get_args(Room)
    return order.index(wanted) <= order.index(room)


@record(slots=True, kw_only=True)
class Desk:
    """One person, one project, one session at a time."""

    project: "Project"
    agent: str
    """The agent that answers the next prompt."""
    model: str = ""
    """The model of the next prompts; empty for the one that the agent, the session or the settings have."""
    variant: str = ""
    """Name of how hard the model thinks; empty for as usual."""
    goal: str = ""
    """The command that must hold before a prompt counts as answered; empty for none."""
    session: SessionInfo | None = None
    """None until the first prompt, so that whoever only looks leaves nothing behind."""
    room: Room = "session"
    """Parts that the surface has."""
    _busy: bool = False
    """True while a prompt is being answered."""
    _fresh: bool = False
    """True while nothing has been answered in the session yet."""

    async def open(self, session_id: str) -> list[Message]:
        """Go on with a session as it was left: its agent answers, as hard as it thought."""
        self._require_rest()
        session = await self.project.resume(session_id)
        messages = await self.project.messages(session_id)
        names = [one.name for one in await self.project.agents()]
        self.session, self._fresh = session, False
        last = last_prompt(messages)
        self.agent = agent_after(messages, names) or self.agent
        self.variant = (last.variant or "") if last and self.model in ("", str(last.model)) else ""
        return messages

    def leave(self) -> None:
        """Have the next prompt begin a session."""
        self._require_rest()
        self.session, self.variant, self.goal = None, "", ""

    def require_session(self) -> SessionInfo:
        """Return the session, or raise UsageError where there is none yet."""
        if self.session is None:
            raise UsageError("There is no session yet; it begins with your first prompt.")
        return self.session

    def _require_rest(self) -> None:
        if self._busy:
            raise UsageError("The agent is at work; stop it first.")

    async def begin(self, title: str = "") -> SessionInfo:
        """Begin a session, if there is none yet."""
        if self.session is None:
            self.session, self._fresh = await self.project.begin(self.agent, title), True
        return self.session

    async def say(self, text: str) -> "TurnResult":
        """Answer a text as a prompt to whoever answers here."""
        return await self.prompt(self.prompt_of(text))

    def prompt_of(self, text: str) -> "Prompt":
        """Return a text as a prompt to whoever answers here."""
        from toolwright.proof.goal import goal_of
        from toolwright.session.prompt import Prompt

        goal = goal_of(self.goal or None)
        return Prompt(text=text, agent=self.agent, model=self.model, variant=self.variant, until=goal, waits=False)

    async def prompt(self, prompt: "Prompt") -> "TurnResult":
        """Answer a prompt. One that cannot even be taken leaves no empty session behind."""
        session = await self.begin()
        self._busy = True
        try:
            result = await self.project.prompt(session.id, prompt)
        except ToolwrightError:
            with suppress(ToolwrightError):
                if self._fresh and not await self.project.messages(session.id):
                    await self.project.delete(session.id)
                    self.session = None
            raise
        finally:
            self._busy = False
        self._fresh = False
        return result

    async def next_model(self) -> str:
        """Look up the model that would answer the next prompt; empty if none is chosen."""
        chosen = self.model or await self.project.model_of(self.agent, self.session.id if self.session else "")
        if not chosen and (recent := await self.project.recent_models()):
            chosen = self.model = recent[0]
        return chosen

    def choose_model(self, name: str) -> None:
        """Have another model answer, which may think in other degrees."""
        self.model, self.variant = name, ""

    def take(self, event: "Event") -> None:
        """Follow what becomes of the session: its title, and who goes on with it."""
        session_id = self.session.id if self.session else ""
        match event:
            case AgentSwitched(agent=agent) if event.session_id == session_id:
                self.agent = agent
            case SessionUpdated(info=info) if info.id == session_id:
                self.session = info
            case _:
                pass


def last_prompt(messages: "Sequence[Message]") -> User | None:
    """Return the last prompt of a conversation."""
    return next((one.info for one in reversed(messages) if isinstance(one.info, User)), None)


def agent_after(messages: "Sequence[Message]", names: "Collection[str]") -> str:
    """Tell which of these agents answers next: the one that was spoken to last; empty if that is none of them."""
    last = last_prompt(messages)
    return last.agent if last is not None and last.agent in names else ""
