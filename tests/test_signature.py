"""From a function's signature to the schema a model sees."""

from typing import Annotated, Any, Literal, NotRequired, TypedDict

import pytest

from toolwright.schema import problems_with
from toolwright.signature import Field, camel, parameters_of, schema_of


class Edit(TypedDict):
    oldString: Annotated[str, "What is there"]
    replaceAll: NotRequired[bool]


@pytest.mark.parametrize(
    ("hint", "schema"),
    [
        (str, {"type": "string"}),
        (int, {"type": "integer"}),
        (float, {"type": "number"}),
        (bool, {"type": "boolean"}),
        (Any, {}),
        (dict[str, Any], {"type": "object"}),
        (list[str], {"type": "array", "items": {"type": "string"}}),
        (Literal["a", "b"], {"type": "string", "enum": ["a", "b"]}),
        (Literal[1, 2], {"type": "integer", "enum": [1, 2]}),
        (Literal["a", 1], {"enum": ["a", 1]}),
        (str | int, {"anyOf": [{"type": "string"}, {"type": "integer"}]}),
        (Annotated[str, "why"], {"type": "string", "description": "why"}),
        (
            Annotated[int, Field("how many", schema={"minimum": 1})],
            {"type": "integer", "description": "how many", "minimum": 1},
        ),
        (
            list[Edit],
            {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "oldString": {"type": "string", "description": "What is there"},
                        "replaceAll": {"type": "boolean"},
                    },
                    "required": ["oldString"],
                },
            },
        ),
    ],
)
def test_types_become_flat_schemas(hint: Any, schema: dict[str, Any]) -> None:
    assert schema_of(hint) == schema


def test_names_defaults_and_optional_arguments() -> None:
    def function(
        ctx: Any,
        file_path: Annotated[str, "Which file"],
        subagent: Annotated[str, Field("Who", name="subagent_type")],
        limit: Annotated[int | None, "How many"] = None,
        deep: bool = False,
    ) -> None: ...

    found = parameters_of(function)
    assert [(one.name, one.python_name, one.required) for one in found] == [
        ("filePath", "file_path", True),
        ("subagent_type", "subagent", True),
        ("limit", "limit", False),
        ("deep", "deep", False),
    ]
    assert found[2].schema == {"type": "integer", "description": "How many"}
    assert found[3].schema == {"type": "boolean", "default": False}


def test_an_optional_argument_of_two_kinds_keeps_both() -> None:
    def function(ctx: Any, size: str | int | None = None) -> None: ...

    [found] = parameters_of(function)
    assert found.schema == {"anyOf": [{"type": "string"}, {"type": "integer"}]}


def test_a_type_no_schema_can_say_is_refused_when_the_tool_is_made() -> None:
    def function(ctx: Any, when: complex) -> None: ...

    with pytest.raises(TypeError, match="cannot be of type"):
        parameters_of(function)


def test_the_schemas_are_ones_the_validator_takes() -> None:
    schema = schema_of(list[Edit])
    assert problems_with([{"oldString": "a"}], schema) == []
    assert [str(one) for one in problems_with([{"replaceAll": 1}], schema)] == [
        "[0].oldString: is missing; expected a string",
        "[0].replaceAll: expected true or false, got 1",
    ]


@pytest.mark.parametrize(("name", "expected"), [("a", "a"), ("file_path", "filePath"), ("replace_all", "replaceAll")])
def test_snake_case_becomes_camel_case(name: str, expected: str) -> None:
    assert camel(name) == expected
