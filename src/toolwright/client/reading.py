"""Answers of a server, read into the records that surfaces work with."""

import base64
from collections.abc import Iterable, Sequence
from typing import Any

from toolwright.agents import Agent
from toolwright.calls.request import Request
from toolwright.client.calls import reading_answer
from toolwright.commands import Command
from toolwright.definition import Attachment, Result
from toolwright.errors import Kind, ToolError
from toolwright.files.body import Body, Link
from toolwright.messages import Assistant, Message
from toolwright.protocols.json_types import Json
from toolwright.services import Todo
from toolwright.session.alone import CallDecision
from toolwright.session.budget import Spending
from toolwright.session.result import KINDS, TurnEnd, TurnResult, turn_result
from toolwright.session.undo.changes import ChangedFile
from toolwright.session.undo.file_back import FileUndo


@reading_answer()
def agent_of(value: Json) -> Agent:
    model = value.get("model") or {}
    return Agent(
        name=value["name"],
        mode=value.get("mode", "all"),
        description=value.get("description", ""),
        native=bool(value.get("native")),
        hidden=bool(value.get("hidden")),
        color=value.get("color", ""),
        model=f"{model['providerID']}/{model['modelID']}" if model else "",
    )


@reading_answer()
def command_of(value: Json) -> Command:
    return Command(
        name=value["name"],
        template=str(value.get("template", "")),
        description=value.get("description", ""),
        agent=value.get("agent", ""),
        model=value.get("model", ""),
        subtask=value.get("subtask"),
    )


@reading_answer()
def todo_of(number: int, value: Json) -> Todo:
    return Todo(
        id=str(value.get("id", number)),
        content=value["content"],
        status=value.get("status", "pending"),
        priority=value.get("priority", "medium"),
    )


@reading_answer()
def undo_of(value: Json) -> FileUndo:
    """One file on its way back, with both its contents."""
    return FileUndo(
        path=value["path"],
        present=_body(value["present"]),
        restored=_body(value["restored"]),
        calls=tuple(value["calls"]),
    )


def _body(value: Any) -> Body:
    if value is None:
        return None
    return Link(value["link"]) if "link" in value else base64.b64decode(value["base64"])


@reading_answer()
def undo_of_change(value: Json, directory: str) -> FileUndo:
    """The undoing of a change as the contract has it: by texts alone, so that an empty one may be no file."""
    path = value["file"] if value["file"].startswith("/") else f"{directory}/{value['file']}"
    restored, present = (text.encode() for text in _texts(value))
    return FileUndo(path=path, present=present or None, restored=restored or None, calls=())


def _texts(change: Json) -> tuple[str, str]:
    """A file before and after. Newer servers send a patch alone: then as much of both as it shows."""
    if "before" in change and "after" in change:
        return change["before"], change["after"]
    before, after = list[str](), list[str]()
    _, _, hunks = str(change.get("patch", "")).partition("\n@@")
    for line in hunks.splitlines(keepends=True)[1:]:
        if line[0] in " -":
            before.append(line[1:])
        if line[0] in " +":
            after.append(line[1:])
    return "".join(before), "".join(after)


@reading_answer()
def called(value: Json) -> Result:
    """Return what a call on a server came to."""
    error = value["error"]
    kind: Kind = next((one for one in KINDS if error and one == error["kind"]), "crash")
    return Result(
        value["output"],
        title=value["title"],
        metadata=value["metadata"],
        attachments=tuple(Attachment(**one) for one in value["attachments"]),
        error=ToolError(error["message"], kind) if error else None,
    )


@reading_answer()
def decided(value: Json) -> CallDecision:
    """Return what a server's rules make of a call; its rule is in the reason."""
    requests = (Request(permission=one["permission"], patterns=tuple(one["patterns"])) for one in value["requests"])
    return CallDecision(action=value["action"], reason=value["reason"] or value["rule"], requests=tuple(requests))


@reading_answer()
def result_of(last: Message, messages: Iterable[Message], changes: Sequence[Json]) -> TurnResult:
    """Sum up a turn from its last message, all messages of the session and the files that were changed."""
    parent = last.info.parent_id if isinstance(last.info, Assistant) else last.info.id
    turn = [one for one in messages if isinstance(one.info, Assistant) and one.info.parent_id == parent]
    changed = tuple(map(_change, changes))
    return turn_result(last.info.session_id, TurnEnd(message=last, spending=_spending(turn), changes=changed), turn)


def _change(value: Json) -> ChangedFile:
    before, after = _texts(value)
    counts = {name: int(value.get(name, 0)) for name in ("additions", "deletions")}
    return ChangedFile(file=value["file"], before=before, after=after, **counts)


def _spending(turn: Sequence[Message]) -> Spending:
    replies = [one.info for one in turn if isinstance(one.info, Assistant)]
    return Spending(
        steps=len(replies),
        tokens=sum(one.tokens.total for one in replies),
        input=sum(one.tokens.input for one in replies),
        output=sum(one.tokens.output for one in replies),
        cost=sum(one.cost for one in replies),
    )
