"""The batch tool: several calls at once, each through the same door as any other."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Annotated, Any, TypedDict

from toolwright.calls.look import Arguments, Look
from toolwright.definition import ANY, AgentLike, Result, Tool, ToolContext, described, tool
from toolwright.errors import PermissionDenied, ToolError, UnknownTool
from toolwright.functions.signature import Field
from toolwright.protocols.json_types import Json
from toolwright.record import record
from toolwright.schema.basics import Problem


@record(frozen=True, slots=True, kw_only=True)
class BatchLimits:
    """The limits of a batch."""

    max_calls: int = 10
    alone: Callable[[str], str] = lambda _: ""
    """Why a tool must be called by itself; empty if it may stand in a batch."""


class InnerCall(TypedDict):
    """One of the calls, as the model writes it."""

    tool: str
    parameters: dict[str, Any]


async def _for_agent(tool: Tool, agent: AgentLike) -> Tool:
    return described(tool, max_calls=agent.use(BatchLimits).max_calls)


def _explain(problems: Sequence[Problem]) -> str:
    lines = "\n".join(f"- {problem}" for problem in problems)
    form = '{"tool_calls": [{"tool": "read", "parameters": {"filePath": "a.txt"}}, ...]}'
    return f"The batch could not be run:\n{lines}\nExpected: {form}"


def _subject(arguments: Arguments) -> str:
    calls = arguments.get("tool_calls")
    return ", ".join(str(one.get("tool")) for one in calls if isinstance(one, dict)) if isinstance(calls, list) else ""


@tool(
    text="batch.md",
    look=Look(verb="Do several things", subject=_subject),
    asks=True,
    init=_for_agent,
    format_problems=_explain,
    reads=ANY,
    offered=lambda offer: offer.batch,
    alone="A batch cannot hold another; put its calls into this one.",
)
async def batch(
    ctx: ToolContext,
    calls: Annotated[list[InnerCall], Field(name="tool_calls", schema={"minItems": 1})],
) -> Result:
    """Run the calls side by side. Each asks for its own permissions; one that fails does not disturb the others."""
    if ctx.decide("batch", "*") == "deny":
        raise PermissionDenied("A rule forbids batch. Nothing was done; make the calls one by one.")
    limits = ctx.use(BatchLimits)
    async with asyncio.TaskGroup() as group:
        running = [group.create_task(_run(ctx, call, index, limits)) for index, call in enumerate(calls)]
    return _joined([(call["tool"], task.result()) for call, task in zip(calls, running, strict=True)])


async def _run(ctx: ToolContext, call: InnerCall, index: int, limits: BatchLimits) -> Result:
    name = call["tool"]
    if index >= limits.max_calls:
        return Result.failed(
            ToolError(f"A batch holds at most {limits.max_calls} calls; put this into another.", "too_large")
        )
    if reason := limits.alone(name):
        return Result.failed(UnknownTool(f"{name} cannot be called in a batch. {reason}"))
    return await ctx.call(name, call["parameters"])


def _joined(results: Sequence[tuple[str, Result]]) -> Result:
    failed = [f"{number} ({name})" for number, (name, result) in enumerate(results, 1) if result.error]
    succeeded = len(results) - len(failed)
    # The failures come first, where they are read even if the rest has to be cut.
    head = f"{succeeded} of {len(results)} calls succeeded." + (f" Failed: {', '.join(failed)}." if failed else "")
    sections = [_section(number, name, result) for number, (name, result) in enumerate(results, 1)]
    return Result(
        "\n\n".join([head, *sections]),
        title=f"{succeeded} of {len(results)} calls succeeded",
        metadata={
            "totalCalls": len(results),
            "successful": succeeded,
            "failed": len(failed),
            "tools": [name for name, _ in results],
            "details": [_detail(name, result) for name, result in results],
        },
        attachments=tuple(attachment for _, result in results for attachment in result.attachments),
    )


def _section(number: int, name: str, result: Result) -> str:
    state = "failed" if result.error else "succeeded"
    title = f": {result.title}" if result.title and not result.error else ""
    return f"## {number}. {name} {state}{title}\n{result.output}"


def _detail(name: str, result: Result) -> Json:
    detail: Json = {"tool": name, "success": result.error is None}
    return detail if result.error is None else detail | {"kind": result.error.kind}
