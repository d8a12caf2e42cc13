"""Lines that a person types at the page: what they mean, and what our own commands come to."""

from typing import Any

from toolwright.app.desk import Desk, Room
from toolwright.app.line import OwnLine, ShellLine, meaning_of
from toolwright.app.outcome import AtScreen, FileChanges, Outcome, OutputLines, Pick
from toolwright.app.own import own_commands
from toolwright.app.project import LocalProject
from toolwright.http_server.refusal import bad_request
from toolwright.protocols.client_json import to_json
from toolwright.protocols.json_types import Json
from toolwright.server.asking import RouteCall, Routes
from toolwright.server.routes.tw import file_undo

ROOM: Room = "desk"
routes = Routes()

_TEXT = {"type": "string"}


@routes.get("/tw/commands", "tw.commands")
async def commands(ask: RouteCall) -> Any:
    """List what can be called by `/name`: ours, and prompts with a name."""
    workspace = await ask.workspace()
    named = {one.name: one.description for one in workspace.commands.all()}
    known = {name: one.help for name, one in own_commands(ROOM).items()} | named
    return [{"name": name, "description": text, "own": name not in named} for name, text in sorted(known.items())]


@routes.post(
    "/tw/line",
    "tw.line",
    {
        "type": "object",
        "required": ["text"],
        "properties": {
            "text": _TEXT,
            "session": _TEXT,
            "agent": _TEXT,
            "model": _TEXT,
            "variant": _TEXT,
            "goal": _TEXT,
        },
    },
)
async def line(ask: RouteCall) -> Any:
    """Tell whether a line is a prompt, a command for the shell or one of ours, which is carried out.

    Of ours it tells what it came to, and what is chosen from then on.
    """
    body = await ask.body()
    workspace = await ask.workspace()
    match meaning_of(body["text"], workspace.commands, ROOM):
        case ShellLine(command=command):
            return {"kind": "shell", "command": command}
        case OwnLine(command=own, rest=rest):
            project = LocalProject(workspace)
            desk = Desk(
                project=project,
                agent=body.get("agent") or workspace.agents.default().name,
                model=body.get("model", ""),
                variant=body.get("variant", ""),
                goal=body.get("goal", ""),
                session=await project.session(body["session"]) if body.get("session") else None,
                room=ROOM,
            )
            outcome = _outcome_json(await own.run(desk, rest), str(workspace.directory))
            chosen = {"agent": desk.agent, "model": desk.model, "variant": desk.variant, "goal": desk.goal}
            session = desk.session.id if desk.session else ""
            return {"kind": "own", "name": own.name, "outcome": outcome, "session": session, "chosen": chosen}
        case meant:
            if meant.sentence:
                raise bad_request(f"{meant.sentence} /help lists them.")
            return {"kind": "prompt"}


def _outcome_json(outcome: Outcome, directory: str) -> Json:
    match outcome:
        case OutputLines():
            return {"kind": "lines", **to_json(outcome)}
        case Pick():
            return {"kind": "pick", **to_json(outcome)}
        case FileChanges():
            files = [file_undo(plan, directory) for plan in outcome.plans]
            return {"kind": "changes", "title": outcome.title, "none": outcome.none, "files": files}
        case AtScreen():
            return {"kind": outcome.act, "text": outcome.text}
