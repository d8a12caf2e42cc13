"""Tools in any language: an executable, and a manifest beside it that says what it takes."""

import json
import os
from pathlib import Path
from typing import Any

from toolwright.calls.acts import CLASSES
from toolwright.deadline import time_limit
from toolwright.definition import Result, Tool, ToolContext
from toolwright.errors import ToolError
from toolwright.extension import CALLING
from toolwright.extensions.hosts import Hosts
from toolwright.process.running.run import run_program
from toolwright.process.running.scope import Program
from toolwright.protocols.json_text import read_json
from toolwright.protocols.json_types import Json
from toolwright.schema.check import problems_with

_MANIFEST = {
    "type": "object",
    "properties": {
        "description": {"type": "string"},
        "parameters": {"type": "object"},
        "command": {"type": "array", "items": {"type": "string"}, "minItems": 1},
        "act": {"enum": list(CLASSES)},
    },
    "required": ["description", "command"],
}


def manifest_tool(path: Path, tool_id: str, hosts: Hosts) -> Tool:
    """The tool a manifest describes. ToolError if it says it wrongly."""
    try:
        manifest: Any = read_json(path.read_text("utf-8"))
    except ValueError as error:
        raise ToolError(f"{path}: no JSON: {error}") from error
    if problems := problems_with(manifest, _MANIFEST):
        raise ToolError(f"{path}: {problems[0]}")
    parameters: Json = {"type": "object", "properties": {}, **manifest.get("parameters", {})}
    command = [str(word) for word in manifest["command"]]
    if "/" in command[0] and not os.path.isabs(command[0]):  # noqa: PTH117 - on text
        command[0] = str(path.parent / command[0])

    async def run(ctx: ToolContext, arguments: Json) -> Result:
        from toolwright.extensions.tool_files import with_defaults

        return Result(await _output(command, with_defaults(arguments, parameters), ctx, hosts))

    return Tool(
        id=tool_id, description=manifest["description"], parameters=parameters, run=run, act=manifest.get("act")
    )


async def _output(command: list[str], arguments: Json, ctx: ToolContext, hosts: Hosts) -> str:
    env = {
        **hosts.around,
        "TOOLWRIGHT_SESSION": ctx.session_id,
        "TOOLWRIGHT_CALL": ctx.call_id,
        "TOOLWRIGHT_AGENT": ctx.agent,
    }
    data = json.dumps(arguments, ensure_ascii=False).encode()
    program = command[0] if "/" in command[0] else hosts.lookup.need(command[0])
    started = Program(argv=(program, *command[1:]), cwd=ctx.directory, env=env)
    try:
        async with time_limit(CALLING):
            done = await run_program(hosts.scopes(), started, data)
    except TimeoutError:
        problem = f"{Path(command[0]).name} took longer than {CALLING / 60:g} minutes and was stopped."
        raise ToolError(problem, "timeout") from None
    if done.code != 0:
        reason = done.err.strip() or done.out.strip()
        raise ToolError(f"{Path(command[0]).name} {done.how}{f': {reason}' if reason else ''}")
    return done.out
