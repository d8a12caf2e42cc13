"""Questions of a session, put to the person in the editor."""

from pathlib import Path
from typing import Any

from toolwright.acp.editor import Editor
from toolwright.acp.open_session import OpenSession
from toolwright.acp.patched import patched
from toolwright.inbox import Choice, Question, Reply
from toolwright.protocols.json_types import Json
from toolwright.text.display import visible

_KEPT = 1024 * 1024
"""Characters of a file up to which a question shows it whole."""


async def put(question: Question, known: OpenSession, editor: Editor) -> Reply:
    """The person's answer. An editor that fails to put the question has the answer no."""
    if question.kind == "permission":
        answer = await editor.ask("session/request_permission", await _request(question, known))
        return _reply_of(question, answer)
    if editor.can.forms:
        return _form_answers(question, await editor.ask("elicitation/create", _form(question, known.session.id)))
    answers: list[tuple[str, ...]] = []
    for choice in question.choices:
        chosen = _selected(await editor.ask("session/request_permission", _choice(question, choice, known.session.id)))
        kind, _, number = chosen.partition(":")
        if kind != "answer" or not number.isdecimal() or int(number) >= len(choice.options):
            return Reply(kind="reject")
        answers.append((choice.options[int(number)].label,))
    return Reply(kind="once", answers=tuple(answers))


# Permissions.


async def _request(question: Question, known: OpenSession) -> Json:
    """Return the request `session/request_permission`; the exact rule of an `always` is in its name."""
    options = [{"optionId": "once", "kind": "allow_once", "name": "Allow once"}]
    for at, pattern in enumerate(question.always):
        permission, _, text = question.rule(pattern).partition(" ")
        rule = f"`{text}`" if permission == "bash" else f"{permission} `{text}`"
        name = visible(f"Always allow {rule} in this project", lines=False)
        several = len(question.always) > 1
        options.append({"optionId": f"always:{at}" if several else "always", "kind": "allow_always", "name": name})
    options.append({"optionId": "reject", "kind": "reject_once", "name": "Reject"})
    content = [*_act_texts(question), *await _content(question, known)]
    named = question.arguments.get("filePath")
    paths = [one["path"] for one in content if one["type"] == "diff"]
    if not paths and isinstance(named, str) and named and "\0" not in named:
        paths = [str(Path(known.updates.folder, named))]
    return _asked(question, known.session.id, options) | {
        "toolCall": {
            "toolCallId": question.call_id,
            "title": visible(question.title),
            "kind": known.updates.looks.look(question.tool).kind_of(question.arguments),
            "status": "pending",
            "rawInput": dict(question.arguments),
            "locations": [{"path": path} for path in paths],
            "content": content,
        }
    }


def _asked(question: Question, session_id: str, options: list[Json]) -> Json:
    call = {"toolCallId": question.call_id, "title": visible(question.title), "kind": "other", "status": "pending"}
    return {"sessionId": session_id, "toolCall": call | {"rawInput": dict(question.arguments)}, "options": options}


def _act_texts(question: Question) -> list[Json]:
    """Return the acts that no undo reaches."""
    lines = (visible(str(line), lines=False) for line in question.metadata.get("acts", ()))
    return [{"type": "content", "content": {"type": "text", "text": line}} for line in lines]


async def _content(question: Question, known: OpenSession) -> list[Json]:
    """Return the changes, each file whole as it is and as it would be; where that cannot be told, as a patch."""
    patch, path = question.metadata.get("diff"), question.metadata.get("filepath")
    files = question.metadata.get("files")
    if isinstance(files, list):
        whole = [one for one in files if isinstance(one, dict) and "after" in one]
        if len(whole) == len(files):
            return [_diff_of_entry(one, known) for one in whole]
    if not isinstance(patch, str) or not patch:
        return []
    if isinstance(path, str) and (diff := await _diff(path, patch, known)):
        return [diff]
    return [{"type": "content", "content": {"type": "text", "text": f"```diff\n{visible(patch)}\n```"}}]


async def _diff(path: str, patch: str, known: OpenSession) -> Json | None:
    from toolwright.errors import ToolError

    files = known.workspace.files
    place = files.tree.place(path)
    try:
        old = (await files.load(place)).text.content if place.exists else None
    except ToolError:
        return None
    new = patched(old or "", patch) if len(old or "") + len(patch) <= _KEPT else None
    if new is None:
        return None
    return {"type": "diff", "path": known.editor_path(place.path), "oldText": old, "newText": new}


def _diff_of_entry(entry: Json, known: OpenSession) -> Json:
    path = known.editor_path(Path(str(entry.get("movePath") or entry.get("filePath"))))
    old = None if entry.get("type") == "add" else str(entry.get("before", ""))
    return {"type": "diff", "path": path, "oldText": old, "newText": str(entry["after"])}


def _reply_of(question: Question, answer: Any) -> Reply:
    """Return the person's choice; anything we did not offer is a no."""
    kind, _, number = _selected(answer).partition(":")
    if kind == "once" and not number:
        return Reply(kind="once")
    if kind == "always" and question.always:
        at = int(number) if number.isdecimal() else 0 if not number and len(question.always) == 1 else -1
        if 0 <= at < len(question.always):
            return Reply(kind="always", patterns=(question.always[at],))
    return Reply(kind="reject")


def _selected(answer: Any) -> str:
    outcome = answer.get("outcome") if isinstance(answer, dict) else None
    chosen = outcome.get("optionId") if isinstance(outcome, dict) and outcome.get("outcome") == "selected" else ""
    return chosen if isinstance(chosen, str) else ""


# Choices.


def _choice(question: Question, choice: Choice, session_id: str) -> Json:
    """A question with answers to choose from, for an editor that knows permissions alone."""
    options = [
        {
            "optionId": f"answer:{at}",
            "kind": "allow_once",
            "name": visible(f"{one.label}: {one.description}" if one.description else one.label, lines=False),
        }
        for at, one in enumerate(choice.options)
    ]
    options.append({"optionId": "reject", "kind": "reject_once", "name": "Give no answer"})
    asked = _asked(question, session_id, options)
    return asked | {"toolCall": asked["toolCall"] | {"title": visible(choice.question)}}


def _form(question: Question, session_id: str) -> Json:
    """All questions as one form: for each what is offered, and a field for words of one's own."""
    fields: Json = {}
    for at, choice in enumerate(question.choices):
        offered = [{"const": one.label, "title": visible(one.label)} for one in choice.options]
        asked = visible(choice.question)
        about = {"title": visible(choice.header) or asked, "description": asked}
        if offered and choice.multiple:
            fields[f"q{at}"] = about | {"type": "array", "items": {"anyOf": offered}}
        elif offered:
            fields[f"q{at}"] = about | {"type": "string", "oneOf": offered}
        if choice.custom or not offered:
            fields[f"own{at}"] = {"type": "string", "title": "In your own words", "description": asked}
    return {
        "mode": "form",
        "sessionId": session_id,
        "toolCallId": question.call_id,
        "message": visible(question.title) or "A question",
        "requestedSchema": {"type": "object", "properties": fields, "required": []},
    }


def _form_answers(question: Question, answer: Any) -> Reply:
    content = answer.get("content") if isinstance(answer, dict) and answer.get("action") == "accept" else None
    if not isinstance(content, dict):
        return Reply(kind="reject")
    answers = []
    for at in range(len(question.choices)):
        chosen = content.get(f"q{at}")
        choices = chosen if isinstance(chosen, list) else [chosen]
        answers.append(tuple(one for one in (*choices, content.get(f"own{at}")) if isinstance(one, str) and one))
    return Reply(kind="once", answers=tuple(answers))
