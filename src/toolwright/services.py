"""Services that a conversation offers its tools beyond permission: protocols of a few methods, got by `ctx.use`."""

from collections.abc import Sequence
from dataclasses import field
from typing import Any, Protocol

from toolwright.definition import ToolContext
from toolwright.inbox import Choice
from toolwright.protocols.json_types import Json, JsonView
from toolwright.record import record


@record(frozen=True, slots=True, kw_only=True)
class Todo:
    """One entry of a session's list."""

    id: str
    content: str
    status: str
    """pending, in_progress, completed or cancelled; another word is kept as it is."""
    priority: str
    further: Json = field(default_factory=dict[str, Any])
    """Further keys that the model has written into the entry."""

    @classmethod
    def of(cls, entry: Json) -> "Todo":
        """An entry as the model writes it, with its id."""
        own = {name: str(entry[name]) for name in ("id", "content", "status", "priority")}
        return cls(**own, further={name: value for name, value in entry.items() if name not in own})

    def as_json(self) -> Json:
        own = {"id": self.id, "content": self.content, "status": self.status, "priority": self.priority}
        return {**own, **self.further}


class Todos(Protocol):
    """The todo list of each session."""

    async def of(self, session_id: str) -> list[Todo]: ...
    def replace(self, session_id: str, todos: Sequence[Todo]) -> None: ...


class Questions(Protocol):
    """Puts questions to the user."""

    @property
    def attended(self) -> bool:
        """Return whether anybody can be asked at all."""
        ...

    async def ask(self, ctx: ToolContext, questions: Sequence[Choice], form: JsonView = ...) -> list[list[str]]:
        """The chosen labels or free answers, one list a question; raises PermissionRejected if the user declines.

        `form` is the form of MCP that the questions stand for, if they do.
        """
        ...


@record(frozen=True, slots=True, kw_only=True)
class Delegation:
    """Work handed to a subagent."""

    description: str
    prompt: str
    agent: str
    session_id: str = ""
    """A child session of the same tree to go on with; a new one if empty."""
    command: str = ""
    background: bool = False
    """True if the caller goes on meanwhile."""
    copy: bool = False
    """True if the work is done in a copy of the project."""


@record(frozen=True, slots=True, kw_only=True)
class Report:
    """The report of a subagent."""

    session_id: str
    text: str
    """The last text it wrote; what there is of it if it failed."""
    summary: tuple[Json, ...] = field(default=())
    """Its calls: `{"id", "tool", "state": {"status", "title"}}` each."""
    failure: str = ""
    """Why it did not come to an end, if it did not."""
    steps: int = 0
    """Number of steps it took."""
    at_work: bool = False
    """True while it goes on in the background."""


@record(frozen=True, slots=True, kw_only=True)
class OtherAgent:
    """An agent that work can be handed to."""

    name: str
    description: str


class OtherAgents(Protocol):
    """Knows the other agents."""

    def known(self, agent: str) -> list[OtherAgent]:
        """Those an agent may call at all: subagents that its rules do not deny it."""
        ...

    def name_of(self, named: str) -> str:
        """The name of the agent that is named, for one that is named by the path of its file."""
        ...


class Subagents(Protocol):
    """Hands work to other agents."""

    async def run(self, ctx: ToolContext, task: Delegation) -> Report:
        """Let the subagent work until it is done. Progress shows in the call's metadata meanwhile.

        One that is to work in the background is only begun; the caller's session is told when it has ended.
        """
        ...

    async def attend(self, ctx: ToolContext, session_id: str, text: str, *, stop: bool) -> str | None:
        """Tell one that works in the background something, stop it, or say how it is; None if none works there."""
        ...


class Modes(Protocol):
    """Changes which agent goes on with a session."""

    def plan_file(self, session_id: str) -> str:
        """Return the file of this session's plan."""
        ...

    def switch(self, ctx: ToolContext, agent: str, text: str) -> None:
        """From the next step on the named agent works, told so by a message with this text."""
        ...
