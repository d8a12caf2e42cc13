"""Questions to a person as forms of the protocol, and what was filled in as a reply."""

import json

from toolwright.inbox import Choice, Question, Reply
from toolwright.mcp.client.elicitation import labels_of
from toolwright.mcp.protocol import object_of
from toolwright.protocols.json_types import Json
from toolwright.text.display import visible

LONGEST = 4000
"""Characters of a difference, or of one argument, that are shown with a question."""
ANSWER = "answer"


def form_of(question: Question) -> Json:
    """The parameters of `elicitation/create`."""
    if question.form:
        return {"mode": "form", "message": visible(str(question.form["message"]))} | {
            "requestedSchema": question.form["requestedSchema"]
        }
    if question.kind == "choice":
        properties = {f"answer{number}": _field(one) for number, one in enumerate(question.choices, 1)}
        message = "\n".join(one.question for one in question.choices)
    else:
        message = _render_question(question)
        words = ["once", *(["always"] if question.always else []), "reject"]
        about = f"`always` stores: {', '.join(map(question.rule, question.always))}" if question.always else "Allow it?"
        properties = {ANSWER: {"type": "string", "title": "Allow?", "description": about, "enum": words}}
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    return {"mode": "form", "message": message, "requestedSchema": schema}


def reply_of(question: Question, answered: Json) -> Reply:
    """Return what the answer means; anything but a clear yes is no."""
    if answered.get("action") != "accept":
        return Reply(kind="reject")
    content = object_of(answered.get("content"))
    if question.form:
        fields = object_of(object_of(question.form["requestedSchema"]).get("properties"))
        filled = tuple(labels_of(object_of(one), content.get(name)) for name, one in fields.items())
        return Reply(kind="once", answers=filled) if filled else Reply(kind="reject")
    if question.kind == "choice":
        values = [content.get(f"answer{number}") for number in range(1, len(question.choices) + 1)]
        answers = tuple((one,) if isinstance(one, str) and one else () for one in values)
        return Reply(kind="once", answers=answers) if any(answers) else Reply(kind="reject")
    match content.get(ANSWER):
        case "once":
            return Reply(kind="once")
        case "always" if question.always:
            return Reply(kind="always")
        case _:
            return Reply(kind="reject")


def _render_question(question: Question) -> str:
    """Render which tool wants what: the file or command by name, reasons, the other arguments, the difference."""
    lines = [f"{question.tool} asks for {question.permission}: {', '.join(question.patterns)}"]
    reasons = (*question.metadata.get("acts", ()), *question.metadata.get("reasons", ()))
    lines += [str(reason) for reason in reasons]
    diff = str(question.metadata.get("diff") or "").rstrip()
    if diff:
        lines.append(_shortened(diff))
    else:
        lines += (
            _shortened(f"{name}: {value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}")
            for name, value in question.arguments.items()
            if value not in question.patterns
        )
    return visible("\n".join(lines))


def _shortened(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}\n(the rest is not shown)"


def _field(choice: Choice) -> Json:
    labels = [option.label for option in choice.options]
    about = "; ".join(f"{option.label}: {option.description}" for option in choice.options if option.description)
    field: Json = {"type": "string", "title": choice.header or choice.question[:60]}
    if labels and not choice.custom:
        field["enum"] = labels
    elif labels:
        about = f"One of {', '.join(labels)}, or your own words. {about}".strip()
    return field | ({"description": about} if about else {})
