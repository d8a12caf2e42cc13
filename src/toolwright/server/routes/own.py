"""What only this program offers, under /tw: finer undo, the reasons of a decision, approvals, use."""

import asyncio
import json
from typing import Any

from toolwright.definition import Call
from toolwright.errors import ToolwrightError
from toolwright.ids import new_id
from toolwright.messages import Assistant
from toolwright.permission.explain import explain, lines
from toolwright.server.asking import Ask, Routes
from toolwright.server.refusal import bad_request
from toolwright.server.undoing import diff_of
from toolwright.session.undo import Selection, Undo
from toolwright.wire import to_json

routes = Routes()

_TEXT = {"type": "string"}


@routes.get("/tw/session/{sessionID}/changes", "tw.changes")
async def changes(ask: Ask) -> Any:
    """Everything a session changed, oldest first."""
    workspace, session = await ask.serving.projects.session(ask.ids["sessionID"], ask.named_folder)
    entries = (await Undo.of(workspace.files, session.conversation)).changes()
    return [{"call": one.call_id, "file": one.path, "time": int(one.time * 1000)} for one in entries]


@routes.post(
    "/tw/session/{sessionID}/revert",
    "tw.revert",
    {
        "type": "object",
        "properties": {"turn": _TEXT, "call": _TEXT, "file": _TEXT, "preview": {"type": "boolean"}},
    },
)
async def revert(ask: Ask) -> Any:
    """Undo by turn, call or file; with `preview` only tell what it would do."""
    body = await ask.body()
    workspace, session = await ask.serving.projects.session(ask.ids["sessionID"], ask.named_folder)
    session.turns.require_rest()
    undo = await Undo.of(workspace.files, session.conversation)
    selection = Selection(turn=body.get("turn", ""), call=body.get("call", ""), file=body.get("file", ""))
    plans = undo.plan(selection) if body.get("preview") else await undo.revert(selection)
    files = [{"file": plan.path, "kind": plan.kind, "calls": list(plan.calls)} for plan in plans]
    return {"files": files, "diff": await asyncio.to_thread(diff_of, plans)}


@routes.get("/tw/permission/explain", "tw.explain")
async def explained(ask: Ask) -> Any:
    """Why a call would be allowed, asked about or denied."""
    workspace = await ask.workspace()
    try:
        arguments = json.loads(ask.text("args") or "{}")
    except ValueError as error:
        raise bad_request(f"args is a JSON object: {error}.") from error
    if not isinstance(arguments, dict):
        raise bad_request("args is a JSON object.")
    session = workspace.session(ask.text("agent"))
    try:
        asked: list[Any] = []
        call = Call(id=new_id("call"), tool=ask.text("tool"), arguments=arguments)
        result = await session.run_call(call, log=asked, gate=workspace.dry_gate())
        policy = session.ruled_agent.policy
        approvals = workspace.gate.approvals.of((session.id,))
        found = [explain(policy, one.judgement.request, approvals) for one in asked]
        return {
            "requests": [
                {
                    "permission": one.judgement.request.permission,
                    "patterns": list(one.judgement.request.patterns),
                    "action": one.judgement.action,
                    "why": lines(explanation),
                }
                for one, explanation in zip(asked, found, strict=True)
            ],
            "note": "" if asked else result.output[:2000],
        }
    finally:
        await session.close()


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
