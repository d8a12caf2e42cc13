"""A call of a server's tool: within its time, with its progress shown and its questions put."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from toolwright.deadline import Deadline, time_limit
from toolwright.definition import Result, ToolContext
from toolwright.errors import ToolError
from toolwright.mcp.client.client import Ongoing
from toolwright.mcp.client.content import result_of
from toolwright.mcp.client.elicitation import elicit
from toolwright.mcp.client.link import NeedsAuth
from toolwright.mcp.client.login import login_problem
from toolwright.mcp.client.tools import tool_id
from toolwright.mcp.protocol import object_of, text_of
from toolwright.protocols.json_types import Json
from toolwright.protocols.jsonrpc import RpcClosed, RpcError
from toolwright.record import record

if TYPE_CHECKING:
    from toolwright.mcp.client.server import McpServer

SHOWN_EVERY = 0.1
"""Seconds between two signs of progress that are passed on."""
GONE = 404


async def call_tool(server: "McpServer", ctx: ToolContext, name: str, arguments: Json) -> Result:
    """Return what the tool answers, as a result. Where the way to the server can be mended, try once more."""
    try:
        return await _call_once(server, ctx, name, arguments)
    except RpcError as error:
        if not await _mended(server, ctx, name, error):
            raise _tool_error(server, error) from error
    try:
        return await _call_once(server, ctx, name, arguments)
    except RpcError as error:
        raise _tool_error(server, error) from error


async def _mended(server: "McpServer", ctx: ToolContext, name: str, error: RpcError) -> bool:
    """Do what can be done about an error: log in with a wider scope, or begin anew with a server that has forgotten us.

    Whether it is worth another try; the server has not begun with the call.
    """
    problem = login_problem(server, error)
    if isinstance(problem, NeedsAuth) and problem.scope:
        from toolwright.mcp.client.scope_upgrade import widen_login

        await widen_login(ctx, server, name, problem.scope)
        return True
    if object_of(error.data).get("status") != GONE:
        return False
    await server.drop()
    return True


async def _call_once(server: "McpServer", ctx: ToolContext, name: str, arguments: Json) -> Result:
    client = await server.client()
    try:
        async with _Clock.running(server.call_seconds) as clock:
            ongoing = Ongoing(
                progress=lambda params: _progress(ctx, params, clock),
                elicit=lambda params: _asked(ctx, server.name, params, clock),
            )
            answer = await client.call(name, arguments, ongoing)
    except TimeoutError:
        words = f"The MCP server {server.name} took longer than {server.call_seconds:g} seconds for {name}."
        raise ToolError(f"{words} Its `timeout` can be raised in the configuration.", "timeout") from None
    except RpcClosed as error:
        reason = client.link.stderr_tail()
        raise ToolError(
            f"The MCP server {server.name} ended during the call{f': {reason}' if reason else ''}. "
            "It is started again for the next call."
        ) from error
    return result_of(answer, tool_id(server.name, name))


def _tool_error(server: "McpServer", error: RpcError) -> ToolError:
    problem = login_problem(server, error)
    if isinstance(problem, NeedsAuth) and not problem.scope:
        server.needs_login(problem)
    return problem or ToolError(f"The MCP server {server.name} answered with an error: {error}")


@record(slots=True)
class _Clock:
    """The time a call has. It is paused while a person is asked."""

    limit: Deadline
    seconds: float
    last_shown: float = 0.0

    @classmethod
    @asynccontextmanager
    async def running(cls, seconds: float) -> AsyncIterator["_Clock"]:
        async with time_limit(seconds) as limit:
            yield cls(limit, seconds)

    def restart(self) -> None:
        if not self.limit.expired:
            self.limit.move(asyncio.get_running_loop().time() + self.seconds)

    def stop(self) -> None:
        if not self.limit.expired:
            self.limit.move(None)

    def may_show(self) -> bool:
        now = asyncio.get_running_loop().time()
        if now - self.last_shown < SHOWN_EVERY:
            return False
        self.last_shown = now
        return True


def _progress(ctx: ToolContext, params: Json, clock: _Clock) -> None:
    clock.restart()
    if clock.may_show():
        amounts = {key: params[key] for key in ("progress", "total") if isinstance(params.get(key), int | float)}
        ctx.metadata(text_of(params.get("message"))[:200] or None, amounts)


async def _asked(ctx: ToolContext, server: str, params: Json, clock: _Clock) -> Json:
    clock.stop()
    try:
        return await elicit(ctx, server, params)
    finally:
        clock.restart()
