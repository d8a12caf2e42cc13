"""Questions of a session, put to the person in the editor."""

from typing import Any

from toolwright.acp.updates import kind_of
from toolwright.inbox import Question, Reply
from toolwright.jsontypes import Json


def request_of(question: Question, root: str, directory: str) -> Json:
    """What `session/request_permission` is sent for a question; the exact rule of an `always` is in its name."""
    options = [{"optionId": "once", "kind": "allow_once", "name": "Allow once"}]
    options += [
        {
            "optionId": f"always:{at}",
            "kind": "allow_always",
            "name": f"Always allow {question.permission} `{pattern}` here",
        }
        for at, pattern in enumerate(question.always)
    ]
    options.append({"optionId": "reject", "kind": "reject_once", "name": "Reject"})
    named = question.arguments.get("filePath")
    content = []
    if diff := question.metadata.get("diff"):
        content.append({"type": "content", "content": {"type": "text", "text": f"```diff\n{diff}\n```"}})
    call: Json = {
        "toolCallId": question.call_id,
        "title": question.title,
        "kind": kind_of(question.tool),
        "status": "pending",
        "rawInput": dict(question.arguments),
        "locations": [{"path": f"{directory}/{named}" if not str(named).startswith("/") else str(named)}]
        if isinstance(named, str) and named
        else [],
        "content": content,
    }
    return {"sessionId": root, "toolCall": call, "options": options}


def reply_of(question: Question, answer: Any) -> Reply:
    """What the person chose; anything we did not offer is a no."""
    outcome = answer.get("outcome") if isinstance(answer, dict) else None
    chosen = outcome.get("optionId") if isinstance(outcome, dict) and outcome.get("outcome") == "selected" else ""
    if chosen == "once":
        return Reply(kind="once")
    kind, _, number = str(chosen).partition(":")
    if kind == "always" and number.isdecimal() and int(number) < len(question.always):
        return Reply(kind="always", patterns=(question.always[int(number)],))
    return Reply(kind="reject")
