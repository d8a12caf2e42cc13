"""The one door: every tool call, whoever makes it, passes through `Caller.call_tool`."""

import asyncio
import errno
import logging
import time
from collections.abc import Awaitable
from dataclasses import field, replace
from typing import Any, Protocol

from toolwright.calls.acts import OUTWARD
from toolwright.calls.builtin import INVALID
from toolwright.calls.order import CallOrder
from toolwright.calls.request import Request
from toolwright.calls.truncate import Truncator
from toolwright.definition import Call, Result, Tool, ToolContext
from toolwright.errors import CallChanged, PermissionDenied, ToolError, ToolwrightError, UnknownTool
from toolwright.flows.naming import act_of_call
from toolwright.hooks import CallHook, wrap
from toolwright.inbox import WrongAnswer, mistake_in
from toolwright.protocols.json_text import read_json
from toolwright.protocols.json_types import Json
from toolwright.record import record
from toolwright.registry import Registry, shown_name

log = logging.getLogger(__name__)

_RUN_OUT = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EMFILE, errno.ENFILE, errno.ENOMEM})


class CallJournal(Protocol):
    """Journal of the states of one call, written before any event of them."""

    def running(self, call: Call) -> None: ...
    async def finished(self, call: Call, result: Result) -> None: ...


@record(slots=True, kw_only=True)
class Caller:
    """Looks a tool up, checks its arguments, runs it inside the hooks, truncates its output and records how it went."""

    registry: Registry
    truncator: Truncator
    hooks: list[CallHook] = field(default_factory=list[CallHook])

    async def call_tool(self, call: Call, ctx: ToolContext, journal: CallJournal, order: CallOrder) -> Result:
        """Run the call and record how it went. A failure comes back as a result, never as an exception.

        What is raised all the same: that the call was cancelled, that an answerer gave no answer, and CallChanged,
        where a person wants it made in another way.
        """
        try:
            tool = await self.registry.current(call.tool)
        except ToolError as error:  # why nobody has it is known
            tool, call = None, invalid(call.id, call.tool, error)
        if tool is None:
            tool, call = self.found(call, ctx)
        began = time.monotonic()
        log.debug("%s is called as %s in %s", tool.id, call.id, ctx.session_id)
        with order.place(tool, call, ctx.parent) as place:
            try:
                if order.is_shared:
                    await order.wait_for_earlier(place)
                journal.running(call)
                if self.hooks:
                    result = await self._hooked(tool, call, ctx)
                else:
                    result = await self._outcome(tool, ctx, self._run(tool, call, ctx))
            except asyncio.CancelledError:
                stopped = ToolError(f"The call was stopped: {ctx.abort.reason or 'the turn was aborted'}.", "aborted")
                result = Result.failed(stopped)
                if is_cancelled():
                    await journal.finished(call, result)
                    raise
            except WrongAnswer as error:
                await journal.finished(call, Result.failed(ToolError(str(error), "rejected")))
                raise
            if isinstance(result.error, CallChanged):
                raise result.error
            await journal.finished(call, result)
            how = result.error.kind if result.error else "done"
            log.debug("%s has ended as %s after %.0f ms: %s", tool.id, call.id, (time.monotonic() - began) * 1000, how)
            return result

    def found(self, call: Call, ctx: ToolContext | None = None) -> tuple[Tool, Call]:
        """The tool, and the call under its right name; one of an unknown tool becomes a call of `invalid`."""
        try:
            tool = self.registry[call.tool]
        except UnknownTool as error:
            failure = error if ctx is None else UnknownTool(self.registry.unknown(call.tool, ctx.offered))
            return self.registry[INVALID], invalid(call.id, call.tool, failure)
        except Exception as bug:
            log.exception("%s cannot be loaded", call.tool)
            return _broken(self.registry.name(call.tool), bug), call
        return tool, call if tool.id == call.tool else replace(call, tool=tool.id)

    async def _hooked(self, tool: Tool, call: Call, ctx: ToolContext) -> Result:
        def innermost(call: Call) -> Awaitable[Result]:
            return self._outcome(tool, ctx, self._run(tool, call, ctx))

        result: object = await self._outcome(tool, ctx, wrap(self.hooks, ctx, innermost)(call))
        if isinstance(result, Result):
            return result
        return Result.failed(ToolError(f"A hook around {tool.id} returned {result!r:.60}, which is no result."))

    async def _outcome(self, tool: Tool, ctx: ToolContext, work: Awaitable[Result]) -> Result:
        """Return the outcome of the work. A failure is a result here already, so that hooks see it as one."""
        try:
            return await work
        except ToolError as error:
            failure = error
        except WrongAnswer:
            raise
        except ToolwrightError as error:
            # Of a file of the user's, mostly: that it is wrong, and what to do about it, is all there is to say.
            failure = ToolError(str(error))
        except Exception as bug:
            if (mistake := mistake_in(bug)) is not None:
                raise mistake from bug
            log.exception("%s broke", tool.id)
            failure = _crash(tool.id, bug)
        return self.truncator.apply(Result.failed(failure), tool, ctx)

    async def _run(self, tool: Tool, call: Call, ctx: ToolContext) -> Result:
        if ctx.hides(tool.permission):
            # A model may call what it was not offered; whatever the tool asks for itself, this much is settled.
            ctx.check(Request(permission=tool.permission, patterns=("*",)))
            raise PermissionDenied(f"{tool.id} is not among the tools of this agent: the settings forbid it outright.")
        arguments = tool.parse(call.arguments)
        if not tool.asks or tool.act in OUTWARD:
            await ctx.ask_all(_own_request(tool, arguments))
        return self.truncator.apply(await tool.run(ctx, arguments), tool, ctx)


def _own_request(tool: Tool, arguments: Json) -> Request:
    """Return the door's own request for a tool: its id, its acts beyond this machine and whom they reach."""
    act = act_of_call(tool, arguments)
    acts = {"*": act} if act.kind in OUTWARD or act.to else {}
    return Request(permission=tool.id, patterns=("*",), acts=acts)


def is_cancelled() -> bool:
    """Return whether somebody really wants this task to end; a tool may raise what looks like it by itself."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _crash(tool_id: str, bug: Exception) -> ToolError:
    """A mistake in the tool, unless it is the machine that has run out of something."""
    if isinstance(bug, OSError) and bug.errno in _RUN_OUT:
        return ToolError(f"{tool_id} cannot be carried out: {bug.strerror}. The user has to see to that first.")
    return ToolError(f"{tool_id} broke: {type(bug).__name__}: {bug}", "crash")


def _broken(tool_id: str, bug: Exception) -> Tool:
    """In the place of a tool that cannot be loaded: says so when it is called."""

    async def run(_: ToolContext, __: Json) -> Result:
        raise ToolError(f"{tool_id} broke: {type(bug).__name__}: {bug}", "crash")

    return Tool(id=tool_id, description="", parameters={"type": "object"}, run=run, asks=True)


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
    return Call(id=call_id, tool=INVALID, arguments=arguments)
