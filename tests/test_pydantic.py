"""Models and fields of pydantic as parameters and results, for those who use it."""

import json
import subprocess
import sys
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest

from toolwright.definition import Call, as_tool, tool
from toolwright.errors import InvalidArguments

pydantic = pytest.importorskip("pydantic")
annotated_types = pytest.importorskip("annotated_types")
from annotated_types import Ge, Interval, Len, MinLen, Predicate  # noqa: E402
from pydantic import AfterValidator, BaseModel, Field  # noqa: E402

from toolwright.testing import make_session  # noqa: E402


class Item(BaseModel):
    """Something to buy."""

    title: str = Field(min_length=2, title="The title")
    due: date | None = None
    unit_price: float = Field(alias="unitPrice", gt=0)


class Order(BaseModel):
    items: list[Item]
    kind: Literal["now", "later"] = "now"


class Tree(BaseModel):
    below: "list[Tree]" = []


def even(amount: float) -> float:
    if amount % 2:
        raise ValueError(f"{amount} is odd")
    return amount


def order(order: Order, note: Annotated[str, Field(description="For us", pattern="^[a-z]+$")] = "none") -> Order:
    """Order things."""
    return order


EMPTY: list[int] = Field(default_factory=list)


def count(
    many: Annotated[int, Field(description="how many", ge=1, le=5)],
    few: int = Field(2, ge=1, description="a few"),
    fresh: list[int] = EMPTY,
) -> list[Any]:
    return [many, few, fresh]


GOOD = {"items": [{"title": "tea", "unitPrice": 2, "due": "2026-01-31"}]}


def test_a_model_is_told_flat_without_titles_but_with_a_property_of_that_name() -> None:
    made = as_tool(order).parameters
    text = json.dumps(made)
    assert all(word not in text for word in ("$ref", "$defs", "The title"))
    assert made["properties"]["order"]["properties"]["items"]["items"] == {
        "type": "object",
        "description": "Something to buy.",
        "properties": {
            "title": {"type": "string", "minLength": 2},
            "due": {"anyOf": [{"type": "string", "format": "date"}, {"type": "null"}], "default": None},
            "unitPrice": {"type": "number", "exclusiveMinimum": 0},
        },
        "required": ["title", "unitPrice"],
    }
    assert made["properties"]["note"] == {
        "type": "string",
        "description": "For us",
        "pattern": "^[a-z]+$",
        "default": "none",
    }


async def test_a_model_is_given_to_the_function_and_taken_from_it(project: Path) -> None:
    session = make_session(project, tools=[as_tool(order)])
    result = await session.run_call(Call(id="call_1", tool="order", arguments={"order": GOOD}))
    assert json.loads(result.output) == {
        "items": [{"title": "tea", "unitPrice": 2.0, "due": "2026-01-31"}],
        "kind": "now",
    }


def test_problems_that_only_the_model_sees_name_the_argument_too() -> None:
    wrong = {"items": [{"title": "tea", "unitPrice": 2, "due": "soon"}]}
    with pytest.raises(InvalidArguments, match=r"- order\.items\[0\]\.due: .*date.*soon"):
        as_tool(order).parse({"order": wrong})


class Cash(BaseModel):
    kind: Literal["cash"]
    amount: Annotated[float, AfterValidator(even)]


class Card(BaseModel):
    kind: Literal["card"]
    number: str


@pytest.mark.parametrize("kind", [Cash | Card, Annotated[Cash | Card, Field(discriminator="kind")]])
@pytest.mark.parametrize(
    ("sent", "problem"),
    [
        ({"kind": "cheque"}, 'way.kind: expected one of "cash", "card", got "cheque"'),
        ({"kind": "cash"}, "way.amount: is missing; expected a number"),
        ({"kind": "cash", "amount": "x"}, 'way.amount: expected a number, got "x"'),
        ({"kind": "cash", "amount": 3}, "way.amount: value error, 3.0 is odd, got 3"),
        ("cash", 'way: expected an object, got "cash"'),
    ],
)
def test_of_several_models_the_one_that_is_meant_says_what_is_wrong(kind: Any, sent: Any, problem: str) -> None:
    def pay(way: Any) -> str:
        """Pay."""
        return ""

    pay.__annotations__["way"] = kind
    with pytest.raises(InvalidArguments) as raised:
        as_tool(pay).parse({"way": sent})
    assert f"\n- {problem}\n" in str(raised.value)


def test_constraints_and_descriptions_of_fields_are_kept() -> None:
    assert as_tool(count).parameters["properties"] == {
        "many": {"type": "integer", "description": "how many", "minimum": 1, "maximum": 5},
        "few": {"type": "integer", "description": "a few", "minimum": 1, "default": 2},
        "fresh": {"type": "array", "items": {"type": "integer"}},
    }
    assert as_tool(count).parameters["required"] == ["many"]
    with pytest.raises(InvalidArguments, match="many: expected 5 or less, got 6"):
        as_tool(count).parse({"many": 6})


async def test_a_field_in_the_place_of_a_default_is_its_default(project: Path) -> None:
    session = make_session(project, tools=[as_tool(count)])
    result = await session.run_call(Call(id="call_1", tool="count", arguments={"many": 1, "few": None}))
    assert result.output == "[1, 2, []]"


def test_a_default_that_looks_like_a_schema_is_told_as_it_is() -> None:
    def label(texts: Annotated[dict[str, str], Field(default={"title": "none"})]) -> None: ...

    assert tool(label).parameters["properties"]["texts"]["default"] == {"title": "none"}


def test_a_model_that_holds_itself_is_described_once_and_checked_at_every_depth() -> None:
    def plant(tree: Tree) -> None: ...

    made = tool(plant)
    assert "$ref" not in str(made.parameters)
    assert "Tree again, with the same properties" in str(made.parameters)
    made.parse({"tree": {"below": [{"below": [{}]}]}})
    with pytest.raises(InvalidArguments, match=r"tree\.below\[0\]\.below\[0\]\.below: .*got 3"):
        made.parse({"tree": {"below": [{"below": [{"below": 3}]}]}})


def test_constraints_of_annotated_types_are_told_or_checked() -> None:
    def pick(
        size: Annotated[int, Interval(ge=1, lt=9)],
        names: Annotated[list[str], Len(1, 3)],
        day: Annotated[date, Ge(date(2026, 1, 1))],
        word: Annotated[str, MinLen(2), Predicate(str.islower)],
    ) -> None: ...

    made = tool(pick)
    assert made.parameters["properties"] == {
        "size": {"type": "integer", "minimum": 1, "exclusiveMaximum": 9},
        "names": {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 3},
        "day": {"type": "string", "format": "date"},
        "word": {"type": "string", "minLength": 2},
    }
    good = {"size": 1, "names": ["a"], "day": "2026-02-01", "word": "ab"}
    assert made.parse(good) == good
    with pytest.raises(InvalidArguments) as raised:
        made.parse({"size": 9, "names": ["a"], "day": "2025-02-01", "word": "AB"})
    assert str(raised.value).splitlines()[1:-1] == [
        "- size: expected less than 9, got 9",
        '- day: expected 2026-01-01 or more, got "2025-02-01"',
        '- word: does not satisfy islower, got "AB"',
    ]


def test_pydantic_is_never_loaded_for_those_who_do_not_use_it() -> None:
    code = (
        "import sys; from toolwright.tools import builtin; [one.load() for one in builtin()]; "
        "names = {'pydantic', 'annotated_types', 'decimal', 'difflib', 'toolwright.functions.docstrings'}; "
        "print(sorted(names & set(sys.modules)))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
