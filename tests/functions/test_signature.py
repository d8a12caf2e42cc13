"""From a function's signature to what a model is told, and from the model's arguments to the function's."""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypedDict

import pytest

from toolwright.definition import ToolContext
from toolwright.forms.form import Misfit, read_at
from toolwright.forms.kinds import form_of
from toolwright.functions.signature import Field, camel, schema_of, signature_of
from toolwright.schema.check import problems_with


class Edit(TypedDict):
    oldString: Annotated[str, "What is there"]
    replaceAll: bool


@dataclass
class Node:
    below: "list[Node]"


@dataclass
class Number:
    kind: Literal["number"]
    value: int


@dataclass
class Sum:
    kind: Literal["sum"]
    left: "Sum | Number"
    right: "Sum | Number"


def names(function: Callable[..., Any]) -> list[str]:
    return [one.name for one in signature_of(function, ToolContext).parameters]


def test_names_defaults_and_optional_arguments() -> None:
    def function(
        ctx: Any,
        file_path: Annotated[str, "Which file"],
        subagent: Annotated[str, Field("Who", name="subagent_type")],
        limit: Annotated[int | None, "How many"] = None,
        deep: bool = False,
    ) -> None: ...

    found = signature_of(function, ToolContext).parameters
    assert [(one.name, one.python_name, one.required) for one in found] == [
        ("filePath", "file_path", True),
        ("subagent_type", "subagent", True),
        ("limit", "limit", False),
        ("deep", "deep", False),
    ]
    assert found[2].schema == {"type": "integer", "description": "How many"}
    assert found[3].schema == {"type": "boolean", "default": False}


def test_an_optional_argument_of_two_kinds_keeps_both() -> None:
    def function(size: str | int | None = None) -> None: ...

    [found] = signature_of(function, ToolContext).parameters
    assert found.schema == {"anyOf": [{"type": "string"}, {"type": "integer"}]}


def test_a_default_is_told_as_json_and_one_that_json_cannot_say_is_not_told() -> None:
    unset = object()

    def function(pair: tuple[int, int] = (1, 2), mark: Any = unset) -> None: ...

    pair, mark = signature_of(function, ToolContext).parameters
    assert pair.schema["default"] == [1, 2]
    assert (mark.schema, mark.required) == ({}, False)


def without_context(name: str) -> None: ...
def annotated(where: ToolContext, name: str) -> None: ...
def annotated_last(name: str, where: ToolContext) -> None: ...
def optional(where: ToolContext | None, name: str) -> None: ...
def only_by_place(ctx: ToolContext, /, name: str) -> None: ...


@pytest.mark.parametrize(
    ("function", "context"),
    [
        (without_context, ""),
        (annotated, "where"),
        (annotated_last, "where"),
        (optional, "where"),
        (only_by_place, "ctx"),
        (lambda ctx, name: None, "ctx"),
        (lambda context, name: None, "context"),
    ],
)
def test_the_context_is_what_is_annotated_so_or_called_so_without_annotation(
    function: Callable[..., Any], context: str
) -> None:
    assert signature_of(function, ToolContext).context == context
    assert names(function) == ["name"]


def test_a_first_argument_called_ctx_of_another_type_is_an_argument() -> None:
    def function(ctx: int) -> None: ...

    assert names(function) == ["ctx"]
    assert names(lambda name, ctx: None) == ["name", "ctx"]


def test_what_a_partial_has_fixed_is_not_told_to_the_model() -> None:
    def function(key: str, name: str, limit: int = 3) -> None: ...

    assert names(functools.partial(function, key="secret")) == ["name", "limit"]
    assert names(functools.partial(function, "secret")) == ["name", "limit"]


def test_a_decorator_that_keeps_the_name_keeps_the_parameters() -> None:
    def function(name: str) -> str:
        return name

    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> str:
        return function(*args, **kwargs)

    assert names(wrapper) == ["name"]


def test_annotations_that_are_text_may_speak_of_classes_near_the_tool() -> None:
    @dataclass
    class Nearby:
        size: int

    def function(where: "ToolContext", one: "Nearby") -> None: ...

    [one] = signature_of(function, ToolContext).parameters
    assert one.form.read is not None
    assert one.form.read({"size": 2}) == Nearby(2)


def test_an_annotation_that_means_nothing_is_named() -> None:
    def function(size: int) -> None: ...

    function.__annotations__["size"] = "Sise"
    with pytest.raises(TypeError, match=r"'size' of .*function.* 'Sise' is not defined"):
        signature_of(function, ToolContext)


def many(*numbers: int) -> None: ...
def any_names(**options: str) -> None: ...
def by_place(size: int, /) -> None: ...
def of_bytes(data: bytes) -> None: ...
def deep_inside(points: list[dict[str, complex]]) -> None: ...
def of_functions(action: Callable[[], int]) -> None: ...
def of_unhashable(groups: set[list[int]]) -> None: ...
def with_odd_keys(grid: dict[tuple[int, int], int]) -> None: ...
def with_a_foreign_letter(größe: int) -> None: ...
def with_doubles(a_b: int, a__b: int) -> None: ...


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (many, ["'*numbers'", "int", "many", "use a list"]),
        (any_names, ["'**options'", "str", "any_names", "use a dict"]),
        (by_place, ["'size'", "int", "by_place"]),
        (of_bytes, ["'data'", "of_bytes", "bytes", "use str"]),
        (deep_inside, ["'points'", "list[dict[str, complex]]", "complex"]),
        (of_functions, ["'action'", "Callable[[], int]"]),
        (of_unhashable, ["'groups'", "set[list[int]]", "use a list"]),
        (with_odd_keys, ["'grid'", "dict[tuple[int, int], int]"]),
        (with_a_foreign_letter, ["'größe'", "Field(name="]),
        (with_doubles, ["'a_b'", "'a__b'", "Field(name="]),
    ],
)
def test_what_cannot_be_a_parameter_is_an_error_that_names_it_and_its_type(
    function: Callable[..., Any], said: list[str]
) -> None:
    with pytest.raises(TypeError) as raised:
        signature_of(function, ToolContext)
    assert [part for part in said if part not in str(raised.value)] == []


def test_a_type_that_holds_itself_is_described_once_and_checked_at_every_depth() -> None:
    form = form_of(Node)
    assert "$ref" not in str(form.schema)
    assert "Node again, with the same properties" in str(form.schema)
    deep: Any = {"below": [{"below": [{"below": []}]}]}
    assert read_at(form, deep) == Node([Node([Node([])])])
    with pytest.raises(Misfit) as raised:
        read_at(form, {"below": [{"below": [{"below": 3}]}]}, "tree")
    assert [str(one) for one in raised.value.problems] == ["tree.below[0].below[0].below: expected a list, got 3"]


def test_a_union_of_types_that_hold_it_tells_what_is_wrong_with_the_one_that_was_meant() -> None:
    form = form_of(Sum | Number)
    inner = {"kind": "sum", "left": {"kind": "number", "value": 1}, "right": {"kind": "number", "value": 2}}
    whole = {"kind": "sum", "left": inner, "right": {"kind": "number", "value": 3}}
    assert read_at(form, whole) == Sum("sum", Sum("sum", Number("number", 1), Number("number", 2)), Number("number", 3))
    with pytest.raises(Misfit) as raised:
        read_at(form, {**whole, "left": {**inner, "right": {"kind": "number", "value": "two"}}})
    assert [str(one) for one in raised.value.problems] == ['left.right.value: expected a whole number, got "two"']


def test_arguments_may_come_under_their_names_in_python() -> None:
    def function(file_path: str, agent: Annotated[str, Field(name="subagent_type")]) -> None: ...

    signature = signature_of(function, ToolContext)
    assert signature.renamed({"file_path": "a", "agent": "b"}) == {"filePath": "a", "subagent_type": "b"}
    assert signature.renamed({"file_path": "a", "filePath": "b"}) == {"file_path": "a", "filePath": "b"}


def test_a_name_that_is_another_parameters_to_the_model_stays_with_that_one() -> None:
    def function(first: Annotated[str, Field(name="second")], second: Annotated[str, Field(name="third")]) -> None: ...

    signature = signature_of(function, ToolContext)
    assert signature.renamed({"second": 1, "more": 2}) == {"second": 1, "more": 2}
    assert signature.renamed({"first": 1, "third": 2}) == {"second": 1, "third": 2}


def test_the_schemas_are_ones_the_validator_takes() -> None:
    schema = schema_of(list[Edit])
    assert problems_with([{"oldString": "a", "replaceAll": True}], schema) == []
    assert [str(one) for one in problems_with([{"replaceAll": 1}], schema)] == [
        "[0].oldString: is missing; expected a string",
        "[0].replaceAll: expected true or false, got 1",
    ]


@pytest.mark.parametrize(
    ("name", "expected"),
    [("a", "a"), ("file_path", "filePath"), ("replace_all", "replaceAll"), ("from_", "from"), ("_hidden", "hidden")],
)
def test_snake_case_becomes_camel_case(name: str, expected: str) -> None:
    assert camel(name) == expected
