"""A session on a server, prompted and followed like one of this process."""

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Never, Self

from toolwright.client.events import question_of
from toolwright.client.files import data_url
from toolwright.client.link import EventLink
from toolwright.client.reading import called, decided
from toolwright.client.turns import RemoteTurns
from toolwright.deadline import to_the_end
from toolwright.definition import Result
from toolwright.errors import UsageError
from toolwright.events import Event
from toolwright.inbox import Question, Reply, as_reply
from toolwright.permission.forms import given_rules
from toolwright.permission.rules import Rule
from toolwright.protocols.json_types import Json
from toolwright.record import fields_of
from toolwright.session.alone import CallDecision
from toolwright.session.budget import budget_of
from toolwright.session.input_checks import as_arguments, check_options, check_prompt
from toolwright.session.prompting import Prompting
from toolwright.session.result import TurnResult
from toolwright.session.turns.stream import TurnReader, turn_events
from toolwright.session.typed_answer import answered_in_form, wanted_output

if TYPE_CHECKING:
    from toolwright.client.client import Client
    from toolwright.messages import Message, SessionInfo
    from toolwright.session.prompt import AskedOptions
    from toolwright.session.turn_events import TurnEvent


class ClientSession(Prompting):
    """One conversation on a server: `async with client.open_session() as session: await session.prompt("Hi")`."""

    def __init__(self, client: "Client", *, id: str = "", agent: str = "") -> None:  # noqa: A002 - as everywhere
        self.client, self.id, self.agent = client, id, agent
        self._questions: dict[str, Question] = {}
        self._link: EventLink | None = None
        self._turns: RemoteTurns | None = None

    def __repr__(self) -> str:
        return f"<ClientSession {self.id or 'not begun'} at {self.client.address}>"

    async def __aenter__(self) -> Self:
        health = await self.client.send("GET", "/global/health")
        ours = isinstance(health, dict) and "toolwright" in str(health.get("version"))
        link = EventLink(self.client, replays=ours)
        await link.open()
        self._link, self._turns = link, RemoteTurns(self.client, link, ours=ours)
        try:
            info = await (self.client.session(self.id) if self.id else self.client.create_session(agent=self.agent))
            self.id = info.id
            link.watch(info.id)
        except BaseException:
            await self.close()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Hear no more of the session. What is under way on the server goes on."""
        if self._link is not None:
            await self._link.close()
        self._link = self._turns = None

    async def abort(self) -> None:
        """Stop the turn that is under way."""
        await self._entered()[1].abort(self.id)

    async def info(self) -> "SessionInfo":
        return await self.client.session(self.id)

    async def messages(self) -> "list[Message]":
        """The conversation so far."""
        return await self.client.messages(self.id)

    async def call(self, tool: str, /, *misplaced: Never, **arguments: Any) -> Result:
        """Call a tool on the server as the session's agent. Questions are put to whoever answers there."""
        values = as_arguments(tool, misplaced, arguments)
        answer = await self._entered()[1].send_call(self.id, "call", {"tool": tool, "arguments": values})
        return called(answer)

    async def decide(self, tool: str, /, **arguments: Any) -> CallDecision:
        """Return what the rules there make of a call. Nothing of it is done and nobody is asked."""
        values = as_arguments(tool, (), arguments)
        return decided(await self._entered()[1].send_call(self.id, "decide", {"tool": tool, "arguments": values}))

    async def permit(self, rules: "Sequence[Rule] | Mapping[str, Any] | str") -> None:
        """Give the session rules of its own, in place of those it has from here; they hold from the next call on."""
        plain_rules = [
            {"permission": one.permission, "pattern": one.pattern, "action": one.action} for one in given_rules(rules)
        ]
        self._entered()
        await self.client.send("PATCH", f"/session/{self.id}", {"permission": plain_rules})

    async def reply(self, question_id: str, said: Reply | str) -> None:
        """Answer a question that was asked in a stream of this session."""
        question = self._questions.pop(question_id, None)
        if question is None:
            raise UsageError(f"No question {question_id!r} is waiting; it may have been answered or its turn stopped.")
        await self.client.settle(question, as_reply(said))

    async def _prompted(self, text: str, output: Any, options: "AskedOptions") -> TurnResult[Any]:
        chosen = _fields(text, options)
        if output is None and "retries" not in options and "validate" not in options:
            return await self._asked(text, chosen)
        form = wanted_output(output, options)
        chosen["system"] = f"{chosen['system']}\n\n{form.describe()}".strip()
        again = {**chosen, "files": [], "tools": []}
        first = await self._asked(text, chosen)
        return await answered_in_form(form, first, lambda repair: self._asked(repair, again))

    async def _asked(self, text: str, chosen: Json) -> TurnResult[Any]:
        _, turns = self._entered()
        try:
            return await turns.prompt(self.id, text, chosen)
        except asyncio.CancelledError:
            # The server only loses a listener; its turn ends when it is told so.
            await to_the_end(turns.abort(self.id))
            raise

    def _streamed(self, text: str, output: Any, options: "AskedOptions") -> "AsyncGenerator[TurnEvent[Any], None]":
        link, _ = self._entered()
        reader = TurnReader(self.id, self._noted)
        return turn_events(link.bus, reader, lambda: self._prompted(text, output, options))

    def _noted(self, event: Event) -> Question | None:
        question = question_of(event.to_json())
        if question is not None:
            self._questions[question.id] = question
        return question

    def _entered(self) -> tuple[EventLink, RemoteTurns]:
        if self._link is None or self._turns is None:
            raise UsageError("The session is not open. Enter it: async with client.open_session() as session.")
        return self._link, self._turns


def _fields(text: str, options: "AskedOptions") -> Json:
    """The fields of a prompt as a server takes them. UsageError for what it cannot be given."""
    check_options(options)
    files, tools, model = options.get("files", ()), options.get("tools"), options.get("model") or ""
    words = {name: options.get(name, "") for name in ("system", "agent", "variant")}
    if not isinstance(words["agent"], str):
        raise UsageError("A server has agents of its own: give the name of one, agent='build'.")
    check_prompt(text, files, tools, model, **words)
    budget = budget_of(options.get("budget"))
    if not isinstance(model, str):
        raise UsageError('A server is told the name of a model: model="provider/model".')
    return {
        "model": model,
        "files": [data_url(Path(file)) for file in files],
        "tools": None if tools is None else list(tools),
        "budget": {name: one for name, one in fields_of(budget).items() if one is not None} if budget else None,
        **words,
    }
