"""Structured output: told to the model, read from its text, checked."""

import json
from dataclasses import dataclass
from datetime import date
from typing import Any, TypedDict

import pytest

from toolwright.structured import output_of


@dataclass
class Invoice:
    number: int
    due: date | None = None


class Tally(TypedDict):
    words: int


SCHEMA = {"type": "object", "properties": {"n": {"type": "number"}}, "required": ["n"], "additionalProperties": False}


@pytest.mark.parametrize(
    ("kind", "text", "expected"),
    [
        (Invoice, '{"number": 3, "due": "2026-01-31"}', Invoice(3, date(2026, 1, 31))),
        (Invoice, '{"number": 3, "due": null}', Invoice(3)),
        (Tally, ' {"words": 3}\n', {"words": 3}),
        (Tally, '```json\n{"words": 3}\n```', {"words": 3}),
        (Tally, '\n```\n{"words": 3}\n```\n', {"words": 3}),
        (Tally, '~~~~\n{"words":\n3}\n~~~~', {"words": 3}),
        (SCHEMA, '{"n": 1.5}', {"n": 1.5}),
        (list[int], "[1, 2]", [1, 2]),
        (str, '"```"', "```"),
    ],
)
def test_the_text_is_the_value(kind: Any, text: str, expected: Any) -> None:
    parsed = output_of(kind).parse(text)
    assert (parsed.value, list(parsed.problems)) == (expected, [])


@pytest.mark.parametrize(
    ("kind", "text", "problem"),
    [
        (Tally, "Three words.", "The message is not JSON: "),
        (Tally, "", "The message is not JSON: "),
        (Tally, 'Here: ```json\n{"words": 3}\n```', "The message is not JSON: "),
        (Tally, "[" * 200_000, "The message is not JSON: it is nested more than"),
        (Tally, "{}", "words: is missing; expected a whole number"),
        (Invoice, '{"number": "many"}', 'number: expected a whole number, got "many"'),
        (Invoice, '{"number": 1, "due": "soon"}', "due: expected a date such as 2026-01-31"),
        (Invoice, '{"number": 1, "dew": "soon"}', "dew: is unknown; expected number, due"),
        (SCHEMA, '{"n": 1, "m": 2}', "m: is unknown; expected n"),
    ],
)
def test_what_does_not_fit_is_told(kind: Any, text: str, problem: str) -> None:
    output = output_of(kind)
    parsed = output.parse(text)
    assert parsed.value is None
    assert str(parsed.problems[0]).startswith(problem)
    assert f"- {problem}" in output.repair(parsed.problems)


def test_the_model_is_told_the_schema() -> None:
    text = output_of(Tally).describe()
    assert json.loads(text.splitlines()[-1]) == {
        "type": "object",
        "properties": {"words": {"type": "integer"}},
        "required": ["words"],
    }


def test_a_model_of_pydantic_is_a_form_too() -> None:
    pydantic = pytest.importorskip("pydantic")
    made = pydantic.create_model("Made", size=(int, ...))
    output = output_of(made)
    assert output.parse('{"size": 3}').value == made(size=3)
    assert "title" not in output.describe()


def test_what_is_no_form_is_refused_at_once() -> None:
    with pytest.raises(TypeError):
        output_of(3)
    with pytest.raises(TypeError):
        output_of(bytes)
