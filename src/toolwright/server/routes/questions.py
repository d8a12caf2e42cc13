"""Open questions to a person: permissions and choices, listed and answered."""

from typing import Any

from toolwright.app.shown import looks_of
from toolwright.http_server.refusal import bad_request
from toolwright.inbox import Reply
from toolwright.server.asking import RouteCall, Routes
from toolwright.server.shapes import question_json

routes = Routes()

_KINDS = {"enum": ["once", "always", "reject"]}
_TEXT = {"type": "string"}
_REPLY = {
    "type": "object",
    "required": ["reply"],
    "properties": {
        "reply": _KINDS,
        "message": _TEXT,
        "scope": {"enum": ["session", "project", "user"]},
        "patterns": {"type": "array", "items": _TEXT},
        "arguments": {"type": "object"},
    },
}
_ANSWERS = {
    "type": "object",
    "required": ["answers"],
    "properties": {"answers": {"type": "array", "items": {"type": "array", "items": _TEXT}}},
}


@routes.get("/permission", "permission.list")
async def permissions(ask: RouteCall) -> Any:
    """The permissions that wait for an answer."""
    return await _listed(ask, "permission")


@routes.get("/question", "question.list")
async def questions(ask: RouteCall) -> Any:
    """The questions that wait for an answer."""
    return await _listed(ask, "choice")


async def _listed(ask: RouteCall, kind: str) -> Any:
    workspace = await ask.workspace()
    looks = looks_of(workspace)
    return [question_json(question, looks) for question in workspace.inbox.pending if question.kind == kind]


@routes.post("/permission/{requestID}/reply", "permission.reply", _REPLY)
async def reply(ask: RouteCall) -> Any:
    """Answer a permission."""
    body = await ask.body()
    return _answered(ask, ask.path["requestID"], body["reply"], body)


@routes.post(
    "/session/{sessionID}/permissions/{permissionID}",
    "permission.respond",
    {"type": "object", "required": ["response"], "properties": {"response": _KINDS}},
)
async def respond(ask: RouteCall) -> Any:
    """Answer a permission, in the older form."""
    body = await ask.body()
    return _answered(ask, ask.path["permissionID"], body["response"], body)


def _answered(ask: RouteCall, question_id: str, kind: Any, body: dict[str, Any]) -> bool:
    inbox, _ = ask.serving.question(question_id, "permission")
    patterns = body.get("patterns")
    inbox.reply(
        question_id,
        Reply(
            kind=kind,
            message=body.get("message", ""),
            scope=body.get("scope"),
            patterns=None if patterns is None else tuple(patterns),
            arguments=body.get("arguments"),
        ),
    )
    return True


@routes.post("/question/{requestID}/reply", "question.reply", _ANSWERS)
async def answer(ask: RouteCall) -> Any:
    """Answer a question: one list of labels or words for each."""
    body = await ask.body()
    inbox, question = ask.serving.question(ask.path["requestID"], "choice")
    if len(body["answers"]) != len(question.choices):
        raise bad_request(f"There are {len(question.choices)} questions; answers has {len(body['answers'])} lists.")
    inbox.reply(question.id, Reply(kind="once", answers=tuple(tuple(one) for one in body["answers"])))
    return True


@routes.post("/question/{requestID}/reject", "question.reject")
async def reject(ask: RouteCall) -> Any:
    """Decline a question."""
    inbox, question = ask.serving.question(ask.path["requestID"], "choice")
    inbox.reply(question.id, Reply(kind="reject"))
    return True
