"""Messages and their parts: read, and corrected by hand."""

from dataclasses import replace
from typing import Any

from toolwright.http_server.refusal import bad_request, not_found
from toolwright.messages import Message, TextPart
from toolwright.server.asking import RouteCall, Routes
from toolwright.server.shapes import message_json
from toolwright.session.session import Session

routes = Routes()

MOST = 100_000


@routes.get("/session/{sessionID}/message", "session.messages")
async def messages(ask: RouteCall) -> Any:
    """The messages of a session with their parts, ascending; the newest so many with `limit`."""
    workspace, info = await ask.serving.projects.of_session(ask.path["sessionID"], ask.named_folder)
    limit = ask.query_int("limit", 0, MOST)
    session = workspace.sessions_open.get(info.id)
    if session is not None and not session.resumes:
        held = session.conversation.messages
        latest = held if limit and limit <= len(held) else await session.conversation.all_messages()
        latest = latest[-limit:] if limit else latest
    else:
        latest = await workspace.sessions.messages(info.id, limit)
    return [message_json(message, workspace) for message in sorted(latest, key=lambda one: one.info.id)]


@routes.get("/session/{sessionID}/message/{messageID}", "session.message")
async def message(ask: RouteCall) -> Any:
    """One message with its parts."""
    workspace, info = await ask.serving.projects.of_session(ask.path["sessionID"], ask.named_folder)
    session = workspace.sessions_open.get(info.id)
    kept = session.conversation.message(ask.path["messageID"]) if session is not None and not session.resumes else None
    stored: list[Message] = await workspace.sessions.messages(info.id) if kept is None else []
    return message_json(kept or _find(ask, stored), workspace)


def _find(ask: RouteCall, messages: list[Message]) -> Message:
    wanted = ask.path["messageID"]
    for message in messages:
        if message.info.id == wanted:
            return message
    raise not_found(f"There is no message {wanted[:80]!r} in this session.")


@routes.at("DELETE", "/session/{sessionID}/message/{messageID}/part/{partID}", "part.delete")
async def delete_part(ask: RouteCall) -> Any:
    """Take a part out of a message."""
    session, part = await _part(ask)
    session.conversation.remove_part(part)
    return True


@routes.at(
    "PATCH",
    "/session/{sessionID}/message/{messageID}/part/{partID}",
    "part.update",
    {"type": "object", "required": ["text"], "properties": {"text": {"type": "string"}}},
)
async def change_part(ask: RouteCall) -> Any:
    """Change the words of a text part."""
    body = await ask.body()
    session, part = await _part(ask)
    if not isinstance(part, TextPart):
        raise bad_request("Only the words of a text part can be changed.")
    changed = replace(part, text=body["text"])
    session.conversation.put(changed)
    return changed


async def _part(ask: RouteCall) -> tuple[Session, Any]:
    _, session = await ask.serving.projects.session(ask.path["sessionID"], ask.named_folder)
    session.turns.require_rest()
    part = _find(ask, session.conversation.messages).parts.get(ask.path["partID"])
    if part is None:
        raise not_found(f"There is no part {ask.path['partID'][:80]!r} in this message.")
    return session, part
