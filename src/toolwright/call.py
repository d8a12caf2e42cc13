"""The one door: every tool call, whoever makes it, passes through `Caller.call_tool`."""

import asyncio
import json
import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from toolwright.errors import ToolError
from toolwright.hooks import Hook, wrap
from toolwright.registry import Registry
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
        call = self._named(call)
        journal.running(call)
        try:
            result = await wrap(self.hooks, ctx, lambda call: self._run(call, ctx))(call)
        except ToolError as error:
            result = Result.failed(error)
        except asyncio.CancelledError:
            stopped = ToolError(f"The call was stopped: {ctx.abort.reason or 'the turn was aborted'}.", "aborted")
            await journal.finished(call, Result.failed(stopped))
            raise
        except Exception as bug:
            log.exception("%s broke", call.tool)
            result = Result.failed(ToolError(f"{call.tool} broke: {type(bug).__name__}: {bug}", "crash"))
        await journal.finished(call, result)
        return result

    def _named(self, call: Call) -> Call:
        """The call under the tool's right name; one of an unknown tool becomes a call of `invalid`."""
        try:
            return Call(id=call.id, tool=self.registry[call.tool].id, arguments=call.arguments)
        except ToolError as error:
            return invalid(call.id, call.tool, error)

    async def _run(self, call: Call, ctx: ToolContext) -> Result:
        tool = self.registry[call.tool]
        arguments = tool.parse(call.arguments)
        if not tool.asks:
            await ctx.ask(tool.id, "*")
        result = await tool.run(ctx, arguments)
        return self.truncator.apply(result, tool=tool.id, agent=ctx.agent, offered=ctx.offered)


def call_from_text(call_id: str, tool: str, text: str) -> Call:
    """A call whose arguments are still the text a model wrote; what is not JSON becomes a call of `invalid`."""
    if not text.strip():
        return Call(id=call_id, tool=tool, arguments={})
    try:
        arguments: Any = json.loads(text)
    except ValueError as problem:
        return invalid(
            call_id, tool, ToolError(f"Its arguments are not JSON: {problem}. Send one JSON object.", "schema")
        )
    return Call(id=call_id, tool=tool, arguments=arguments)


def invalid(call_id: str, tool: str, error: ToolError) -> Call:
    """The call that tells the model why another could not be made."""
    arguments: Json = {"tool": tool, "error": str(error), "kind": error.kind}
    return Call(id=call_id, tool="invalid", arguments=arguments)
