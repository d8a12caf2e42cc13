"""Terminals of the person's own, for clients that show one: made, sized, listed, connected to and removed."""

from typing import Any

from toolwright.http_server.refusal import bad_request
from toolwright.protocols.json_types import Json
from toolwright.server.asking import RouteCall, Routes

routes = Routes()

_TEXT = {"type": "string"}
_NUMBER = {"type": "number", "minimum": 1, "maximum": 10_000}
_MADE: Json = {
    "type": "object",
    "properties": {
        "command": _TEXT,
        "args": {"type": "array", "items": _TEXT},
        "cwd": _TEXT,
        "title": _TEXT,
        "env": {"type": "object", "additionalProperties": _TEXT},
    },
}
_SIZE: Json = {"type": "object", "required": ["rows", "cols"], "properties": {"rows": _NUMBER, "cols": _NUMBER}}
_CHANGED: Json = {"type": "object", "properties": {"title": _TEXT, "size": _SIZE}}


@routes.get("/pty", "pty.list")
async def listed(ask: RouteCall) -> Any:
    """The terminals of the folder."""
    return ask.serving.terminals.of((await ask.workspace()).directory)


@routes.post("/pty", "pty.create", _MADE)
async def create(ask: RouteCall) -> Any:
    """A program on a terminal: the user's shell, unless another is named. The user types into it, so no rule asks."""
    ask.require_secret("A terminal can be opened")
    workspace, body = await ask.workspace(), await ask.body()
    try:
        return ask.serving.terminals.make(workspace.directory, workspace.environment, body)
    except (OSError, ValueError) as error:
        raise bad_request(f"The program could not be started: {error}.") from error


@routes.get("/pty/{ptyID}", "pty.get")
async def shown(ask: RouteCall) -> Any:
    """One terminal."""
    return (await _terminal(ask)).as_json()


@routes.at("PUT", "/pty/{ptyID}", "pty.update", _CHANGED)
async def update(ask: RouteCall) -> Any:
    """Another title, another size."""
    body = await ask.body()
    return ask.serving.terminals.change(await _terminal(ask), body)


@routes.at("DELETE", "/pty/{ptyID}", "pty.remove")
async def remove(ask: RouteCall) -> Any:
    """End the program of a terminal."""
    ask.serving.terminals.remove(await _terminal(ask))
    return True


@routes.get("/pty/{ptyID}/connect", "pty.connect")
async def connect(ask: RouteCall) -> Any:
    """Tell whether there is such a terminal. A WebSocket to this address types into it and gets what it prints."""
    await _terminal(ask)
    return True


async def _terminal(ask: RouteCall) -> Any:
    await ask.workspace()
    return ask.serving.terminals.get(ask.path["ptyID"])
