"""Routes that only this program has, under /tw: finer undo, the reasons of a decision, approvals, use."""

import asyncio
import base64
from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from toolwright.app.background import agents_below
from toolwright.app.desk import Desk
from toolwright.app.explaining import (
    RequestExplanation,
    explain_argument,
    explain_call,
    explain_waiting,
    lines,
)
from toolwright.app.looping import loops_of, stop_loops
from toolwright.app.project import LocalProject
from toolwright.app.undoing import diff_of, diff_of_entry, journal_of, redo, undo
from toolwright.errors import ToolwrightError
from toolwright.files.body import Body, Link
from toolwright.files.journal import JournalEntry
from toolwright.http_server.refusal import bad_request, not_found
from toolwright.messages import Assistant
from toolwright.proof.goal import goal_of
from toolwright.protocols.client_json import to_json
from toolwright.protocols.json_text import read_json
from toolwright.protocols.json_types import Json
from toolwright.record import fields_of
from toolwright.server.asking import RouteCall, Routes
from toolwright.session.goals.stored_evidence import judge_of
from toolwright.session.prompt import Prompt
from toolwright.session.turns.loops import LoopPlan
from toolwright.session.undo.file_back import FileUndo, Selection
from toolwright.text.diff import unified
from toolwright.workspace import Workspace

routes = Routes()

_TEXT = {"type": "string"}
_PATTERNS = {
    "type": "object",
    "required": ["patterns"],
    "properties": {"patterns": {"type": "array", "items": _TEXT, "maxItems": 100}},
}


_LOOP: Json = {
    "type": "object",
    "required": ["text", "seconds"],
    "properties": {
        "text": {"type": "string", "minLength": 1},
        "agent": _TEXT,
        "model": _TEXT,
        "variant": _TEXT,
        "until": {"type": ["string", "array"], "items": _TEXT},
        "seconds": {"type": "number", "exclusiveMinimum": 0},
        "times": {"type": "integer", "minimum": 1},
        "if_fails": _TEXT,
        "if_output": _TEXT,
        "if_changed": _TEXT,
    },
}


@routes.get("/tw/session/{sessionID}/changes", "tw.changes")
async def changes(ask: RouteCall) -> Any:
    """Everything a session changed, oldest first; with `call` the changes of that one, and what they did."""
    workspace, session = await ask.serving.projects.session(ask.path["sessionID"], ask.named_folder)
    entries = await journal_of(workspace, session)
    wanted = ask.query("call")

    def entry_row(entry: JournalEntry) -> Json:
        row: Json = {"call": entry.call_id, "file": entry.path, "time": int(entry.time * 1000)}
        return row | {"diff": diff_of_entry(workspace, entry)} if wanted else row

    return await asyncio.to_thread(lambda: [entry_row(one) for one in entries if not wanted or one.call_id == wanted])


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
async def revert(ask: RouteCall) -> Any:
    """Undo by turn, call, file or pieces of a file, or the last turn; with `preview` only tell what it would do.

    With `contents` both states of every file are in the answer. Of a turn that changed no file, the words are undone.
    """
    body = await ask.body()
    workspace, session = await ask.serving.projects.session(ask.path["sessionID"], ask.named_folder)
    selection = Selection(
        turn=body.get("turn", ""),
        call=body.get("call", ""),
        file=body.get("file", ""),
        hunks=tuple(body.get("hunks", ())),
    )
    plans = await undo(workspace, session, selection, preview=body.get("preview", False))
    return await asyncio.to_thread(_undone, plans, workspace, contents=body.get("contents", False))


@routes.post(
    "/tw/session/{sessionID}/unrevert",
    "tw.unrevert",
    {"type": "object", "properties": {"contents": {"type": "boolean"}}},
)
async def unrevert(ask: RouteCall) -> Any:
    """Make again what the last undo has undone, and tell what that did to each file."""
    body = await ask.body()
    workspace, session = await ask.serving.projects.session(ask.path["sessionID"], ask.named_folder)
    plans = await redo(workspace, session)
    return await asyncio.to_thread(_undone, plans, workspace, contents=body.get("contents", False))


def _undone(plans: Sequence[FileUndo], workspace: Workspace, *, contents: bool) -> Json:
    directory = str(workspace.directory)
    files = [file_undo(plan, directory) | (_contents(plan) if contents else {}) for plan in plans]
    return {"files": files, "diff": diff_of(plans)}


def _contents(plan: FileUndo) -> Json:
    present, restored = plan.shown()
    return {"present": _body(present), "restored": _body(restored)}


def _body(body: Body) -> Json | None:
    """Return what a file holds, exact to the byte; None where there is none."""
    if isinstance(body, Link):
        return {"link": body.target}
    return None if body is None else {"base64": base64.b64encode(body).decode()}


def file_undo(plan: FileUndo, directory: str) -> Json:
    """Return what undoing makes of a file, with the pieces that can be undone alone."""
    return {
        "path": plan.path,
        "file": plan.path.removeprefix(f"{directory}/"),
        "kind": plan.kind,
        "calls": list(plan.calls),
        "diff": unified(plan.path, *plan.texts()),
        "hunks": to_json(plan.hunks()),
    }


@routes.get("/tw/session/{sessionID}/choice", "tw.choice")
async def choice(ask: RouteCall) -> Any:
    """Tell who answers the next prompt of a session unless another is chosen, on which model, thinking how hard."""
    workspace, info = await ask.serving.projects.of_session(ask.path["sessionID"], ask.named_folder)
    desk = Desk(project=LocalProject(workspace), agent=workspace.agents.default().name)
    await desk.open(info.id)
    return {"agent": desk.agent, "model": await desk.next_model(), "variant": desk.variant}


@routes.get("/tw/session/{sessionID}/evidence", "tw.evidence")
async def evidence(ask: RouteCall) -> Any:
    """Tell whether the work of a session is shown to be done, and what speaks for and against it."""
    workspace, info = await ask.serving.projects.of_session(ask.path["sessionID"], ask.named_folder)
    return (await (await judge_of(workspace, info.id)).evidence()).as_json()


@routes.get("/tw/session/{sessionID}/export", "tw.export")
async def export(ask: RouteCall) -> Any:
    """A session as one JSON value, as `tw session import` takes it."""
    workspace, info = await ask.serving.projects.of_session(ask.path["sessionID"], ask.named_folder)
    return await workspace.sessions.exported(info.id)


@routes.post(
    "/tw/session/{sessionID}/steer",
    "tw.steer",
    {"type": "object", "required": ["text"], "properties": {"text": {"type": "string", "minLength": 1}}},
)
async def steer(ask: RouteCall) -> Any:
    """Tell the agent something before its next step; not `heard` if it is not at work."""
    body = await ask.body()
    _, session = await ask.serving.projects.session(ask.path["sessionID"], ask.named_folder)
    return {"heard": session.turns.steer(body["text"])}


@routes.get("/tw/session/{sessionID}/jobs", "tw.jobs")
async def jobs(ask: RouteCall) -> Any:
    """The commands that a session has left running in the background."""
    workspace, info = await ask.serving.projects.of_session(ask.path["sessionID"], ask.named_folder)
    return [{"name": name, "command": command} for name, command in await LocalProject(workspace).jobs(info.id)]


@routes.get("/tw/session/{sessionID}/agents", "tw.agents")
async def agents(ask: RouteCall) -> Any:
    """The agents that work in the background below a session, and those that are done.

    `steer` and `abort` with the session of one tell it something and stop it.
    """
    workspace, info = await ask.serving.projects.of_session(ask.path["sessionID"], ask.named_folder)
    return [fields_of(one) for one in agents_below(workspace, info.id)]


@routes.get("/tw/session/{sessionID}/loops", "tw.loops")
async def loops(ask: RouteCall) -> Any:
    """The prompts that are put again and again in a session, and those that were."""
    workspace, info = await ask.serving.projects.of_session(ask.path["sessionID"], ask.named_folder)
    return [fields_of(one) for one in loops_of(workspace, info.id)]


@routes.post("/tw/session/{sessionID}/loops", "tw.loop.begin", _LOOP)
async def begin_loop(ask: RouteCall) -> Any:
    """Put a prompt again and again: so many `seconds` after the last time, `times` at most.

    With `if_fails` only where that command fails, with `if_output` where it prints something else than the last time,
    with `if_changed` where such a file has changed.
    """
    body = await ask.body()
    workspace, session = await ask.serving.projects.session(ask.path["sessionID"], ask.named_folder)
    words = {name: body.get(name, "") for name in ("text", "agent", "model", "variant")}
    prompt = Prompt(**words, until=goal_of(body.get("until")), waits=False)
    plan = LoopPlan(**{one.name: body[one.name] for one in fields(LoopPlan) if one.name in body})
    return fields_of(await LocalProject(workspace).begin_loop(session.id, prompt, plan))


@routes.at("DELETE", "/tw/session/{sessionID}/loops", "tw.loop.stop")
async def end_loops(ask: RouteCall) -> Any:
    """Stop the loop of a `name`, or all of a session; return which. A round under way comes to its end."""
    workspace, info = await ask.serving.projects.of_session(ask.path["sessionID"], ask.named_folder)
    return await stop_loops(workspace, info.id, ask.query("name"))


@routes.get("/tw/folders", "tw.folders")
async def folders(ask: RouteCall) -> Any:
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
async def explained(ask: RouteCall) -> Any:
    """Why a call would be allowed, asked about or denied; or why the question `request` is asked.

    The call is `tool` with `args`, an object, or with its one `argument` as a person would type it.
    """
    workspace = await ask.workspace()
    if ask.query("request"):
        inbox, question = ask.serving.question(ask.query("request"), "permission")
        gate = next(one.gate for one in ask.serving.projects.workspaces.values() if one.inbox is inbox)
        if (waiting := explain_waiting(gate, question.id)) is None:
            raise not_found(f"{question.id} does not wait for an answer any more.")
        return {"requests": [_explained(one) for one in waiting], "note": ""}
    if argument := ask.query("argument"):
        explanation = await explain_argument(workspace, ask.query("tool"), argument, ask.query("agent"))
    else:
        explanation = await explain_call(
            workspace, ask.query("tool"), _arguments(ask.query("args")), ask.query("agent")
        )
    return {"requests": [_explained(one) for one in explanation.requests], "note": explanation.refusal}


@routes.post("/tw/permission/{requestID}/try", "tw.try", _PATTERNS)
async def tried(ask: RouteCall) -> Any:
    """Tell what "always" with these patterns would mean for a question that waits; nothing is stored."""
    _, question = ask.serving.question(ask.path["requestID"], "permission")
    trial = question.tried((await ask.body())["patterns"])
    return {"settles": trial.settles, "reason": trial.reason, "earlier": list(trial.earlier)}


def _arguments(text: str) -> Json:
    try:
        arguments = read_json(text or "{}")
    except ValueError as error:
        raise bad_request(f"args must be a JSON object, but: {error}.") from error
    if not isinstance(arguments, dict):
        raise bad_request("args must be a JSON object.")
    return arguments


def _explained(explanation: RequestExplanation) -> Json:
    """The explanation in words, and what decided about each pattern."""
    return {
        "permission": explanation.request.permission,
        "patterns": list(explanation.request.patterns),
        "action": explanation.action,
        "why": lines(explanation),
        "mustAsk": explanation.request.must_ask,
        "advice": explanation.advice,
        "decided": [
            {
                "permission": one.permission,
                "pattern": one.pattern,
                "act": one.act.line if one.act is not None else "",
                "action": one.action,
                "agent": one.policy.agent,
                "rule": str(one.decision.rule or ""),
                "source": one.decision.rule.source if one.decision.rule else "",
                "layer": one.decision.layer,
            }
            for one in explanation.patterns
        ],
    }


@routes.get("/tw/approvals", "tw.approvals")
async def approvals(ask: RouteCall) -> Any:
    """List what was allowed for good."""
    workspace = await ask.workspace()
    listed = workspace.gate.approvals.listed()
    return [{"scope": scope, "permission": one.permission, "pattern": one.text} for scope, one in listed]


@routes.at("DELETE", "/tw/approvals", "tw.approvals.revoke")
async def revoke(ask: RouteCall) -> Any:
    """Take approvals back: those of `permission` on `pattern`."""
    workspace = await ask.workspace()
    return {"revoked": workspace.gate.approvals.revoke(ask.query("permission"), ask.query("pattern"))}


@routes.get("/tw/search", "tw.search")
async def search(ask: RouteCall) -> Any:
    """The sessions in which all of `words` were said or called, the best first, each with a passage."""
    workspace = await ask.workspace()
    return to_json((await workspace.sessions.search(ask.query("words")))[: ask.query_int("limit", 50, 500) or 50])


@routes.get("/tw/usage", "tw.usage")
async def usage(ask: RouteCall) -> Any:
    """List what the sessions of the project took, the last used first."""
    workspace = await ask.workspace()
    rows = []
    for info in await workspace.sessions.listed(ask.query_int("limit", 50, 500) or 50, roots=True):
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
async def doctor(ask: RouteCall) -> Any:
    """Tell what holds for the folder: trust, warnings, extensions that are left out."""
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
