"""What only this program offers, under /tw: finer undo, the reasons of a decision, approvals, use."""

import asyncio
import base64
from collections.abc import Sequence
from typing import Any

from toolwright.backend import LocalBackend
from toolwright.definition import Call
from toolwright.diff import unified
from toolwright.errors import ToolwrightError
from toolwright.files.body import Body, Link
from toolwright.files.journal import JournalEntry
from toolwright.ids import new_id
from toolwright.jsontext import read_json
from toolwright.jsontypes import Json
from toolwright.messages import Assistant
from toolwright.permission.explain import RequestExplanation, explain, lines
from toolwright.policy.judging import requests_of
from toolwright.server.asking import Ask, Routes
from toolwright.server.refusal import HttpRefusal, bad_request, not_found
from toolwright.server.undoing import diff_of, diff_of_entry, tell_changes
from toolwright.session.undo import FileUndo, NothingToUndo, Selection, Undo
from toolwright.wire import to_json
from toolwright.workspace import Workspace

routes = Routes()

_TEXT = {"type": "string"}
_PATTERNS = {
    "type": "object",
    "required": ["patterns"],
    "properties": {"patterns": {"type": "array", "items": _TEXT, "maxItems": 100}},
}


@routes.get("/tw/session/{sessionID}/changes", "tw.changes")
async def changes(ask: Ask) -> Any:
    """Everything a session changed, oldest first; with `call` the changes of that one, and what they did."""
    workspace, session = await ask.serving.projects.session(ask.ids["sessionID"], ask.named_folder)
    entries = (await Undo.of(workspace.files, session.conversation)).changes()
    wanted = ask.text("call")

    def shown(one: JournalEntry) -> Json:
        row: Json = {"call": one.call_id, "file": one.path, "time": int(one.time * 1000)}
        return row | {"diff": diff_of_entry(workspace, one)} if wanted else row

    return await asyncio.to_thread(lambda: [shown(one) for one in entries if not wanted or one.call_id == wanted])


@routes.post(
    "/tw/session/{sessionID}/revert",
    "tw.revert",
    {
        "type": "object",
        "properties": {
            "turn": _TEXT,
            "call": _TEXT,
            "file": _TEXT,
            "hunks": {"type": "array", "items": _TEXT},
            "preview": {"type": "boolean"},
            "contents": {"type": "boolean"},
        },
    },
)
async def revert(ask: Ask) -> Any:
    """Undo by turn, call, file or pieces of a file; with `preview` only tell what it would do.

    With `contents` both states of every file are in the answer. Of a turn that changed no file, the words are undone.
    """
    body = await ask.body()
    workspace, session = await ask.serving.projects.session(ask.ids["sessionID"], ask.named_folder)
    session.turns.require_rest()
    undo = await Undo.of(workspace.files, session.conversation)
    selection = Selection(
        turn=body.get("turn", ""),
        call=body.get("call", ""),
        file=body.get("file", ""),
        hunks=tuple(body.get("hunks", ())),
    )
    try:
        plans = undo.plan(selection) if body.get("preview") else await undo.revert(selection)
    except NothingToUndo as error:
        if body.get("preview") or not selection.turn or selection != Selection(turn=selection.turn):
            raise HttpRefusal(404, "NothingToUndo", str(error)) from error
        undo.leave_out(selection.turn)
        plans = []
    if not body.get("preview"):
        await tell_changes(workspace, session)
    return await asyncio.to_thread(_undone, plans, workspace, contents=body.get("contents", False))


@routes.post(
    "/tw/session/{sessionID}/unrevert",
    "tw.unrevert",
    {"type": "object", "properties": {"contents": {"type": "boolean"}}},
)
async def unrevert(ask: Ask) -> Any:
    """Make again what the last undo has undone, and tell what that did to each file."""
    body = await ask.body()
    workspace, session = await ask.serving.projects.session(ask.ids["sessionID"], ask.named_folder)
    session.turns.require_rest()
    plans = await (await Undo.of(workspace.files, session.conversation)).unrevert()
    await tell_changes(workspace, session)
    return await asyncio.to_thread(_undone, plans, workspace, contents=body.get("contents", False))


def _undone(plans: Sequence[FileUndo], workspace: Workspace, *, contents: bool) -> Json:
    directory = str(workspace.directory)
    files = [_file_undo(plan, directory) | (_contents(plan) if contents else {}) for plan in plans]
    return {"files": files, "diff": diff_of(plans)}


def _contents(plan: FileUndo) -> Json:
    return {"present": _body(plan.present), "restored": _body(plan.restored)}


def _body(body: Body) -> Json | None:
    """What a file holds, exact to the byte; None where there is none."""
    if isinstance(body, Link):
        return {"link": body.target}
    return None if body is None else {"base64": base64.b64encode(body).decode()}


def _file_undo(plan: FileUndo, directory: str) -> Json:
    """What becomes of a file, with the pieces that can be undone alone."""
    return {
        "path": plan.path,
        "file": plan.path.removeprefix(f"{directory}/"),
        "kind": plan.kind,
        "calls": list(plan.calls),
        "diff": unified(plan.path, *plan.texts()),
        "hunks": to_json(plan.hunks()),
    }


@routes.get("/tw/session/{sessionID}/export", "tw.export")
async def export(ask: Ask) -> Any:
    """A session as one JSON value, as `tw session import` takes it."""
    workspace, info = await ask.serving.projects.of_session(ask.ids["sessionID"], ask.named_folder)
    return await workspace.sessions.exported(info.id)


@routes.post(
    "/tw/session/{sessionID}/steer",
    "tw.steer",
    {"type": "object", "required": ["text"], "properties": {"text": {"type": "string", "minLength": 1}}},
)
async def steer(ask: Ask) -> Any:
    """Tell the agent something before its next step; not `heard` if it is not at work."""
    body = await ask.body()
    _, session = await ask.serving.projects.session(ask.ids["sessionID"], ask.named_folder)
    return {"heard": session.turns.steer(body["text"])}


@routes.get("/tw/session/{sessionID}/jobs", "tw.jobs")
async def jobs(ask: Ask) -> Any:
    """The commands that a session has left running in the background."""
    workspace, info = await ask.serving.projects.of_session(ask.ids["sessionID"], ask.named_folder)
    return [{"name": name, "command": command} for name, command in await LocalBackend(workspace).jobs(info.id)]


@routes.get("/tw/folders", "tw.folders")
async def folders(ask: Ask) -> Any:
    """The folders that are served, and how many questions wait in each."""
    projects = ask.serving.projects
    open_now = projects.workspaces
    every = dict.fromkeys((*projects.folders, *open_now))
    return [
        {
            "directory": str(path),
            "open": path in open_now,
            "waiting": len(open_now[path].inbox.pending) if path in open_now else 0,
        }
        for path in every
    ]


@routes.get("/tw/permission/explain", "tw.explain")
async def explained(ask: Ask) -> Any:
    """Why a call would be allowed, asked about or denied; or why the question `request` is asked.

    The call is `tool` with `args`, an object, or with its one `argument` as a person would type it.
    """
    workspace = await ask.workspace()
    if ask.text("request"):
        inbox, question = ask.serving.question(ask.text("request"), "permission")
        gate = next(one.gate for one in ask.serving.projects.workspaces.values() if one.inbox is inbox)
        asker, request = gate.waiting(question.id) or (None, None)
        if asker is None or request is None:
            raise not_found(f"{question.id} does not wait for an answer any more.")
        approvals = gate.approvals.of(asker.sessions)
        return {"requests": [_explained(explain(asker.policy, request, approvals))], "note": ""}
    session = workspace.session(ask.text("agent"))
    try:
        approvals = workspace.gate.approvals.of((session.id,))
        policy = session.ruled_agent.policy
        if ask.text("argument"):
            requests = await requests_of(workspace, session, ask.text("tool"), ask.text("argument"))
            return {"requests": [_explained(explain(policy, one, approvals)) for one in requests], "note": ""}
        asked: list[Any] = []
        call = Call(id=new_id("call"), tool=ask.text("tool"), arguments=_arguments(ask.text("args")))
        result = await session.run_call(call, log=asked, gate=workspace.dry_gate())
        found = [_explained(explain(policy, one.judgement.request, approvals)) for one in asked]
        return {"requests": found, "note": "" if asked else result.output[:2000]}
    finally:
        await session.close()


@routes.post("/tw/permission/{requestID}/try", "tw.try", _PATTERNS)
async def tried(ask: Ask) -> Any:
    """What "always" with these patterns would mean for a question that waits; nothing is stored."""
    _, question = ask.serving.question(ask.ids["requestID"], "permission")
    found = question.tried((await ask.body())["patterns"])
    return {"settles": found.settles, "reason": found.reason, "earlier": list(found.earlier)}


def _arguments(text: str) -> Json:
    try:
        arguments = read_json(text or "{}")
    except ValueError as error:
        raise bad_request(f"args must be a JSON object, but: {error}.") from error
    if not isinstance(arguments, dict):
        raise bad_request("args must be a JSON object.")
    return arguments


def _explained(found: RequestExplanation) -> Json:
    """The explanation in words, and what decided about each pattern."""
    return {
        "permission": found.request.permission,
        "patterns": list(found.request.patterns),
        "action": found.action,
        "why": lines(found),
        "mustAsk": found.request.must_ask,
        "advice": found.advice,
        "decided": [
            {
                "pattern": one.pattern,
                "action": one.action,
                "agent": one.policy.agent,
                "rule": str(one.decision.rule or ""),
                "source": one.decision.rule.source if one.decision.rule else "",
                "layer": one.decision.layer,
            }
            for one in found.patterns
        ],
    }


@routes.get("/tw/approvals", "tw.approvals")
async def approvals(ask: Ask) -> Any:
    """What was allowed for good."""
    workspace = await ask.workspace()
    listed = workspace.gate.approvals.listed()
    return [{"scope": scope, "permission": one.permission, "pattern": one.pattern} for scope, one in listed]


@routes.at("DELETE", "/tw/approvals", "tw.approvals.revoke")
async def revoke(ask: Ask) -> Any:
    """Take approvals back: those of `permission` on `pattern`."""
    workspace = await ask.workspace()
    return {"revoked": workspace.gate.approvals.revoke(ask.text("permission"), ask.text("pattern"))}


@routes.get("/tw/usage", "tw.usage")
async def usage(ask: Ask) -> Any:
    """What the sessions of the project took, the last used first."""
    workspace = await ask.workspace()
    rows = []
    for info in await workspace.sessions.listed(ask.count("limit", 50, 500) or 50, roots=True):
        replies = [one.info for one in await workspace.sessions.messages(info.id) if isinstance(one.info, Assistant)]
        rows.append(
            {
                "sessionID": info.id,
                "title": info.title,
                "cost": sum(one.cost for one in replies),
                "tokens": sum(one.tokens.total for one in replies),
            }
        )
    return rows


@routes.get("/tw/doctor", "tw.doctor")
async def doctor(ask: Ask) -> Any:
    """What holds for the folder: trust, warnings, extensions that are left out."""
    workspace = await ask.workspace()
    try:
        model = workspace.connections.open(workspace.default_model).info.full_name if workspace.default_model else ""
        problem = "" if model else "No model is chosen."
    except ToolwrightError as error:
        model, problem = "", str(error)
    return {
        "directory": str(workspace.directory),
        "trusted": workspace.trusted,
        "model": model,
        "modelProblem": problem,
        "warnings": list(workspace.config.warnings),
        "extensions": [to_json(one) for one in workspace.problems],
    }
