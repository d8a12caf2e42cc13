"""Python types in JSON: the schemas, and values that come back as they went."""

import dataclasses
import json
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import InitVar, dataclass, field
from datetime import UTC, date, datetime, time
from decimal import Decimal
from enum import Enum, Flag, IntEnum, StrEnum, auto
from pathlib import Path
from types import GenericAlias
from typing import Annotated, Any, Literal, NamedTuple, NewType, NotRequired, Optional, Required, TypedDict, Union
from uuid import UUID

import jsonschema_rs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.rounds import rounds
from tests.schema.test_check import VALUES
from toolwright.forms.form import Field, Form, Misfit, NoForm, read_at
from toolwright.forms.kinds import form_of, form_with_default
from toolwright.forms.values import jsonable
from toolwright.schema.check import problems_with


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


class Level(IntEnum):
    LOW = 1
    HIGH = 2


class Mode(StrEnum):
    FAST = auto()
    SLOW = auto()


class Corner(Enum):
    TOP = (0, 0)
    BOTTOM = (0, 1)


class Right(Flag):
    READ = 1
    WRITE = 2


class Edit(TypedDict):
    oldString: Annotated[str, "What is there"]
    replaceAll: NotRequired[bool]


class Loose(TypedDict, total=False):
    name: Required[str]
    born: date


class Written(TypedDict, total=False):
    name: "Required[str]"
    size: "Annotated[NotRequired[int], 'How big']"


class Pair(NamedTuple):
    x: int
    y: int = 0


@dataclass
class Point:
    x: int
    y: Annotated[int, "How high"] = 0
    born: date | None = None
    tags: list[str] = field(default_factory=list)
    derived: int = field(init=False, default=3)


@dataclass(frozen=True)
class Start:
    at: InitVar[int]
    place: int = field(init=False)

    def __post_init__(self, at: int) -> None:
        if at < 0:
            raise ValueError("at must not be negative")
        object.__setattr__(self, "place", at)


Name = NewType("Name", str)
POINT = {
    "type": "object",
    "properties": {
        "x": {"type": "integer"},
        "y": {"type": "integer", "description": "How high", "default": 0},
        "born": {"type": "string", "format": "date"},
        "tags": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["x"],
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    ("hint", "schema"),
    [
        (str, {"type": "string"}),
        (int, {"type": "integer"}),
        (float, {"type": "number"}),
        (bool, {"type": "boolean"}),
        (None, {"type": "null"}),
        (Any, {}),
        (object, {}),
        (Name, {"type": "string"}),
        (dict, {"type": "object"}),
        (dict[str, Any], {"type": "object"}),
        (dict[str, int], {"type": "object", "additionalProperties": {"type": "integer"}}),
        (Mapping[int, str], {"type": "object", "additionalProperties": {"type": "string"}}),
        (list, {"type": "array", "items": {}}),
        (list[str], {"type": "array", "items": {"type": "string"}}),
        (Sequence[list[int]], {"type": "array", "items": {"type": "array", "items": {"type": "integer"}}}),
        (set[int], {"type": "array", "items": {"type": "integer"}}),
        (tuple[int, ...], {"type": "array", "items": {"type": "integer"}}),
        (
            tuple[int, str],
            {"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}], "minItems": 2, "maxItems": 2},
        ),
        (Literal["a", "b"], {"type": "string", "enum": ["a", "b"]}),
        (Literal[1, 2], {"type": "integer", "enum": [1, 2]}),
        (Literal["a", 1], {"enum": ["a", 1]}),
        (Literal[Colour.RED], {"type": "string", "enum": ["red"]}),
        (Colour, {"type": "string", "enum": ["red", "blue"]}),
        (Level, {"type": "integer", "enum": [1, 2]}),
        (Mode, {"type": "string", "enum": ["fast", "slow"]}),
        (Corner, {"type": "string", "enum": ["TOP", "BOTTOM"]}),
        (datetime, {"type": "string", "format": "date-time"}),
        (date, {"type": "string", "format": "date"}),
        (time, {"type": "string", "format": "time"}),
        (UUID, {"type": "string", "format": "uuid"}),
        (Path, {"type": "string"}),
        (Decimal, {"anyOf": [{"type": "number"}, {"type": "string"}]}),
        (str | int, {"anyOf": [{"type": "string"}, {"type": "integer"}]}),
        (Optional[int], {"anyOf": [{"type": "integer"}, {"type": "null"}]}),  # noqa: UP045 - as people write it
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
        (
            Loose,
            {
                "type": "object",
                "properties": {"name": {"type": "string"}, "born": {"type": "string", "format": "date"}},
                "required": ["name"],
            },
        ),
        (
            Written,
            {
                "type": "object",
                "properties": {"name": {"type": "string"}, "size": {"type": "integer", "description": "How big"}},
                "required": ["name"],
            },
        ),
        (Point, POINT),
        (
            Pair,
            {
                "type": "object",
                "properties": {"x": {"type": "integer"}, "y": {"type": "integer", "default": 0}},
                "required": ["x"],
                "additionalProperties": False,
            },
        ),
    ],
)
def test_types_become_flat_schemas(hint: Any, schema: dict[str, Any]) -> None:
    assert form_of(hint).schema == schema


@pytest.mark.parametrize(
    ("hint", "value", "expected"),
    [
        (int, 3.0, 3),
        (float, 3, 3.0),
        (Level, 2, Level.HIGH),
        (Corner, "TOP", Corner.TOP),
        (Literal[Colour.RED], "red", Colour.RED),
        (Literal[1], 1.0, 1),
        (Decimal, 1.1, Decimal("1.1")),
        (Decimal, "19.99", Decimal("19.99")),
        (datetime, "2026-01-31T09:30:00Z", datetime(2026, 1, 31, 9, 30, tzinfo=UTC)),
        (Path, "a/b", Path("a/b")),
        (Mapping[int, date], {"1": "2026-01-31"}, {1: date(2026, 1, 31)}),
        (AbstractSet[int], [1, 1, 2], frozenset({1, 2})),
        (Point, {"x": 1, "y": None, "born": None}, Point(1)),
        (Start, {"at": 4}, Start(4)),
        (Pair, {"x": 1}, Pair(1)),
        (Loose, {"name": "a", "born": "2026-01-31", "more": 1}, {"name": "a", "born": date(2026, 1, 31), "more": 1}),
        (date | str, "soon", "soon"),
        (date | str, "2026-01-31", date(2026, 1, 31)),
        (Pair | Point, {"x": 1, "tags": []}, Point(1)),
        (Union[int, None, str], None, None),  # noqa: UP007 - as people write it
    ],
)
def test_json_becomes_the_annotated_value(hint: Any, value: Any, expected: Any) -> None:
    made = read_at(form_of(hint), value)
    assert (made, type(made)) == (expected, type(expected))


@pytest.mark.parametrize(
    ("hint", "value", "problem"),
    [
        (date, "soon", 'expected a date such as 2026-01-31, got "soon"'),
        (Decimal, "NaN", 'expected a decimal number such as 19.99, got "NaN"'),
        (UUID, "1", 'expected a UUID, got "1"'),
        (float, 10**400, "int too large to convert to float, got 1000"),
        (list[date], ["2026-01-31", "x"], '[1]: expected a date such as 2026-01-31, got "x"'),
        (dict[str, list[Point]], {"a": [{"x": 1, "z": 2}]}, "a[0].z: is unknown; Point has x, y, born, tags"),
        (dict[int, str], {"one": ""}, 'one: as a key: expected a whole number, got "one"'),
        (dict[Literal["a"], int], {"b": 1}, 'b: as a key: expected one of "a", got "b"'),
        (Start, {"at": -1}, 'at must not be negative, got {"at": -1}'),
        (Point | Pair, {"x": 1, "z": 1}, "z: is unknown; Point has x, y, born, tags"),
    ],
)
def test_what_cannot_be_made_says_where_and_what_was_expected(hint: Any, value: Any, problem: str) -> None:
    with pytest.raises(Misfit) as raised:
        read_at(form_of(hint), value)
    [found] = raised.value.problems
    assert str(found).startswith(problem)


@pytest.mark.parametrize("hint", [bytes, complex, type, Right, Literal[b"a"], "text", TypedDict, list[bytes]])
def test_a_type_without_a_form_is_refused(hint: Any) -> None:
    with pytest.raises(NoForm):
        form_of(hint)


def test_what_has_a_default_does_not_take_null_for_a_value() -> None:
    assert form_with_default(Annotated[int | None, "n"], 5).schema == {
        "type": "integer",
        "description": "n",
        "default": 5,
    }
    assert form_with_default(Colour | None, Colour.RED).schema["default"] == "red"


# Types with values of theirs, made at random.
LETTERS = st.text("abé ", max_size=4)
PLAIN: list[tuple[Any, st.SearchStrategy[Any]]] = [
    (str, LETTERS),
    (int, st.integers()),
    (float, st.floats(allow_nan=False, allow_infinity=False)),
    (bool, st.booleans()),
    (date, st.dates()),
    (datetime, st.datetimes(timezones=st.none() | st.just(UTC))),
    (time, st.times()),
    (UUID, st.uuids()),
    (Decimal, st.decimals(allow_nan=False, allow_infinity=False)),
    (Path, st.sampled_from(["a", "a/b", "/", "."]).map(Path)),
    (Colour, st.sampled_from(Colour)),
    (Corner, st.sampled_from(Corner)),
    (Literal["a", 2, None], st.sampled_from(["a", 2, None])),
]
Typed = tuple[Any, st.SearchStrategy[Any]]


def of(outer: type, *arguments: Any) -> Any:
    return GenericAlias(outer, arguments)


def compounds(inner: st.SearchStrategy[Typed]) -> st.SearchStrategy[Typed]:
    several = st.lists(inner, min_size=1, max_size=3)
    return st.one_of(
        inner.map(lambda one: (of(list, one[0]), st.lists(one[1], max_size=3))),
        inner.map(lambda one: (of(tuple, one[0], ...), st.lists(one[1], max_size=3).map(tuple))),
        inner.map(lambda one: (one[0] | None, one[1] | st.none())),
        inner.map(lambda one: (of(dict, str, one[0]), st.dictionaries(LETTERS, one[1], max_size=3))),
        inner.map(lambda one: (of(dict, int, one[0]), st.dictionaries(st.integers(), one[1], max_size=3))),
        inner.map(lambda one: (Annotated[one[0], "said"], one[1])),
        several.map(lambda all_: (of(tuple, *(one[0] for one in all_)), st.tuples(*(one[1] for one in all_)))),
        several.map(_record),
        several.map(_typed_dict),
    )


def _record(members: list[Typed]) -> Typed:
    made = dataclasses.make_dataclass("Made", [(f"m{index}", one[0]) for index, one in enumerate(members)])
    return made, st.tuples(*(one[1] for one in members)).map(lambda values: made(*values))


def _typed_dict(members: list[Typed]) -> Typed:
    hints = {f"m{index}": one[0] for index, one in enumerate(members)}
    make: Any = TypedDict
    made = make("made", hints)
    return made, st.fixed_dictionaries({f"m{index}": one[1] for index, one in enumerate(members)})


SETS = st.sampled_from(PLAIN).flatmap(
    lambda one: st.sampled_from(
        [(of(set, one[0]), st.sets(one[1], max_size=3)), (of(frozenset, one[0]), st.frozensets(one[1]))]
    )
)
TYPED = st.recursive(st.sampled_from(PLAIN) | SETS, compounds, max_leaves=5)
JSON = VALUES | st.sampled_from(["2026-01-31", "1.5", "red", "TOP", ["2026-01-31"], {"m0": "a", "m1": 2}])


@settings(max_examples=rounds(70, 300), deadline=None)
@given(typed=TYPED, data=st.data())
def test_a_value_comes_back_from_json_as_it_went(typed: Typed, data: st.DataObject) -> None:
    form, value = form_of(typed[0]), data.draw(typed[1])
    plain = json.loads(json.dumps(jsonable(value)))
    assert problems_with(plain, form.schema) == []
    assert jsonschema_rs.is_valid(form.schema, plain)
    made = read_at(form, plain)
    assert made == value
    assert json.loads(json.dumps(jsonable(made))) == plain


@settings(max_examples=rounds(70, 300), deadline=None)
@given(typed=TYPED, value=JSON)
def test_any_json_that_fits_is_read_or_refused_in_words(typed: Typed, value: Any) -> None:
    form = form_of(typed[0])
    if problems_with(value, form.schema):
        return
    try:
        made = read_at(form, value)
    except Misfit:
        return
    assert read_at(form, json.loads(json.dumps(jsonable(made)))) == made


@settings(max_examples=rounds(50, 100), deadline=None)
@given(typed=TYPED)
def test_no_schema_has_references_or_titles(typed: Typed) -> None:
    text = json.dumps(form_of(typed[0]).schema)
    assert all(word not in text for word in ('"$ref"', '"$defs"', '"title"'))


def test_a_form_is_made_anew_each_time() -> None:
    form_of(Annotated[str, "said here"])
    assert form_of(str) == Form({"type": "string"})
