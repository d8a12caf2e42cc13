"""Requests from inside the process: what a plugin asks by its client, answered by the routes of the server."""

import json
from collections.abc import Mapping, MutableMapping
from functools import partial
from typing import Any, Final
from urllib.parse import quote, urlencode

from starlette.requests import Request
from starlette.responses import Response

from toolwright.errors import ToolwrightError
from toolwright.extensions.home import Requests
from toolwright.http_server.refusal import HttpRefusal, not_found, refusal_of
from toolwright.protocols.client_json import to_json
from toolwright.protocols.json_types import Json
from toolwright.server.asking import Route, RouteCall
from toolwright.server.routes.all import TABLE
from toolwright.server.serving import Serving
from toolwright.workspace import Workspace

FOR_PLUGINS: Final = {
    "app": ("agents", "log", "skills"),
    "auth": ("set",),
    "command": ("list",),
    "config": ("get", "providers", "update"),
    "file": ("list", "read", "status"),
    "find": ("files", "symbols", "text"),
    "formatter": ("status",),
    "lsp": ("status",),
    "mcp": ("connect", "disconnect", "status"),
    "part": ("delete", "update"),
    "path": ("get",),
    "permission": ("list", "reply", "respond"),
    "project": ("current", "directories", "list", "update"),
    "provider": ("auth", "list"),
    "question": ("list", "reject", "reply"),
    "session": (
        *("abort", "children", "command", "create", "delete", "diff", "fork", "get", "init", "list", "message"),
        *("messages", "prompt", "prompt_async", "revert", "share", "shell", "status", "summarize", "todo"),
        *("unrevert", "unshare", "update"),
    ),
    "tool": ("ids", "list"),
    "tui": (
        *("appendPrompt", "clearPrompt", "executeCommand", "openHelp", "openModels", "openSessions", "openThemes"),
        *("publish", "selectSession", "showToast", "submitPrompt"),
    ),
    "vcs": ("get",),
}
"""The routes that a plugin may call: what OpenCode's SDK has for a project. A route that is not here is closed to it:
such as what listens without an end, closes what the plugin lives in, or belongs to the page."""


def _plain(name: str) -> str:
    return name.replace("_", "").lower()


_ALLOWED: Final = {f"{group}.{name}" for group, names in FOR_PLUGINS.items() for name in names}
_BY_NAME: Final = {_plain(route.name): route for route in TABLE.routes if route.name in _ALLOWED}


def answers_of(workspace: Workspace) -> Requests:
    """Answers as a server for this one folder would give them."""
    serving = Serving([workspace.directory], lambda _: workspace)
    serving.projects.workspaces[workspace.directory] = workspace
    return partial(answer_inside, serving, workspace)


async def answer_inside(serving: Serving, workspace: Workspace, name: str, params: Mapping[str, Any]) -> Json:
    """`{"status", "data"}` or `{"status", "error"}` for a call such as `session.get` with its path, query and body."""
    try:
        route = _route(name)
        ids = _ids(route, params.get("path"))
        request = _request(route, ids, params, str(workspace.directory))
        answer = await route.answer(RouteCall(request=request, path=ids, serving=serving, route=route))
    except ToolwrightError as error:
        refusal = refusal_of(error)
        return {"status": refusal.status, "error": refusal.to_json()}
    except HttpRefusal as refusal:
        return {"status": refusal.status, "error": refusal.to_json()}
    if isinstance(answer, Response):
        text = await _body_of(answer, request)
        return {"status": answer.status_code, "data": json.loads(text) if text.strip() else None}
    return {"status": 200, "data": to_json(answer)}


async def _body_of(response: Response, request: Request) -> bytes:
    """Await the body of a response, which may take a whole turn."""
    pieces: list[bytes] = []

    async def send(message: MutableMapping[str, Any]) -> None:
        pieces.append(message.get("body", b""))

    await response(request.scope, request.receive, send)
    return b"".join(pieces)


def _route(name: str) -> Route:
    route = _BY_NAME.get(_plain(name))
    if route is None:
        raise not_found(f"A plugin's client has no {name[:80]!r} here.")
    return route


def _ids(route: Route, path: Any) -> dict[str, str]:
    """Return the values of a path by name. The first is `id` to older clients, whatever it is called here."""
    values = path if isinstance(path, Mapping) else {}
    places = [part[1:-1] for part in route.path.split("/") if part.startswith("{")]
    ids = {place: values.get(place, values.get("id") if number == 0 else None) for number, place in enumerate(places)}
    missing = [place for place, value in ids.items() if not isinstance(value, str) or not value]
    if missing:
        raise not_found(f"{route.name} needs {missing[0]} in its path.")
    return {place: str(value) for place, value in ids.items()}


def _request(route: Route, ids: Mapping[str, str], params: Mapping[str, Any], directory: str) -> Request:
    path = "/".join(quote(ids[part[1:-1]], safe="") if part.startswith("{") else part for part in route.path.split("/"))
    extra = params.get("query")
    query = {**(extra if isinstance(extra, Mapping) else {}), "directory": directory}
    body = b"" if params.get("body") is None else json.dumps(params["body"]).encode()

    async def receive() -> Json:
        return {"type": "http.request", "body": body, "more_body": False}

    scope = {
        "type": "http",
        "method": route.method,
        "path": path,
        "query_string": urlencode({key: _word(one) for key, one in query.items() if one is not None}).encode(),
        "headers": [(b"content-type", b"application/json")],
    }
    return Request(scope, receive)


def _word(value: Any) -> str:
    return json.dumps(value) if isinstance(value, bool | dict | list) else str(value)
