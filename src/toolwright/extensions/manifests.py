"""Tools in any language: an executable, and a manifest beside it that says what it takes."""

import asyncio
import json
import os
from pathlib import Path
from typing import Any

from toolwright.errors import ToolError
from toolwright.extensions.hosts import Hosts
from toolwright.process.scope import Program, Scope
from toolwright.schema import problems_with
from toolwright.tool import Json, Result, Tool, ToolContext

MOST_OUTPUT = 16 * 1024 * 1024
"""Bytes of its output that are kept."""
_CHUNK = 64 * 1024
_MANIFEST = {
    "type": "object",
    "properties": {
        "description": {"type": "string"},
        "parameters": {"type": "object"},
        "command": {"type": "array", "items": {"type": "string"}, "minItems": 1},
    },
    "required": ["description", "command"],
}


def manifest_tool(path: Path, tool_id: str, hosts: Hosts) -> Tool:
    """The tool a manifest describes. ToolError if it says it wrongly."""
    try:
        said: Any = json.loads(path.read_text("utf-8"))
    except ValueError as error:
        raise ToolError(f"{path}: no JSON: {error}") from error
    if problems := problems_with(said, _MANIFEST):
        raise ToolError(f"{path}: {problems[0]}")
    parameters: Json = {"type": "object", "properties": {}, **said.get("parameters", {})}
    command = [str(word) for word in said["command"]]
    if "/" in command[0] and not os.path.isabs(command[0]):  # noqa: PTH117 - on text
        command[0] = str(path.parent / command[0])

    async def run(ctx: ToolContext, arguments: Json) -> Result:
        from toolwright.extensions.tool_files import with_defaults

        return Result(await _output(command, with_defaults(arguments, parameters), ctx, hosts))

    return Tool(id=tool_id, description=said["description"], parameters=parameters, run=run)


async def _output(command: list[str], arguments: Json, ctx: ToolContext, hosts: Hosts) -> str:
    env = {
        **hosts.environment,
        "TOOLWRIGHT_SESSION": ctx.session_id,
        "TOOLWRIGHT_CALL": ctx.call_id,
        "TOOLWRIGHT_AGENT": ctx.agent,
    }
    scope = await hosts.scopes().start(
        Program(argv=command, cwd=ctx.directory, env=env, stdin="pipe", stderr="pipe")
    )
    try:
        reading = asyncio.gather(_read(scope.stdout), _read(scope.stderr or -1))
        await _write(scope, json.dumps(arguments, ensure_ascii=False).encode())
        end = await scope.ended()
        # Only now, so that what it may have left running does not keep the pipes open.
        await scope.stop()
        out, err = await reading
    finally:
        await asyncio.shield(scope.stop())
        scope.release()
    if end.code != 0:
        how = f"ended with code {end.code}" if end.signal is None else f"was ended by signal {end.signal}"
        said = err.strip() or out.strip()
        raise ToolError(f"{Path(command[0]).name} {how}{f': {said}' if said else ''}")
    return out


async def _read(descriptor: int) -> str:
    """All a program writes, up to a limit; what goes beyond it is read and dropped."""
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader()
    pipe = os.fdopen(os.dup(descriptor), "rb", 0)
    transport, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), pipe)
    kept = bytearray()
    try:
        while data := await reader.read(_CHUNK):
            kept += data[: MOST_OUTPUT - len(kept)]
    finally:
        transport.close()
    return kept.decode("utf-8", "replace")


async def _write(scope: Scope, data: bytes) -> None:
    assert scope.stdin is not None
    loop = asyncio.get_running_loop()
    unused = asyncio.StreamReaderProtocol(asyncio.StreamReader())
    transport, _ = await loop.connect_write_pipe(lambda: unused, os.fdopen(os.dup(scope.stdin), "wb", 0))
    scope.close_stdin()
    writer = asyncio.StreamWriter(transport, unused, None, loop)
    try:
        writer.write(data)
        await writer.drain()
    except OSError:
        pass  # a program need not read what it is given
    finally:
        writer.close()
