"""Our MCP service: the tools of a workspace, called through the door, in the words of the protocol."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import field
from typing import Any

from toolwright.app.shown import looks_of
from toolwright.calls.parts import Running, ToolPart
from toolwright.deadline import time_limit
from toolwright.definition import Call, Result, Tool
from toolwright.errors import ToolError, UnknownTool, UsageError
from toolwright.events import Event, PartUpdated
from toolwright.extension import Resource
from toolwright.inbox import NOBODY, Question, Reply
from toolwright.mcp.serve.blocks import block_of
from toolwright.mcp.serve.elicitation import form_of, reply_of
from toolwright.mcp.serve.undo import undo_tools
from toolwright.protocols.json_types import Json
from toolwright.record import record
from toolwright.registry import ready
from toolwright.session.session import Session
from toolwright.text.ids import new_id
from toolwright.workspace import Workspace

BEAT = 0.5
"""Seconds between two signs that a call is still at work."""
INSTRUCTIONS = (
    "Tools of a coding agent for one project folder. Read a file before you edit it. Paths may be relative to the "
    "project. Every call is judged by the permission rules of the user; a refusal says why. `changes` shows what was "
    "changed in this connection and `revert` undoes it."
)

Ask = Callable[[Json], Awaitable[Json]]
"""Puts a form to whoever sits at the client; gives what they answered."""
Tell = Callable[[Json], Awaitable[None]]
"""Sends the parameters of a sign of progress."""


@record(frozen=True, slots=True, kw_only=True)
class ToolCaller:
    """One call's way back to its client."""

    session_id: str
    ask: Ask | None
    """None where the client cannot ask anybody."""


@record(slots=True)
class ClientAnswers:
    """Puts questions of calls to the clients that made them. It is the answerer of the workspace."""

    _callers: dict[str, ToolCaller] = field(default_factory=dict[str, ToolCaller])

    async def __call__(self, question: Question) -> Reply:
        ask = self._asked_by(question)
        if ask is None:
            return Reply(kind="reject", message=NOBODY)
        return reply_of(question, await ask(form_of(question)))

    def can_ask(self, question: Question) -> bool:
        """Tell whether the client whose call it is about can ask somebody."""
        return self._asked_by(question) is not None

    @contextmanager
    def calling(self, call_id: str, caller: ToolCaller) -> Iterator[None]:
        self._callers[call_id] = caller
        try:
            yield
        finally:
            del self._callers[call_id]

    def _asked_by(self, question: Question) -> Ask | None:
        """That of the call itself, or of the newest in its session, as for the calls inside a batch."""
        if question.call_id in self._callers:
            return self._callers[question.call_id].ask
        sessions = (question.session_id, *question.callers)
        return next((one.ask for one in reversed(self._callers.values()) if one.session_id in sessions), None)


@record(slots=True, kw_only=True)
class Service:
    """The tools of one workspace, for any number of connections."""

    workspace: Workspace
    answers: ClientAnswers
    agent: str = ""
    only: Sequence[str] = ()
    """The tools to offer; all if none is named."""

    async def prepare(self) -> None:
        """Join the tools for undoing, and check the names that were given."""
        registry = self.workspace.registry
        registry.add(ready(tool, "tw mcp serve") for tool in undo_tools(self.workspace))
        await registry.catch_up()
        for name in self.only:
            try:
                await registry.find(name)
                registry.name(name)
            except ToolError as error:
                raise UsageError(str(error)) from error
        if self.workspace.settings.mcp:
            self.workspace.mcp.begin()

    def session(self) -> Session:
        return self.workspace.session(self.agent)

    async def tools(self, session: Session) -> list[Json]:
        if self.workspace.settings.mcp:
            await self.workspace.mcp.known()
        offered = await self.workspace.registry.tools("", "", session.ruled_agent)
        return [_described(tool) for tool in offered if self._offers(tool.id)]

    def _offers(self, tool_id: str) -> bool:
        if self.only:
            return tool_id in self.only
        # What hands work to an agent, or on to another, is for our own loop: whoever calls us has agents of their own.
        look = looks_of(self.workspace).look(tool_id)
        return not look.child and look.kind != "switch_mode"

    def resources(self) -> list[Resource]:
        """Return what the extensions of the workspace have for clients to read."""
        return [one for extension in self.workspace.extensions for one in extension.resources]

    async def call(
        self, session: Session, params: Json, ask: Ask | None, tell: Tell | None, log: Tell | None = None
    ) -> Json:
        """Run one call. Any failure of it is in the answer. `log` gets what it reports of itself."""
        name, arguments = params.get("name"), params.get("arguments")
        if not isinstance(name, str):
            return _answer(Result.failed(ToolError("Name the tool to call.", "schema")))
        call = Call(id=new_id("call"), tool=name, arguments={} if arguments is None else arguments)
        try:
            await self._require(session, name)
        except ToolError as error:
            return _answer(Result.failed(error))
        with self.answers.calling(call.id, ToolCaller(session_id=session.id, ask=ask)):
            async with _Beat(self.workspace, call, tell, log):
                return _answer(await session.run_call(call))

    async def _require(self, session: Session, name: str) -> None:
        """Raise ToolError for a tool that is not there, or not for this connection."""
        registry = self.workspace.registry
        await registry.catch_up()
        await registry.find(name)
        try:
            known = registry.name(name)
        except UnknownTool as error:
            offered = [tool_id for tool_id in session.offered() if self._offers(tool_id)]
            raise UnknownTool(registry.unknown(name, offered)) from error
        if not self._offers(known):
            raise UnknownTool(f"{name} is not offered over this connection.")


class _Beat:
    """Tells the client that a call is at work: now and then, and whenever it shows something else."""

    def __init__(self, workspace: Workspace, call: Call, tell: Tell | None, log: Tell | None) -> None:
        self._bus, self._call, self._tell, self._log = workspace.bus, call, tell, log
        self._title = call.tool
        self._titles: list[str] = []
        """Those that are not in the log yet."""
        self._news = asyncio.Event()
        self._leave: Callable[[], None] = lambda: None
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> None:
        if self._tell is not None or self._log is not None:
            self._leave = self._bus.subscribe(self._hear)
            self._task = asyncio.create_task(self._beat())

    async def __aexit__(self, *_: object) -> None:
        self._leave()
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            await self._log_titles()

    def _hear(self, event: Event) -> None:
        if not isinstance(event, PartUpdated) or not isinstance(event.part, ToolPart):
            return
        state = event.part.state
        if event.part.call_id == self._call.id and isinstance(state, Running) and state.title:
            if state.title != self._title:
                self._titles.append(state.title)
            self._title = state.title
            self._news.set()

    async def _log_titles(self) -> None:
        while self._log is not None and self._titles:
            await self._log({"data": self._titles.pop(0)})

    async def _beat(self) -> None:
        loop = asyncio.get_running_loop()
        begun = loop.time()
        while True:
            with suppress(TimeoutError):
                async with time_limit(BEAT):
                    await self._news.wait()
            self._news.clear()
            await self._log_titles()
            if self._tell is not None:
                await self._tell({"progress": round(loop.time() - begun, 6), "message": self._title})


def _described(tool: Tool) -> Json:
    hints = {"readOnlyHint": True} if tool.reads and not tool.writes else {}
    return {
        "name": tool.id,
        "description": tool.description,
        "inputSchema": tool.parameters | {"type": "object"},
        "annotations": {"title": tool.id, **hints},
    }


def _answer(result: Result) -> Json:
    blocks: list[Json] = [{"type": "text", "text": result.output}, *map(block_of, result.attachments)]
    answer: Json = {"content": blocks, "isError": result.error is not None}
    about: dict[str, Any] = {"toolwright/title": result.title} if result.title else {}
    if result.error is not None:
        about["toolwright/kind"] = result.error.kind
    return answer | ({"_meta": about} if about else {})
