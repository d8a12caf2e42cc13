"""A server's tools as ours: named, checked one by one, and run through the server."""

import hashlib
import re
from collections.abc import Awaitable, Callable

from toolwright.calls.acts import ActClass
from toolwright.definition import MAX_NAME, Result, Tool, ToolContext
from toolwright.mcp.client.schemas import problem_with, without_slow_patterns
from toolwright.mcp.protocol import object_of, text_of
from toolwright.protocols.json_types import Json
from toolwright.record import record

ALONE = "Tools of MCP servers are called directly."
LONGEST_TEXT = 8000
"""Characters of a description that a model gets."""
_OTHER = re.compile(r"[^A-Za-z0-9_-]")

Execute = Callable[[ToolContext, str, Json], Awaitable[Result]]


@record(frozen=True, slots=True, kw_only=True)
class BadTool:
    """A tool that is left out, and why."""

    name: str
    reason: str


def tool_of(server: str, definition: Json, execute: Execute, *, trusted: bool = False) -> Tool | BadTool:
    """The tool, or what is wrong with it. One that is wrong never costs the others.

    `trusted` says that its results are taken for the user's own records, and not for words of others.
    """
    name = text_of(definition.get("name"))
    if not name:
        return BadTool(name="(without a name)", reason="it has no name")
    if object_of(definition.get("execution")).get("taskSupport") == "required":
        return BadTool(name=name, reason="it runs only as a task of the protocol, and those are not supported here")
    schema = definition.get("inputSchema", {})
    if problem := problem_with(schema):
        return BadTool(name=name, reason=problem)

    async def run(ctx: ToolContext, arguments: Json) -> Result:
        return await execute(ctx, name, arguments)

    try:
        return Tool(
            id=tool_id(server, name),
            description=_described(definition),
            parameters=_completed(without_slow_patterns(schema)),
            run=run,
            alone=ALONE,
            act=_act_of(object_of(definition.get("annotations"))),
            acts_on=f"what the MCP server {sanitised(server)} reaches",
            untrusted=not trusted,
        )
    except (TypeError, ValueError) as error:
        return BadTool(name=name, reason=f"its schema cannot be used: {error}")


def _act_of(hints: Json) -> ActClass | None:
    """Return what the server says of a tool, None where it says nothing. A hint may only bring a question."""
    if hints.get("readOnlyHint") is True:
        return "reads"
    if hints.get("destructiveHint") is True:
        return "final"
    if hints.get("destructiveHint") is False and hints.get("openWorldHint") is False:
        return "here"
    denied = any(hints.get(name) is False for name in ("readOnlyHint", "destructiveHint"))
    return "changes" if denied or hints.get("openWorldHint") is True else None


def tool_id(server: str, tool: str) -> str:
    """`server_tool`, with `_` for every other character, and not longer than a tool's name may be."""
    name = f"{sanitised(server)}_{sanitised(tool)}"
    if not name[0].isalpha():
        name = f"mcp_{name}"
    if len(name) <= MAX_NAME:
        return name
    mark = hashlib.sha256(f"{server}\0{tool}".encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{name[: MAX_NAME - 9]}_{mark}"


def sanitised(name: str) -> str:
    return _OTHER.sub("_", name)


def _described(definition: Json) -> str:
    text = text_of(definition.get("description")) or text_of(definition.get("title")) or text_of(definition["name"])
    return text if len(text) <= LONGEST_TEXT else f"{text[:LONGEST_TEXT]} …"


def _completed(schema: Json) -> Json:
    declared = schema.get("properties", {})
    properties = {name: {} if one is True else one for name, one in declared.items() if one is not False}
    return {"additionalProperties": False, **schema, "type": "object", "properties": properties}
