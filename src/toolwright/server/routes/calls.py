"""Calls of tools by a program, and what the rules make of them, under /tw."""

from typing import Any

from toolwright.definition import Call, Result
from toolwright.protocols.client_json import to_json
from toolwright.protocols.json_types import Json
from toolwright.server.asking import RouteCall, Routes
from toolwright.session.session import Session
from toolwright.text.ids import new_id

routes = Routes()

_CALL = {
    "type": "object",
    "required": ["tool"],
    "properties": {"tool": {"type": "string"}, "arguments": {"type": "object"}},
}


@routes.post("/tw/session/{sessionID}/call", "tw.call", _CALL)
async def call(ask: RouteCall) -> Any:
    """Call a tool as the session's agent. Questions are put as for any call; a failure is in the answer."""
    body = await ask.body()
    session = await _opened(ask)
    request = Call(id=new_id("call"), tool=body["tool"], arguments=body.get("arguments", {}))
    return _result(await session.run_call(request))


@routes.post("/tw/session/{sessionID}/decide", "tw.decide", _CALL)
async def decide(ask: RouteCall) -> Any:
    """Say what the rules make of a call. Nothing of it is done."""
    body = await ask.body()
    decision = await (await _opened(ask)).decide(body["tool"], **body.get("arguments", {}))
    return {
        "action": decision.action,
        "reason": decision.reason,
        "rule": str(decision.rule) if decision.rule else "",
        "requests": [{"permission": one.permission, "patterns": list(one.patterns)} for one in decision.requests],
    }


async def _opened(ask: RouteCall) -> Session:
    _, session = await ask.serving.projects.session(ask.path["sessionID"], ask.named_folder)
    return session


def _result(result: Result) -> Json:
    error = result.error
    return {
        "output": result.output,
        "title": result.title,
        "metadata": to_json(result.metadata),
        "attachments": [{"mime": one.mime, "url": one.url, "filename": one.filename} for one in result.attachments],
        "error": {"kind": error.kind, "message": str(error)} if error else None,
    }
