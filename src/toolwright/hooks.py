"""Hooks around calls: one function around every call, and a before/after pair made into one."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

from toolwright.definition import Call, Result, ToolContext
from toolwright.protocols.json_types import Json

Proceed = Callable[[Call], Awaitable[Result]]
CallHook = Callable[[Proceed, Call, ToolContext], Awaitable[Result]]
"""Does something before, calls `proceed` once with the call as it should be, does something after."""

Before = Callable[[Call, ToolContext], Awaitable[Json | None]]
"""New arguments, or None to leave them; raises ToolError to block the call."""
After = Callable[[Call, Result, ToolContext], Awaitable[Result | None]]
"""Another result, or None to leave it. Sees failures too."""


def wrap(hooks: Sequence[CallHook], ctx: ToolContext, innermost: Proceed) -> Proceed:
    """The hooks around the call, the first outermost."""
    proceed = innermost
    for hook in reversed(hooks):
        proceed = _around(hook, ctx, proceed)
    return proceed


def pair(before: Before | None = None, after: After | None = None) -> CallHook:
    """A before/after pair, as plugins bring them, in the shape of a hook."""

    async def hook(proceed: Proceed, call: Call, ctx: ToolContext) -> Result:
        if before is not None and (arguments := await before(call, ctx)) is not None:
            call = replace(call, arguments=arguments)
        result = await proceed(call)
        if after is not None and (changed := await after(call, result, ctx)) is not None:
            return changed
        return result

    return hook


def _around(hook: CallHook, ctx: ToolContext, proceed: Proceed) -> Proceed:
    async def run(call: Call) -> Result:
        return await hook(proceed, call, ctx)

    return run
