"""Answers of a given form: what a model is told to write, and what becomes of what it wrote."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from toolwright.forms.form import Form, Misfit, read_at
from toolwright.forms.kinds import form_of
from toolwright.functions.fitting import fitted
from toolwright.protocols.json_text import read_json
from toolwright.record import record
from toolwright.schema.basics import Problem
from toolwright.schema.check import problems_with

_FENCE = re.compile(r"(?P<marks>`{3,}|~{3,})[\w-]*[ \t]*\n(?P<text>.*)\n[ \t]*(?P=marks)", re.DOTALL)
_TOLD = 20
"""Problems told one by one."""


@record(frozen=True, slots=True)
class Parsed:
    """An answer as read: a value, or the problems that keep it from being one."""

    value: Any = None
    problems: Sequence[Problem] = ()


@record(frozen=True, slots=True)
class Output:
    """The form that the last text of a turn must have."""

    form: Form
    retries: int = 1
    """Times that an answer that does not fit is asked for again."""
    validate: Callable[[Any], object] | None = None
    """The program's own check: a ValueError of its is a problem like any other."""

    @property
    def schema(self) -> Mapping[str, Any]:
        return self.form.schema

    def describe(self) -> str:
        """Return the form in words for the system prompt."""
        return (
            "Your final message must be one JSON value that fits the JSON Schema below, and nothing else: "
            f"no text before or after it.\n\n{json.dumps(self.form.schema, ensure_ascii=False)}"
        )

    def parse(self, text: str) -> Parsed:
        """The value of a text that is JSON, with or without one code fence around it."""
        fence = _FENCE.fullmatch(text.strip())
        try:
            value = read_json(fence["text"] if fence else text)
        except ValueError as error:
            return Parsed(problems=[Problem((), f"The message is not JSON: {_why(error, text)}")])
        value = fitted(value, self.form.schema)
        if problems := problems_with(value, self.form.schema, closed=True):
            return Parsed(problems=problems)
        try:
            return Parsed(read_at(self.form, value))
        except Misfit as misfit:
            return Parsed(problems=misfit.problems)

    def repair(self, problems: Sequence[Problem]) -> str:
        """Return the words to a model whose answer does not fit."""
        lines = [f"- {problem}" for problem in problems[:_TOLD]]
        if len(problems) > _TOLD:
            lines.append(f"- and {len(problems) - _TOLD:,} more")
        listed = "\n".join(lines)
        return (
            f"Your message does not fit the JSON Schema:\n{listed}\nSend the whole JSON value again, and nothing else."
        )


def _why(error: ValueError, text: str) -> str:
    if not text.strip():
        return "it is empty"
    if isinstance(error, json.JSONDecodeError) and not error.doc[: error.pos].strip():
        return f"it begins with {text.strip()[:40]!r}, and not with the value"
    return str(error)


def output_of(kind: Any) -> Output:
    """The output that is asked for by a type or by a JSON Schema; a TypeError for what is neither."""
    if isinstance(kind, Mapping):
        return Output(Form(dict(kind)))
    return Output(form_of(kind))
