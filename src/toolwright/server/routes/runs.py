"""Runs in the background, of the user's own server alone."""

from typing import Any

from toolwright.errors import ToolwrightError
from toolwright.http_server.refusal import HttpRefusal, not_found
from toolwright.protocols.client_json import to_json
from toolwright.server.asking import RouteCall, Routes
from toolwright.server.own_runs import OwnRuns
from toolwright.server.routes.prompts import BODY, prompt_of

routes = Routes()

_BODY = BODY | {"properties": BODY["properties"] | {"title": {"type": "string"}}}


@routes.get("/tw/runs", "tw.runs")
async def runs(ask: RouteCall) -> Any:
    """The runs in the background, the oldest first."""
    return _own(ask).listed()


@routes.post("/tw/runs", "tw.runs.begin", _BODY)
async def begin(ask: RouteCall) -> Any:
    """Begin a run in a session of its own, and return at once."""
    body = await ask.body()
    own, workspace = _own(ask), await ask.workspace()
    session = workspace.sessions.create(title=body.get("title", ""))
    try:
        prompt = await prompt_of(workspace, session, body, waits=True)
    except (HttpRefusal, ToolwrightError):
        await workspace.sessions.delete(session.id)
        raise
    until = body.get("until") or ""
    return to_json(own.begin(session, prompt, until if isinstance(until, str) else " && ".join(until)))


def _own(ask: RouteCall) -> OwnRuns:
    if ask.serving.own is None:
        raise not_found("Only the user's own server has runs in the background; tw run --bg starts it.")
    return ask.serving.own
