"""The one door: every tool call, whoever makes it, passes through `Caller.call_tool`."""

import asyncio
import logging
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from toolwright.errors import ToolError
from toolwright.hooks import Hook, wrap
from toolwright.jsontext import read_json
from toolwright.registry import Registry, shown_name
from toolwright.request import Request
from toolwright.tool import Call, Json, Result, ToolContext
from toolwright.truncate import Truncator

log = logging.getLogger(__name__)


class Journal(Protocol):
    """Where the states of one call are written down, before anybody is told of them."""

    def running(self, call: Call) -> None: ...
    async def finished(self, call: Call, result: Result) -> None: ...


@dataclass(slots=True, kw_only=True)
class Caller:
    """Looks a tool up, checks its arguments, runs it inside the hooks, cuts its output and records how it went."""

    registry: Registry
    truncator: Truncator
    hooks: Sequence[Hook] = field(default_factory=list[Hook])

    async def call_tool(self, call: Call, ctx: ToolContext, journal: Journal) -> Result:
        """Run the call and record how it went. A failure comes back as a result, never as an exception."""
        call = self.named(call)
        journal.running(call)
        hooked = wrap(self.hooks, ctx, lambda call: self._outcome(call, ctx, self._run(call, ctx)))
        try:
            result = await self._outcome(call, ctx, hooked(call))
        except asyncio.CancelledError:
            stopped = ToolError(f"The call was stopped: {ctx.abort.reason or 'the turn was aborted'}.", "aborted")
            await journal.finished(call, Result.failed(stopped))
            raise
        await journal.finished(call, result)
        return result

    def named(self, call: Call) -> Call:
        """The call under the tool's right name; one of an unknown tool becomes a call of `invalid`."""
        try:
            return Call(id=call.id, tool=self.registry.name(call.tool), arguments=call.arguments)
        except ToolError as error:
            return invalid(call.id, call.tool, error)

    async def _outcome(self, call: Call, ctx: ToolContext, work: Awaitable[Result]) -> Result:
        """What the work came to. A failure is a result here already, so that hooks see it as one."""
        try:
            return await work
        except ToolError as error:
            failure = error
        except Exception as bug:
            log.exception("%s broke", call.tool)
            failure = ToolError(f"{call.tool} broke: {type(bug).__name__}: {bug}", "crash")
        return self._cut(Result.failed(failure), call, ctx)

    async def _run(self, call: Call, ctx: ToolContext) -> Result:
        tool = self.registry[call.tool]
        if ctx.hides(tool.permission):
            # A model may call what it was not offered; whatever the tool asks for itself, this much is settled.
            ctx.check(Request(permission=tool.permission, patterns=("*",)))
        arguments = tool.parse(call.arguments)
        if not tool.asks:
            await ctx.ask(tool.id, "*")
        return self._cut(await tool.run(ctx, arguments), call, ctx)

    def _cut(self, result: Result, call: Call, ctx: ToolContext) -> Result:
        return self.truncator.apply(
            result, tool=call.tool, agent=ctx.agent, offered=ctx.offered, session_id=ctx.session_id
        )


def call_from_text(call_id: str, tool: str, text: str) -> Call:
    """A call whose arguments are still the text a model wrote; what is not JSON becomes a call of `invalid`."""
    if not text.strip():
        return Call(id=call_id, tool=tool, arguments={})
    try:
        arguments: Any = read_json(text)
    except ValueError as problem:
        return invalid(
            call_id, tool, ToolError(f"Its arguments are not JSON: {problem}. Send one JSON object.", "schema")
        )
    return Call(id=call_id, tool=tool, arguments=arguments)


def invalid(call_id: str, tool: str, error: ToolError) -> Call:
    """The call that tells the model why another could not be made."""
    arguments: Json = {"tool": shown_name(tool), "error": str(error), "kind": error.kind}
    return Call(id=call_id, tool="invalid", arguments=arguments)
