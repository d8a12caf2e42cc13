"""Messages and their parts: read, and corrected by hand."""

from dataclasses import replace
from typing import Any

from toolwright.http_server.refusal import bad_request, not_found
from toolwright.messages import Message, TextPart
from toolwright.server.asking import Ask, Routes
from toolwright.server.shapes import message_json
from toolwright.session.session import Session

routes = Routes()

MOST = 100_000


@routes.get("/session/{sessionID}/message", "session.messages")
async def messages(ask: Ask) -> Any:
    """The messages of a session with their parts, ascending; the newest so many with `limit`."""
    workspace, info = await ask.serving.projects.of_session(ask.ids["sessionID"], ask.named_folder)
    limit = ask.count("limit", 0, MOST)
    session = workspace.sessions_open.get(info.id)
    if session is not None and not session.resumes:
        held = session.conversation.messages
        found = held if limit and limit <= len(held) else await session.conversation.all_messages()
        found = found[-limit:] if limit else found
    else:
        found = await workspace.sessions.messages(info.id, limit)
    return [message_json(message, workspace) for message in sorted(found, key=lambda one: one.info.id)]


@routes.get("/session/{sessionID}/message/{messageID}", "session.message")
async def message(ask: Ask) -> Any:
    """One message with its parts."""
    workspace, info = await ask.serving.projects.of_session(ask.ids["sessionID"], ask.named_folder)
    session = workspace.sessions_open.get(info.id)
    kept = session.conversation.message(ask.ids["messageID"]) if session is not None and not session.resumes else None
    stored: list[Message] = await workspace.sessions.messages(info.id) if kept is None else []
    return message_json(kept or _found(ask, stored), workspace)


def _found(ask: Ask, messages: list[Message]) -> Message:
    wanted = ask.ids["messageID"]
    for message in messages:
        if message.info.id == wanted:
            return message
    raise not_found(f"There is no message {wanted[:80]!r} in this session.")


@routes.at("DELETE", "/session/{sessionID}/message/{messageID}/part/{partID}", "part.delete")
async def delete_part(ask: Ask) -> Any:
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
async def change_part(ask: Ask) -> Any:
    """Change the words of a text part."""
    body = await ask.body()
    session, part = await _part(ask)
    if not isinstance(part, TextPart):
        raise bad_request("Only the words of a text part can be changed.")
    changed = replace(part, text=body["text"])
    session.conversation.put(changed)
    return changed


async def _part(ask: Ask) -> tuple[Session, Any]:
    _, session = await ask.serving.projects.session(ask.ids["sessionID"], ask.named_folder)
    session.turns.require_rest()
    part = _found(ask, session.conversation.messages).parts.get(ask.ids["partID"])
    if part is None:
        raise not_found(f"There is no part {ask.ids['partID'][:80]!r} in this message.")
    return session, part
