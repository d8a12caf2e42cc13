"""A server's tools as ours: named, checked one by one, and run through the server."""

import hashlib
import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from toolwright.mcp.protocol import Json, object_of, text_of
from toolwright.record import record
from toolwright.tool import MAX_NAME, Result, Tool, ToolContext

ALONE = "Tools of MCP servers are called directly."
LONGEST_TEXT = 8000
"""Characters of a description that a model gets."""
_OTHER = re.compile(r"[^A-Za-z0-9_-]")
_LISTS = ("required", "allOf", "anyOf", "oneOf", "enum")
_OBJECTS = ("properties", "$defs", "definitions", "patternProperties", "dependentSchemas")

Execute = Callable[[ToolContext, str, Json], Awaitable[Result]]


@record(frozen=True, slots=True, kw_only=True)
class BadTool:
    """A tool that is left out, and why."""

    name: str
    reason: str


def tool_of(server: str, definition: Json, execute: Execute) -> Tool | BadTool:
    """The tool, or what is wrong with it. One that is wrong never costs the others."""
    name = text_of(definition.get("name"))
    if not name:
        return BadTool(name="(without a name)", reason="it has no name")
    schema = definition.get("inputSchema", {})
    if problem := _problem(schema, "its schema"):
        return BadTool(name=name, reason=problem)

    async def run(ctx: ToolContext, arguments: Json) -> Result:
        return await execute(ctx, name, arguments)

    return Tool(
        id=tool_id(server, name),
        description=_described(definition),
        parameters=_completed(schema),
        run=run,
        alone=ALONE,
    )


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
    said = text_of(definition.get("description")) or text_of(definition.get("title")) or text_of(definition["name"])
    return said if len(said) <= LONGEST_TEXT else f"{said[:LONGEST_TEXT]} …"


def _completed(schema: Json) -> Json:
    properties = {name: {} if one is True else one for name, one in schema.get("properties", {}).items()}
    return {"additionalProperties": False, **schema, "type": "object", "properties": properties}


def _problem(schema: Any, where: str) -> str:
    """What is wrong with the form of a schema, as far as anything relies on it; empty if nothing is."""
    if not isinstance(schema, Mapping):
        return f"{where} is no object"
    if where == "its schema" and schema.get("type", "object") != "object":
        return f"{where} is for {schema.get('type')!r:.40}, and arguments are an object"
    for key in _LISTS:
        if key in schema and not isinstance(schema[key], list):
            return f"{where} has {key!r} that is no list"
    if not all(isinstance(name, str) for name in schema.get("required", ())):
        return f"{where} requires what is no name"
    for key in _OBJECTS:
        if key in schema and not isinstance(schema[key], Mapping):
            return f"{where} has {key!r} that is no object"
    for name, below in object_of(schema.get("properties")).items():
        if not isinstance(below, bool) and (problem := _problem(below, f"the property {name!r:.60}")):
            return problem
        if below is False:
            return f"the property {name!r:.60} accepts nothing"
    return ""
