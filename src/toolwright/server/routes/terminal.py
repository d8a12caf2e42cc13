"""Requests of other programs to a terminal client: sent as events, or fetched by one that asks for the next."""

from typing import Any

from toolwright.deadline import time_limit
from toolwright.http_server.refusal import bad_request
from toolwright.server.asking import Answer, RouteCall, Routes

routes = Routes()

_COMMANDS = {
    "open-help": ("tui.openHelp", "help.show"),
    "open-sessions": ("tui.openSessions", "session.list"),
    "open-themes": ("tui.openThemes", "theme.list"),
    "open-models": ("tui.openModels", "model.list"),
    "submit-prompt": ("tui.submitPrompt", "prompt.submit"),
    "clear-prompt": ("tui.clearPrompt", "prompt.clear"),
}
_EVENTS = ("tui.prompt.append", "tui.command.execute", "tui.toast.show", "tui.session.select")
_TEXT = {"type": "string"}
WAIT = 25.0
"""Seconds until a client that asks for the next command gets none."""


async def _send_request(ask: RouteCall, kind: str, properties: dict[str, Any]) -> bool:
    workspace = await ask.workspace()
    ask.serving.tell(str(workspace.directory), kind, properties)
    if not ask.serving.controls.full():
        ask.serving.controls.put_nowait({"path": ask.route.path, "body": properties})
    return True


@routes.post(
    "/tui/append-prompt", "tui.appendPrompt", {"type": "object", "required": ["text"], "properties": {"text": _TEXT}}
)
async def append(ask: RouteCall) -> Any:
    """Add words to the prompt."""
    return await _send_request(ask, "tui.prompt.append", {"text": (await ask.body())["text"]})


@routes.post(
    "/tui/execute-command",
    "tui.executeCommand",
    {"type": "object", "required": ["command"], "properties": {"command": _TEXT}},
)
async def execute(ask: RouteCall) -> Any:
    """Carry out a command of the terminal client."""
    return await _send_request(ask, "tui.command.execute", {"command": (await ask.body())["command"]})


@routes.post(
    "/tui/show-toast",
    "tui.showToast",
    {
        "type": "object",
        "required": ["message", "variant"],
        "properties": {
            "title": _TEXT,
            "message": _TEXT,
            "variant": {"enum": ["info", "success", "warning", "error"]},
            "duration": {"type": "number"},
        },
    },
)
async def toast(ask: RouteCall) -> Any:
    """Show a short message."""
    return await _send_request(ask, "tui.toast.show", await ask.body())


@routes.post(
    "/tui/select-session",
    "tui.selectSession",
    {"type": "object", "required": ["sessionID"], "properties": {"sessionID": _TEXT}},
)
async def select(ask: RouteCall) -> Any:
    """Go to a session."""
    body = await ask.body()
    await ask.serving.projects.of_session(body["sessionID"], ask.named_folder)
    return await _send_request(ask, "tui.session.select", {"sessionID": body["sessionID"]})


@routes.post("/tui/publish", "tui.publish", {"type": "object", "required": ["type", "properties"]})
async def publish(ask: RouteCall) -> Any:
    """Tell one of these events."""
    body = await ask.body()
    if body["type"] not in _EVENTS or not isinstance(body["properties"], dict):
        raise bad_request(f"type must be one of {', '.join(_EVENTS)}, and properties an object.")
    return await _send_request(ask, body["type"], body["properties"])


@routes.get("/tui/control/next", "tui.control.next")
async def following(ask: RouteCall) -> Any:
    """The next thing that is asked of the client; waits a while for one."""
    await ask.workspace()
    try:
        async with time_limit(WAIT):
            return await ask.serving.controls.get()
    except TimeoutError:
        return {"path": "", "body": {}}


@routes.post("/tui/control/response", "tui.control.response")
async def responded(ask: RouteCall) -> Any:
    """Take the result of a request."""
    await ask.workspace()
    return True


def _command(name: str) -> Answer:
    async def answer(ask: RouteCall) -> Any:
        """Carry out a command of the terminal client."""
        return await _send_request(ask, "tui.command.execute", {"command": name})

    return answer


for _path, (_name, _executed) in _COMMANDS.items():
    routes.post(f"/tui/{_path}", _name)(_command(_executed))
