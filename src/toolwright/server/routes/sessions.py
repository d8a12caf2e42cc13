"""Sessions: made, listed, changed, copied, deleted, stopped, undone."""

from dataclasses import replace
from typing import Any

from toolwright.agents import CLIENT
from toolwright.app.undoing import revert, session_changes, turn_changes, unrevert
from toolwright.errors import UsageError
from toolwright.http_server.refusal import not_found, unusable
from toolwright.protocols.client_json import to_json
from toolwright.protocols.json_types import Json
from toolwright.server.asking import RouteCall, Routes
from toolwright.server.frames import relative_change, session_json
from toolwright.session.session import Session
from toolwright.session.sessions import session_rules
from toolwright.workspace import Workspace

routes = Routes()

MOST = 10_000
"""Sessions that are looked through for a list."""
_TEXT = {"type": "string"}
_RULES = {
    "type": "array",
    "items": {
        "type": "object",
        "required": ["permission", "pattern", "action"],
        "properties": {"permission": _TEXT, "pattern": _TEXT, "action": {"enum": ["allow", "ask", "deny"]}},
    },
}


@routes.get("/session", "session.list")
async def sessions(ask: RouteCall) -> Any:
    """The sessions of the project, the last used first."""
    workspace = await ask.workspace()
    since = ask.query_int("start", 0, 2**53)
    limit = ask.query_int("limit", 1000, MOST) or 1000
    wanted = ask.query("search").lower()
    rows = []
    for info in await workspace.sessions.listed(MOST, roots=ask.flag("roots")):
        if (info.time.updated or 0) < since:
            break
        if wanted in info.title.lower():
            rows.append(session_json(info))
        if len(rows) == limit:
            break
    return rows


@routes.post(
    "/session",
    "session.create",
    {
        "type": "object",
        "properties": {"parentID": _TEXT, "title": _TEXT, "permission": _RULES, "agent": _TEXT},
    },
)
async def create(ask: RouteCall) -> Any:
    """A new session."""
    workspace = await ask.workspace()
    body = await ask.body()
    parent = (
        (await ask.serving.projects.session(body["parentID"], ask.named_folder))[1] if body.get("parentID") else None
    )
    try:
        session = workspace.sessions.create(
            title=body.get("title", "")[:1000],
            agent=body.get("agent", ""),
            parent=parent,
            permission=_from_client(body.get("permission", ())),
        )
    except UsageError as error:
        raise unusable(str(error)) from error
    return session_json(session.info)


def _from_client(rules: Any) -> tuple[Json, ...]:
    return tuple({**rule, "source": CLIENT} for rule in rules)


@routes.get("/session/status", "session.status")
async def statuses(ask: RouteCall) -> Any:
    """List what the sessions are doing; idle ones are left out."""
    workspace = await ask.workspace()
    return ask.serving.statuses.get(str(workspace.directory), {})


@routes.get("/session/{sessionID}", "session.get")
async def session(ask: RouteCall) -> Any:
    """One session."""
    _, info = await ask.serving.projects.of_session(ask.path["sessionID"], ask.named_folder)
    return session_json(info)


@routes.at(
    "PATCH",
    "/session/{sessionID}",
    "session.update",
    {
        "type": "object",
        "properties": {
            "title": _TEXT,
            "permission": _RULES,
            "time": {"type": "object", "properties": {"archived": {"type": ["number", "null"]}}},
        },
    },
)
async def change(ask: RouteCall) -> Any:
    """Rename or archive a session, or tighten its rules."""
    body = await ask.body()
    _, session = await _opened(ask)
    info = session.info
    if "title" in body:
        info = replace(info, title=body["title"][:1000])
    if "archived" in body.get("time", {}):
        when = body["time"]["archived"]
        info = replace(info, time=replace(info.time, archived=None if when is None else int(when)))
    session.conversation.change(info)
    if "permission" in body:
        own = [rule for rule in session.rules if rule.source != CLIENT]
        session.take_rules((*own, *session_rules(_from_client(body["permission"]))))
    return session_json(session.info)


@routes.at("DELETE", "/session/{sessionID}", "session.delete")
async def delete(ask: RouteCall) -> Any:
    """Delete a session and those below it."""
    workspace, info = await ask.serving.projects.of_session(ask.path["sessionID"], ask.named_folder)
    await workspace.sessions.delete(info.id)
    return True


@routes.get("/session/{sessionID}/children", "session.children")
async def children(ask: RouteCall) -> Any:
    """The sessions of subagents."""
    workspace, info = await ask.serving.projects.of_session(ask.path["sessionID"], ask.named_folder)
    return [session_json(child) for child in await workspace.sessions.children(info.id)]


@routes.get("/session/{sessionID}/todo", "session.todo")
async def todo(ask: RouteCall) -> Any:
    """The todo list of a session."""
    workspace, info = await ask.serving.projects.of_session(ask.path["sessionID"], ask.named_folder)
    return [entry.as_json() for entry in await workspace.todos.of(info.id)]


@routes.get("/session/{sessionID}/diff", "session.diff")
async def diff(ask: RouteCall) -> Any:
    """The files that a session, or one turn of it, has changed."""
    directory = ask.serving.projects
    workspace, info = await directory.of_session(ask.path["sessionID"], ask.named_folder)
    if ask.query("messageID"):
        _, session = await _opened(ask)
        changes = await turn_changes(workspace, session, ask.query("messageID"))
    else:
        changes = await session_changes(workspace, info)
    return [relative_change(to_json(change), str(workspace.directory)) for change in changes]


@routes.post("/session/{sessionID}/abort", "session.abort")
async def abort(ask: RouteCall) -> Any:
    """Stop what the session is doing; true also if it does nothing."""
    workspace, info = await ask.serving.projects.of_session(ask.path["sessionID"], ask.named_folder)
    if (session := workspace.sessions_open.get(info.id)) is not None:
        await session.abort()
    return True


@routes.post(
    "/session/{sessionID}/revert",
    "session.revert",
    {"type": "object", "required": ["messageID"], "properties": {"messageID": _TEXT, "partID": _TEXT}},
)
async def undo(ask: RouteCall) -> Any:
    """Undo everything from a message on: files at once, messages when the next prompt comes."""
    body = await ask.body()
    workspace, session = await _opened(ask)
    if session.conversation.message(body["messageID"]) is None:
        known = {message.info.id for message in await session.conversation.all_messages()}
        if body["messageID"] not in known:
            raise not_found(f"There is no message {body['messageID'][:80]!r} in this session.")
    await revert(workspace, session, body["messageID"], body.get("partID", ""))
    return session_json(session.info)


@routes.post("/session/{sessionID}/unrevert", "session.unrevert")
async def redo(ask: RouteCall) -> Any:
    """Make again what was undone."""
    workspace, session = await _opened(ask)
    await unrevert(workspace, session)
    return session_json(session.info)


@routes.post("/session/{sessionID}/fork", "session.fork", {"type": "object", "properties": {"messageID": _TEXT}})
async def fork(ask: RouteCall) -> Any:
    """A copy of a session, whole or up to a message."""
    body = await ask.body()
    workspace, info = await ask.serving.projects.of_session(ask.path["sessionID"], ask.named_folder)
    before = body.get("messageID", "")
    if before and not await workspace.store.knows(before):
        raise not_found(f"There is no message {before[:80]!r} in this session.")
    return session_json(await workspace.sessions.fork(info.id, before))


async def _opened(ask: RouteCall) -> tuple[Workspace, Session]:
    return await ask.serving.projects.session(ask.path["sessionID"], ask.named_folder)
