"""Our commands as prompts for clients: filled in with their arguments, and with the files they mention beside them."""

import re
from collections.abc import Sequence

from toolwright.commands import Command, fill_in, given_call, typed_call
from toolwright.definition import Result
from toolwright.errors import ToolError, UsageError
from toolwright.files.search import find_files
from toolwright.mcp.protocol import object_of, text_of
from toolwright.mcp.serve.blocks import block_of
from toolwright.protocols.json_types import Json
from toolwright.protocols.jsonrpc import INVALID_PARAMS, RpcError
from toolwright.session.prompt import mentioned
from toolwright.session.session import Session
from toolwright.workspace import Workspace

ALL = "arguments"
"""Name of `$ARGUMENTS` for clients."""
_UNUSUAL = re.compile(r"[^\w./ -]")
VALUES = 100
"""Completions that one answer holds, as the protocol says."""


def prompts_of(workspace: Workspace) -> list[Json]:
    return [_described(one) for one in workspace.commands.all()]


async def prompt_of(workspace: Workspace, session: Session, params: Json) -> Json:
    """Return what a command comes to, as messages of the user. Its shell goes by the rules of the session."""
    name, values = text_of(params.get("name")), object_of(params.get("arguments"))
    if name not in workspace.commands:
        raise RpcError(f"There is no prompt {name!r}.", INVALID_PARAMS)
    command = workspace.commands[name]
    if ALL in values:
        call = typed_call(name, text_of(values[ALL]))
    else:
        words = [text_of(values.get(one)) for one in _places(command)]
        call = given_call(name, words)
    try:
        text = await fill_in(command, call, session)
    except (ToolError, UsageError) as error:
        raise RpcError(str(error), INVALID_PARAMS) from error
    blocks = [block for path in mentioned(text) for block in await _file(workspace, session, path)]
    blocks.append({"type": "text", "text": text})
    return {"description": command.description, "messages": [{"role": "user", "content": one} for one in blocks]}


async def completions(workspace: Workspace, session: Session, params: Json) -> Json:
    """Return the files that an argument of a prompt may mean, by how it begins; those that may be read."""
    value, names = text_of(object_of(params.get("argument")).get("value")), list[str]()
    if object_of(params.get("ref")).get("type") == "ref/prompt":
        files = await find_files(workspace.directory, f"**/*{_UNUSUAL.sub('?', value)}*")
        names = [path for path in files.paths if session.ruled_agent.decide("read", path) == "allow"]
    return {"completion": {"values": names[:VALUES], "total": len(names), "hasMore": len(names) > VALUES}}


def _described(command: Command) -> Json:
    names = [*_places(command), *([ALL] if "$ARGUMENTS" in command.hints else [])]
    about = command.description or command.template.strip().partition("\n")[0]
    return {"name": command.name, "description": about, "arguments": [{"name": one} for one in names]}


def _places(command: Command) -> Sequence[str]:
    """The names of `$1`, `$2` and so on, those that are passed over among them."""
    numbers = [int(one[1:]) for one in command.hints if one[1:].isdigit()]
    return [f"arg{number}" for number in range(1, max(numbers, default=0) + 1)]


async def _file(workspace: Workspace, session: Session, name: str) -> list[Json]:
    """A file that the text mentions, read under the rules; nothing where there is none, or where they forbid it."""
    path = workspace.directory / name
    try:
        if not path.is_file():
            return []
    except (OSError, ValueError):
        return []
    result: Result = await session.call("read", filePath=name)
    if result.error is not None:
        return []
    if result.attachments:
        return [block_of(one) for one in result.attachments]
    about = {"uri": path.as_uri(), "mimeType": "text/plain", "text": result.output}
    return [{"type": "resource", "resource": about}]
