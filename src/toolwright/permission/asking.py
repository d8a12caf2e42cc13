"""One question about all that a call asks for: what it tells, and the texts of the approvals that it offers."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from toolwright.calls.request import Request
from toolwright.events import PermissionAsked
from toolwright.inbox import Question
from toolwright.permission.approvals import Approval, offered
from toolwright.protocols.json_types import Json


def text_of(approval: Approval, requests: Sequence[Request]) -> str:
    """Return the text of an approval: for all but the last request it begins with the permission, as in `(edit) a`."""
    return (
        approval.text if approval.permission == requests[-1].permission else f"({approval.permission}) {approval.text}"
    )


def approval_of(text: str, requests: Sequence[Request]) -> Approval:
    """Return the approval that a text of the question, or one that a person has made of it, stands for."""
    main = requests[-1]
    if text not in [one.text for one in offered(main)]:
        for request in requests[:-1]:
            start = f"({request.permission}) "
            if text.startswith(start):
                return Approval.written(request.permission, text.removeprefix(start))
    return Approval.written(main.permission, text)


def only(request: Request, pattern: str) -> Request:
    """Return the request with one pattern and nothing else that is judged."""
    acts = {pattern: request.acts[pattern]} if pattern in request.acts else {}
    return replace(request, patterns=(pattern,), implied=(), suspected=(), below=(), acts=acts, must_ask=False)


def question_metadata(requests: Sequence[Request]) -> Json:
    """Return what helps to decide, of all requests; what the last one says comes first."""
    metadata: Json = {}
    reasons = [str(reason) for request in requests for reason in request.metadata.get("reasons", ())]
    acts = [line for request in requests for line in request.act_lines]
    for request in requests:
        metadata |= request.metadata
    lists = {"reasons": list(dict.fromkeys(reasons)), "acts": list(dict.fromkeys(acts))}
    return metadata | {name: lines for name, lines in lists.items() if lines}


def named(question: Question) -> Json:
    """Return the name of an agent in the background, as events and servers tell it; of others there is none."""
    return {"name": question.name} if question.name else {}


def asked_event(question: Question) -> PermissionAsked:
    """Return the event that tells of a question."""
    call: dict[str, Any] = {"tool": question.tool, "arguments": dict(question.arguments)}
    return PermissionAsked(
        id=question.id,
        session_id=question.session_id,
        permission=question.permission,
        patterns=question.patterns,
        always=question.always,
        metadata=dict(question.metadata),
        tool={"messageID": question.message_id, "callID": question.call_id} if question.call_id else None,
        call=call | {"title": question.title, "agent": question.agent} | named(question),
        callers=question.callers or None,
        also=question.also or None,
    )
