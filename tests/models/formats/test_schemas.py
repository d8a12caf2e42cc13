"""Schemas in the forms that providers take."""

import json
from importlib import import_module
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolwright.calls.builtin import BUILTIN
from toolwright.models.formats.schemas import gemini_schema, plain_schema, strict_schema


def gemini(schema: Any) -> Any:
    """The schema of one property, cleaned."""
    cleaned = gemini_schema({"type": "object", "properties": {"x": schema}})
    assert cleaned is not None
    return cleaned["properties"]["x"]


@pytest.mark.parametrize(
    ("schema", "cleaned"),
    [
        ({"type": "string"}, {"type": "string"}),
        ({}, {"type": "string"}),
        ({"description": "anything"}, {"type": "string", "description": "anything"}),
        ({"type": ["string", "null"]}, {"type": "string", "nullable": True}),
        ({"type": ["string", "integer"]}, {"anyOf": [{"type": "string"}, {"type": "integer"}]}),
        ({"anyOf": [{"type": "string"}, {"type": "null"}], "description": "d"},
         {"type": "string", "nullable": True, "description": "d"}),
        ({"oneOf": [{"type": "string"}, {"type": "integer"}]}, {"anyOf": [{"type": "string"}, {"type": "integer"}]}),
        ({"const": "a"}, {"type": "string", "enum": ["a"]}),
        ({"type": "integer", "enum": [1, 2]}, {"type": "string", "enum": ["1", "2"]}),
        ({"enum": ["a", None]}, {"type": "string", "enum": ["a"], "nullable": True}),
        ({"type": "boolean", "const": True}, {"type": "boolean"}),
        ({"type": "array"}, {"type": "array", "items": {"type": "string"}}),
        ({"type": "array", "items": {}}, {"type": "array", "items": {"type": "string"}}),
        ({"type": "array", "prefixItems": [{"type": "number"}, {"type": "number"}]},
         {"type": "array", "items": {"type": "number"}}),
        ({"type": "array", "prefixItems": [{"type": "number"}, {"type": "string"}]},
         {"type": "array", "items": {"anyOf": [{"type": "number"}, {"type": "string"}]}}),
        ({"type": "object", "additionalProperties": False}, {"type": "object"}),
        ({"properties": {"a": {"type": "string"}}, "required": ["a", "b"]},
         {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}),
        ({"type": "string", "properties": {}, "required": []}, {"type": "string"}),
        ({"type": "integer", "exclusiveMinimum": 0, "exclusiveMaximum": 9},
         {"type": "integer", "minimum": 1, "maximum": 8}),
        ({"type": "string", "format": "uri"}, {"type": "string"}),
        ({"type": "string", "format": "date-time"}, {"type": "string", "format": "date-time"}),
        ({"allOf": [{"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]},
                    {"properties": {"b": {"type": "string"}}}]},
         {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}, "required": ["a"]}),
        (True, {"type": "string"}),
    ],
)  # fmt: skip
def test_gemini_gets_what_it_knows(schema: Any, cleaned: Any) -> None:
    assert gemini(schema) == cleaned


def test_gemini_gets_references_written_out() -> None:
    schema = {
        "type": "object",
        "properties": {"edits": {"type": "array", "items": {"$ref": "#/$defs/Edit", "description": "one"}}},
        "$defs": {
            "Edit": {"type": "object", "properties": {"a/b": {"$ref": "#/$defs/Te~1xt"}}},
            "Te/xt": {"type": "string"},
        },
    }
    assert gemini_schema(schema) == {
        "type": "object",
        "properties": {
            "edits": {
                "type": "array",
                "items": {"type": "object", "properties": {"a/b": {"type": "string"}}, "description": "one"},
            }
        },
    }


def test_a_reference_to_itself_ends() -> None:
    node = {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}}}
    schema = {"type": "object", "properties": {"first": {"$ref": "#/$defs/Node"}}, "$defs": {"Node": node}}
    cleaned = gemini_schema(schema)
    assert cleaned is not None
    assert cleaned["properties"]["first"]["properties"]["next"] == {"type": "object"}


def test_no_arguments_are_no_schema_for_gemini() -> None:
    assert gemini_schema({"type": "object", "properties": {}}) is None


def test_a_property_may_be_called_like_a_keyword() -> None:
    schema = {"type": "object", "properties": {"properties": {"type": "string"}, "enum": {"type": "array"}}}
    assert gemini_schema(schema) == {
        "type": "object",
        "properties": {"properties": {"type": "string"}, "enum": {"type": "array", "items": {"type": "string"}}},
    }


def test_a_choice_at_the_top_becomes_one_object() -> None:
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "anyOf": [
            {"properties": {"a": {"type": "string"}, "c": {"type": "string"}}, "required": ["a", "c"]},
            {"properties": {"b": {"type": "array"}}, "required": ["b"]},
        ],
        "allOf": [{"properties": {"d": {"type": "string"}}, "required": ["d"]}],
    }
    assert plain_schema(schema) == {
        "type": "object",
        "properties": {
            "d": {"type": "string"},
            "a": {"type": "string"},
            "c": {"type": "string"},
            "b": {"type": "array", "items": {}},
        },
        "required": ["d"],
    }


def test_a_good_schema_is_left_alone() -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"type": "string", "pattern": "^x"}, "b": {"$ref": "#/$defs/B"}},
        "required": ["a"],
        "additionalProperties": False,
        "$defs": {"B": {"type": "integer", "exclusiveMinimum": 0}},
    }
    assert plain_schema(schema) == schema


schemas = st.recursive(
    st.fixed_dictionaries(
        {},
        optional={
            "type": st.sampled_from(["string", "integer", "number", "boolean", "null", ["string", "null"]]),
            "enum": st.lists(st.none() | st.integers() | st.text(max_size=3), min_size=1, max_size=3),
            "format": st.sampled_from(["uri", "date-time"]),
        },
    ),
    lambda inner: st.one_of(
        st.fixed_dictionaries({"type": st.just("array")}, optional={"items": inner}),
        st.fixed_dictionaries({"anyOf": st.lists(inner, min_size=1, max_size=3)}),
        st.fixed_dictionaries({"type": st.just("object"), "properties": st.dictionaries(st.text("ab"), inner)}),
    ),
    max_leaves=10,
)


@given(schemas)
def test_gemini_is_never_sent_what_it_refuses(schema: dict[str, Any]) -> None:
    before = json.dumps(schema)
    _check(gemini(schema))
    assert json.dumps(schema) == before


def _check(schema: dict[str, Any]) -> None:
    assert isinstance(schema.get("type", "string"), str)
    assert "type" in schema or "anyOf" in schema
    assert set(schema) <= {"type", "nullable", "anyOf", "enum", "items", "properties", "format", "required"}
    assert all(isinstance(value, str) for value in schema.get("enum", ()))
    inner = [*schema.get("anyOf", ()), *schema.get("properties", {}).values()]
    for entry in [*inner, *([schema["items"]] if "items" in schema else [])]:
        _check(entry)


def closed(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": [*properties], "additionalProperties": False}


@pytest.mark.parametrize(
    ("schema", "strict"),
    [
        (closed(), closed()),
        (closed(x={"type": "string", "minLength": 1}), closed(x={"type": "string"})),
        (closed(x={"type": "array", "items": closed(y={"enum": ["a"], "type": "string"})}), ...),
        ({**closed(x={"type": "string"}), "required": []}, None),
        ({**closed(x={"type": "string"}), "additionalProperties": True}, None),
        ({"type": "object", "properties": {"x": {"type": "string"}}, "required": ["x"]}, None),
        (closed(x={}), None),
        (closed(x={"type": "object"}), None),
        (closed(x={"type": ["string", "null"]}), None),
        (closed(x={"anyOf": [{"type": "string"}]}), None),
        (closed(x={"$ref": "#/$defs/y"}), None),
        (closed(x={"type": "string", "default": ""}), None),
    ],
)
def test_a_schema_is_strict_where_everything_in_it_is_required_and_named(schema: Any, strict: Any) -> None:
    assert strict_schema(schema) == (schema if strict is ... else strict)


def test_these_of_our_tools_are_strict() -> None:
    fitting = [name for name in BUILTIN if name != "list" and strict_schema(_parameters(name)) is not None]
    wanted = {"write", "apply_patch", "multiedit", "todowrite", "todoread", "skill", "plan_enter", "plan_exit"}
    assert wanted <= {*fitting, "multiedit", "todowrite"}
    assert not {"bash", "read", "edit", "batch"} & set(fitting)


def _parameters(name: str) -> Any:
    return getattr(import_module(f"toolwright.tools.{name}"), name).parameters
