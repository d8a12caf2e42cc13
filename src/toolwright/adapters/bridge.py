"""The base of every adapter: the tools a session offers, a call with an answer brought along, a stranger's tool."""

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import field
from typing import Any, Protocol

from toolwright.calls.request import Request
from toolwright.definition import Attachment, Call, Result, Tool, ToolContext
from toolwright.events import Bus
from toolwright.forms.values import jsonable
from toolwright.inbox import Answerer, Inbox, Question, Reply, Said
from toolwright.permission.gate import AskingCall, DryRunOver, Gate
from toolwright.protocols.json_types import Json
from toolwright.record import record
from toolwright.session.records.call_record import CallRecord
from toolwright.session.session import Session
from toolwright.session.storage.in_memory import MemoryStore
from toolwright.text.ids import new_id


class Opens(Protocol):
    """A workspace, from which a session can be had."""

    def session(self) -> Session: ...


Target = Session | Opens
"""What adapters are made over: a session, or a workspace, of which a session of its own is made."""


def session_of(target: Target) -> Session:
    return target if isinstance(target, Session) else target.session()


async def offered(session: Session) -> list[Tool]:
    """The tools that the session's agent is offered, in the form made for it; what is denied is not among them."""
    turn = session.idle_terms()
    names = session.offered(turn)
    tools = await session.home.caller.registry.tools(
        turn.provider, turn.model_id, session.ruled_agent_named(turn.agent.name)
    )
    return [tool for tool in tools if tool.id in names]


async def run(session: Session, tool: str, arguments: Any, call_id: str = "", answer: Answerer | None = None) -> Result:
    """Run a call through the door. Questions about permissions go to `answer`, if there is one, else to the inbox.

    What an `always` allows is stored as everywhere.
    """
    call = Call(id=call_id or new_id("call"), tool=tool, arguments=arguments)
    if answer is None:
        return await session.run_call(call)
    own, usual = answer, session.gate.inbox.answer

    def asked(question: Question) -> "Said | Awaitable[Said]":
        if question.kind == "permission":
            return own(question)
        return usual(question) if usual is not None else Reply(kind="reject")

    return await session.run_call(
        call, gate=Gate(Inbox(session.gate.inbox.bus, asked), session.gate.approvals, session.gate.scope)
    )


async def first_question(session: Session, tool: str, arguments: Any) -> Question | None:
    """Return the question that would be asked before such a call. Nothing of it is done or recorded."""
    call = Call(id=new_id("call"), tool=tool, arguments=arguments)
    journal = CallRecord.begin(call, session_id=session.id, message_id=new_id("msg"), store=MemoryStore(), bus=Bus())
    gate = _UpToTheQuestion(session.gate.inbox, session.gate.approvals)
    await session.run_call(call, journal=journal, gate=gate)
    return gate.questions[0] if gate.questions else None


@record(slots=True)
class _UpToTheQuestion(Gate):
    """Lets a call go as far as it may without asking, and ends it where it would ask; so do calls within it."""

    questions: list[Question] = field(default_factory=list[Question])
    _checked: dict[str, Sequence[Request]] = field(default_factory=dict[str, Sequence[Request]])
    """By call what it has said that it will ask for."""

    def check(self, asker: AskingCall, requests: Sequence[Request]) -> None:
        Gate.check(self, asker, requests)
        self._checked[asker.call.id] = requests

    async def ask(self, asker: AskingCall, requests: Sequence[Request]) -> None:
        Gate.check(self, asker, requests)
        for needs in (requests, self._checked.get(asker.call.id, ())):
            if asking := tuple(one for one in needs if self.judge(asker, one).action == "ask"):
                self.questions.append(self._question(asker, asking))
                break
        raise DryRunOver


def foreign_tool(
    name: str, description: str, parameters: Mapping[str, Any], run: Callable[[ToolContext, Json], Awaitable[Any]]
) -> Tool:
    """A tool of another library as one of ours: the door asks for it by its name."""

    async def call(ctx: ToolContext, arguments: Json) -> Result:
        value = await run(ctx, arguments)
        return value if isinstance(value, Result) else result_of(value)

    schema = {"type": "object", "properties": {}, **parameters}
    return Tool(id=name, description=description, parameters=schema, run=call)


Piece = str | Attachment
"""Words, or a file beside them."""


def result_of(value: Any, piece: Callable[[Any], Piece | None] = lambda _: None) -> Result:
    """Return the result of a stranger's tool: words and files where `piece` knows all of it, else its JSON."""
    ones = value if isinstance(value, list) else [value]
    pieces = [one if isinstance(one, str) else piece(one) for one in ones]
    if None in pieces or all(isinstance(one, str) for one in ones):
        return Result(as_text(value))
    return joined([one for one in pieces if one is not None])


def joined(pieces: Sequence[Piece]) -> Result:
    words = "\n".join(one for one in pieces if isinstance(one, str))
    return Result(words, attachments=tuple(one for one in pieces if isinstance(one, Attachment)))


def shown(question: Question) -> Json:
    """Return what helps a person to decide, as JSON for the program around the library."""
    return {
        "title": question.title,
        "permission": question.permission,
        "patterns": list(question.patterns),
        "always": list(question.always),
        **{key: value for key, value in question.metadata.items() if isinstance(value, str)},
    }


def data_url(mime: str, content: str) -> str:
    """The address of what is given in base64."""
    return f"data:{mime};base64,{content}"


def as_text(value: Any) -> str:
    """A value as a model reads it."""
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(jsonable(value), ensure_ascii=False, default=str)
