"""JSON Schema: the words of the problems, and agreement with an independent validator on what is a problem."""

import json
import math
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.rounds import rounds
from tests.waiting import bounded_work
from toolwright.schema.check import problems_with

PAID = [
    {
        "type": "object",
        "properties": {"kind": {"const": kind}, name: {"type": of}},
        "required": ["kind", name],
    }
    for kind, name, of in (("cash", "amount", "number"), ("card", "number", "string"))
]
EITHER = 'expected one of "cash", "card"'
WORDS: list[tuple[Any, Any, list[str]]] = [
    ({"type": "string"}, 5, ["expected a string, got 5"]),
    ({"type": ["string", "null"]}, 5, ["expected a string or null, got 5"]),
    ({"enum": ["a", "b"]}, "c", ['expected one of "a", "b", got "c"']),
    ({"const": 1}, 2, ["expected 1, got 2"]),
    ({"type": "integer", "minimum": 1}, 0, ["expected 1 or more, got 0"]),
    ({"maxLength": 2}, "abc", ["expected at most 2 characters, got 3"]),
    ({"minItems": 1}, [], ["expected at least 1 entries, got 0"]),
    ({"multipleOf": 5}, 7, ["expected a multiple of 5, got 7"]),
    ({"pattern": "^a"}, "b", ['expected text like ^a, got "b"']),
    ({"uniqueItems": True}, [1, 2, 1], ["[2]: 1 is there twice; keep one"]),
    ({"uniqueItems": True}, [1, True, "1", [1], [True], {"a": 1}, {"a": True}], []),
    ({"uniqueItems": True}, [{"a": [1]}, {"a": [1.0]}], ['[1]: {"a": [1.0]} is there twice; keep one']),
    ({"not": {"type": "null"}}, None, ["null is just what is not accepted here"]),
    ({"contains": {"type": "integer"}}, ["a"], ["expected at least 1 entries that are a whole number, got 0"]),
    ({"contains": {"const": 1}, "maxContains": 1}, [1, 1], ["expected at most 1 entries that are 1, got 2"]),
    (
        {"propertyNames": {"maxLength": 2}},
        {"abc": 1},
        ["abc: has a name that is not accepted: expected at most 2 characters, got 3"],
    ),
    ({"dependentRequired": {"a": ["b"]}}, {"a": 1}, ["b: is missing, which goes with 'a'"]),
    ({"dependentSchemas": {"a": {"required": ["b"]}}}, {"a": 1}, ["b: is missing; expected a value"]),
    (
        {"items": [{"type": "string"}], "additionalItems": False},
        ["a", 1],
        ["[1]: nothing is accepted here, got 1; leave it out"],
    ),
    (
        {"prefixItems": [True], "unevaluatedItems": False},
        [1, 2],
        ["[1]: nothing is accepted here, got 2; leave it out"],
    ),
    (
        {"allOf": [{"properties": {"b": True}}], "unevaluatedProperties": {"type": "string"}},
        {"a": 1, "b": 1},
        ["a: expected a string, got 1"],
    ),
    ({"allOf": [{"$ref": "#"}], "unevaluatedProperties": False}, {"a": 1}, []),
    ({"$defs": {"x": {"$anchor": "here", "type": "null"}}, "$ref": "#here"}, 1, ["expected null, got 1"]),
    ({"$ref": "http://["}, 1, []),
    (False, 1, ["nothing is accepted here, got 1; leave it out"]),
    ({"oneOf": [{"type": "integer"}, {"minimum": 0}]}, 3, ["fits 2 of the forms that exclude each other, got 3"]),
    ({"anyOf": [{"type": "string"}, {"type": "boolean"}]}, 3, ["expected a string or true or false, got 3"]),
    (
        {"anyOf": [{"type": "string"}, {"type": "object", "additionalProperties": {"enum": ["ask"]}}]},
        {"a": "b"},
        ['a: expected one of "ask", got "b"'],
    ),
    ({"anyOf": [{"const": "a"}, {"enum": ["b"]}]}, {}, ['expected "a" or one of "b", got {}']),
    (
        {"anyOf": [{"items": {"type": "integer"}}, {"items": {"type": "string"}}], "type": "array"},
        ["a", "b", 1],
        ["[2]: expected a string, got 1"],
    ),
    (
        {"anyOf": [{"type": "string", "pattern": "^a"}, {"type": "string", "maxLength": 1}]},
        "bc",
        ['fits none of its forms: expected text like ^a, got "bc"; or expected at most 1 characters, got 2'],
    ),
    ({"anyOf": [PAID[0], PAID[1]]}, {"kind": "cheque"}, ['kind: expected one of "cash", "card", got "cheque"']),
    ({"oneOf": [PAID[0], PAID[1]]}, {"Kind": "card"}, [f"kind: is missing; {EITHER} (you sent 'Kind')"]),
    ({"oneOf": [PAID[0], PAID[1]]}, {"kind": "cash"}, ["amount: is missing; expected a number"]),
    (
        {"$defs": {"cash": PAID[0], "card": PAID[1]}, "anyOf": [{"$ref": "#/$defs/cash"}, {"$ref": "#/$defs/card"}]},
        {"kind": "cash", "amount": "x"},
        ['amount: expected a number, got "x"'],
    ),
    (
        {"anyOf": [{"required": ["a", "b"], "properties": {"a": {}}}, {"required": ["c"], "properties": {"c": {}}}]},
        {"a": 1},
        ["b: is missing; expected a value"],
    ),
    (
        {"anyOf": [{"type": "object", "required": ["a"]}, {"type": "object", "required": ["b"]}]},
        {},
        ["fits none of its forms: a: is missing; expected a value; or b: is missing; expected a value"],
    ),
    (
        {"type": "object", "properties": {"filePath": {"type": "string"}}, "required": ["filePath"]},
        {"file_path": "x"},
        ["filePath: is missing; expected a string (you sent 'file_path')"],
    ),
    (
        {
            "type": "object",
            "properties": {
                "a": {"type": "array", "items": {"type": "object", "properties": {"b": {"type": "number"}}}}
            },
            "required": ["c"],
        },
        {"a": [{}, {"b": "x"}, 3]},
        ["c: is missing; expected a value", 'a[1].b: expected a number, got "x"', "a[2]: expected an object, got 3"],
    ),
    ({"$defs": {"n": {"type": "number"}}, "items": {"$ref": "#/$defs/n"}}, ["x"], ['[0]: expected a number, got "x"']),
    (
        {"prefixItems": [{"type": "string"}], "items": {"type": "number"}},
        ["name", 1, "x"],
        ['[2]: expected a number, got "x"'],
    ),
]


@pytest.mark.parametrize(("schema", "value", "expected"), WORDS)
def test_each_problem_is_one_line_with_place_expectation_and_value(
    schema: Any, value: Any, expected: list[str]
) -> None:
    assert [str(problem) for problem in problems_with(value, schema)] == expected


def test_a_long_value_is_shown_by_its_beginning() -> None:
    [problem] = problems_with("x" * 10_000, {"type": "integer"})
    assert len(str(problem)) < 120


def test_what_a_model_sends_beyond_the_schema_is_ignored() -> None:
    assert problems_with({"more": 1}, {"type": "object", "additionalProperties": False}) == []


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"type": "anything"}, 1),
        ({"type": ["integer", "mystery"]}, "x"),
        ({"pattern": "(?<name>a)\\p{L}("}, "x"),
        ({"patternProperties": {"(": {}}}, {"a": 1}),
        ({"$ref": "#/$defs/missing/deeper"}, 1),
        ({"$defs": {"list": [True]}, "$ref": "#/$defs/list/seven"}, 1),
        ({"$ref": "https://example.com/elsewhere"}, 1),
        ({"$ref": "#"}, 1),
        ({"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"}, 1),
        ({"multipleOf": 0}, 1),
        ({"required": True}, {}),
        ({"properties": None, "items": None, "enum": None, "minimum": "1", "anyOf": None}, {}),
        ({"properties": {"a": None}}, {"a": 1}),
    ],
)
def test_what_makes_no_sense_in_a_foreign_schema_is_passed_over(schema: Any, value: Any) -> None:
    assert problems_with(value, schema) == []


@pytest.mark.parametrize("value", [10**400, -(10**400), math.inf, -math.inf, 1e308, 5e-324])
@pytest.mark.parametrize("schema", [{"multipleOf": 0.1}, {"multipleOf": 3}, {"type": "integer"}, {"minimum": 0.5}])
def test_numbers_of_any_size_are_judged_not_feared(schema: Any, value: Any) -> None:
    assert len(problems_with(value, schema)) <= 1


def test_a_reference_to_itself_describes_a_tree() -> None:
    tree = {"type": "object", "properties": {"left": {"$ref": "#"}, "value": {"type": "integer"}}}
    assert problems_with({"left": {"left": {"value": 1}}}, tree) == []
    assert [str(one) for one in problems_with({"left": {"left": {"value": "x"}}}, tree)] == [
        'left.left.value: expected a whole number, got "x"'
    ]


@pytest.mark.parametrize(
    "schema",
    [
        {"anyOf": [{"type": "string"}, {"type": "array", "items": {"$ref": "#"}}]},
        {"allOf": [{"items": {"$ref": "#"}}, {"items": {"$ref": "#"}}], "type": "array"},
    ],
)
def test_forms_that_hold_each_other_are_not_tried_again_at_every_depth(schema: Any) -> None:
    value: Any = 1
    for _ in range(60):
        value = [value]
    with bounded_work():
        assert {str(one).rpartition("]")[2] for one in problems_with(value, schema)} <= {
            ": expected a string or a list, got 1",
            ": expected a list, got 1",
        }


# What an independent validator makes of the same schema and value. `additionalProperties: false` is left out:
# there we accept more on purpose.
NUMBERS = st.integers(-20, 20) | st.sampled_from([0.5, 1.0, -2.0, 1.5])
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | st.text("abé", max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=8,
)
COUNTS = st.integers(0, 4)
TYPES = st.sampled_from(["string", "integer", "number", "boolean", "array", "object", "null"])


def keywords(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    one: dict[str, st.SearchStrategy[Any]] = {
        "type": TYPES | st.lists(TYPES, min_size=1, max_size=3, unique=True),
        "enum": st.lists(VALUES, min_size=1, max_size=3),
        "const": VALUES,
        "minimum": NUMBERS,
        "maximum": NUMBERS,
        "exclusiveMinimum": NUMBERS,
        "exclusiveMaximum": NUMBERS,
        "multipleOf": st.sampled_from([1, 2, 3, 0.5, 0.25]),
        "minLength": COUNTS,
        "maxLength": COUNTS,
        "minItems": COUNTS,
        "maxItems": COUNTS,
        "minProperties": COUNTS,
        "maxProperties": COUNTS,
        "uniqueItems": st.booleans(),
        "pattern": st.sampled_from(["^a", "b$", "é", "a+b"]),
        "items": inner,
        "prefixItems": st.lists(inner, min_size=1, max_size=2),
        "properties": st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
        "patternProperties": st.dictionaries(st.sampled_from(["^a", "b|c"]), inner, max_size=2),
        "additionalProperties": inner.filter(lambda schema: schema is not False),
        "required": st.lists(st.sampled_from("abc"), max_size=2, unique=True),
        "allOf": st.lists(inner, min_size=1, max_size=2),
        "anyOf": st.lists(inner, min_size=1, max_size=3),
        "oneOf": st.lists(inner, min_size=1, max_size=3),
        "not": inner,
        "if": inner,
        "then": inner,
        "else": inner,
        "$ref": st.sampled_from(["#/$defs/count", "#/$defs/word"]),
    }
    chosen = st.sets(st.sampled_from(sorted(one)), min_size=1, max_size=3)
    return chosen.flatmap(lambda names: st.fixed_dictionaries({name: one[name] for name in names}))


SCHEMAS = st.recursive(st.booleans() | keywords(st.just(True)), keywords, max_leaves=6)
DEFINITIONS = {"count": {"type": "integer", "minimum": 1}, "word": {"type": "string", "pattern": "a"}}


@settings(max_examples=rounds(100, 400), deadline=None)
@given(schema=SCHEMAS, value=VALUES)
@example(schema={"const": True}, value=1)
@example(schema={"enum": [[1, False]]}, value=[1.0, 0])
@example(schema={"uniqueItems": True}, value=[1, True, 1.0])
@example(schema={"type": "integer"}, value=1.0)
def test_it_finds_a_problem_exactly_where_another_validator_does(schema: Any, value: Any) -> None:
    whole = {"$defs": DEFINITIONS, "allOf": [schema]}
    theirs = jsonschema_rs.is_valid(whole, value)
    ours = problems_with(json.loads(json.dumps(value)), whole)
    assert (ours == []) == theirs, ours
