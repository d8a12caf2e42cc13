"""What a model plainly meant is read so; what would be a guess is left to be reported."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.rounds import rounds
from tests.schema.test_check import SCHEMAS, VALUES
from toolwright.functions.fitting import fitted
from toolwright.schema.check import problems_with

INTEGER = {"type": "integer"}
NULLABLE = {"type": "object", "properties": {"a": {"type": ["integer", "null"]}, "b": INTEGER}}
OPTIONAL = {"type": "object", "properties": {"a": INTEGER, "b": {"type": "string"}}, "required": ["b"]}


@pytest.mark.parametrize(
    ("schema", "value", "expected"),
    [
        (INTEGER, "3", 3),
        (INTEGER, " -12 ", -12),
        (INTEGER, "3.0", 3.0),
        ({"type": "number"}, "2.5e1", 25.0),
        ({"type": ["integer", "null"]}, "7", 7),
        ({"type": "array", "items": INTEGER}, ["1", 2], [1, 2]),
        ({"type": "array", "items": INTEGER}, "[1, 2]", [1, 2]),
        ({"type": "array", "items": INTEGER}, '["1"]', [1]),
        ({"type": "array", "prefixItems": [INTEGER], "items": {"type": "number"}}, ["1", "2.5"], [1, 2.5]),
        (OPTIONAL, '{"b": "x"}', {"b": "x"}),
        (OPTIONAL, {"a": None, "b": "x"}, {"b": "x"}),
        (OPTIONAL, {"a": "1", "b": "x"}, {"a": 1, "b": "x"}),
        (NULLABLE, {"a": None, "b": "1"}, {"a": None, "b": 1}),
        ({"type": "object", "additionalProperties": INTEGER}, {"k": "1"}, {"k": 1}),
        ({"anyOf": [{"type": "boolean"}, INTEGER]}, "3", 3),
    ],
)
def test_another_spelling_of_the_same_is_accepted(schema: Any, value: Any, expected: Any) -> None:
    assert fitted(value, schema) == expected
    assert problems_with(fitted(value, schema), schema) == []


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        (INTEGER, "three"),
        (INTEGER, ""),
        (INTEGER, "1_000"),
        (INTEGER, "0x10"),
        (INTEGER, "٣"),
        (INTEGER, "9" * 5000),
        ({"type": "number"}, "1e999"),
        ({"type": "number"}, "nan"),
        (INTEGER, True),
        (INTEGER, None),
        ({"type": "boolean"}, "true"),
        ({"type": "boolean"}, "yes"),
        ({"type": "string"}, 5),
        ({"type": "array"}, "x"),
        ({"type": "array"}, "[1"),
        ({"type": "array"}, '{"a": 1}'),
        (OPTIONAL, {"b": None}),
    ],
)
def test_what_would_be_a_guess_is_left_alone(schema: Any, value: Any) -> None:
    assert fitted(value, schema) == value
    assert problems_with(value, schema)


def test_text_of_a_property_that_is_exact_is_left_alone_but_null_is_not() -> None:
    assert fitted({"a": "1", "b": "x"}, OPTIONAL, exact=["a"]) == {"a": "1", "b": "x"}
    assert fitted({"a": None, "b": "x"}, OPTIONAL, exact=["a"]) == {"b": "x"}


@settings(max_examples=rounds(70, 300), deadline=None)
@given(schema=SCHEMAS, value=VALUES | st.sampled_from(["3", "[1]", '{"a": "2"}', {"a": "1", "b": None}]))
def test_a_value_that_fits_is_never_touched_and_any_other_is_not_worse_off(schema: Any, value: Any) -> None:
    if problems_with(value, schema):
        once = fitted(value, schema)
        assert fitted(once, schema) == once
    else:
        assert fitted(value, schema) is value
