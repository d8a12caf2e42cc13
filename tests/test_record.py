"""Records are what dataclasses are, only that nothing is compiled until one is made."""

import copy
import dataclasses
import inspect
import pickle
import pydoc
from dataclasses import FrozenInstanceError, field, replace
from typing import Any, ClassVar

import pytest

from toolwright import Result
from toolwright.record import record


@record(frozen=True, slots=True, kw_only=True)
class Point:
    x: int
    y: int = 0
    tags: list[str] = field(default_factory=list)
    note: str = field(default="", compare=False, repr=False)
    kind: ClassVar[str] = "point"


@record(frozen=True, slots=True, kw_only=True)
class Named(Point):
    name: str = "?"


@record(slots=True)
class Counter:
    name: str
    count: int = 0


@record
class Plain:
    a: int
    b: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.b.append(self.a)


def test_they_are_made_shown_and_compared_like_dataclasses() -> None:
    assert repr(Point(x=1)) == "Point(x=1, y=0, tags=[])"
    assert Point(x=1, note="a") == Point(x=1, note="b")
    assert Point(x=1) != Point(x=2)
    assert Point(x=1) != Named(x=1)
    assert Counter("a") == Counter(name="a", count=0)
    assert Plain(3).b == [3]


def test_defaults_are_not_shared() -> None:
    one, two = Point(x=1), Point(x=1)
    one.tags.append("mine")
    assert two.tags == []


def test_subclasses_have_the_fields_of_their_bases_first() -> None:
    assert [one.name for one in dataclasses.fields(Named)] == ["x", "y", "tags", "note", "name"]
    assert repr(Named(x=1, name="n")) == "Named(x=1, y=0, tags=[], name='n')"


def test_what_is_frozen_cannot_be_changed_and_what_has_slots_cannot_grow() -> None:
    point, counter = Point(x=1), Counter("a")
    with pytest.raises(FrozenInstanceError):
        _set(point, "x", 2)
    counter.count += 1
    with pytest.raises(AttributeError):
        _set(counter, "other", 1)
    assert not hasattr(point, "__dict__")


def _set(thing: Any, name: str, value: Any) -> None:
    setattr(thing, name, value)


def test_the_functions_of_dataclasses_take_them() -> None:
    assert dataclasses.is_dataclass(Point)
    assert replace(Point(x=1), y=5) == Point(x=1, y=5)
    assert hash(Counter) is not None
    with pytest.raises(TypeError):
        hash(Counter("a"))
    assert dataclasses.asdict(Point(x=1)) == {"x": 1, "y": 0, "tags": [], "note": ""}


def test_a_dataclass_may_derive_from_one() -> None:
    @dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
    class Below(Point):
        z: int = 3

    assert repr(Below(x=1)).endswith("Below(x=1, y=0, tags=[], z=3)")


def test_they_can_be_copied_pickled_and_matched() -> None:
    point = Point(x=1, tags=["t"])
    assert copy.deepcopy(point) == point
    assert pickle.loads(pickle.dumps(point)) == point
    match Counter("a", 3):
        case Counter(name, count):
            assert (name, count) == ("a", 3)


@pytest.mark.parametrize("wrong", [{}, {"x": 1, "z": 2}])
def test_wrong_arguments_are_a_type_error(wrong: dict[str, Any]) -> None:
    with pytest.raises(TypeError):
        Point(**wrong)


def test_nothing_is_compiled_before_the_first_is_made() -> None:
    @record(frozen=True, slots=True)
    class Late:
        a: int

    before = Late.__init__
    Late(1)
    assert Late.__init__ is not before


def test_help_shows_the_fields_as_parameters() -> None:
    assert str(inspect.signature(Point)) == "(*, x: int, y: int = 0, tags: list[str] = [], note: str = '')"
    assert str(inspect.signature(Counter)) == "(name: str, count: int = 0)"

    class Own(Counter):
        def __init__(self) -> None:
            super().__init__("own")

    assert str(inspect.signature(Own)) == "() -> None"


def test_help_shows_what_stands_under_a_field() -> None:
    assert "Text that the model reads." in pydoc.plain(pydoc.render_doc(Result))
    texts = {name: inspect.getdoc(getattr(Result, name)) for name in Result.__dataclass_fields__}
    assert texts["output"] == "Text that the model reads."


def test_fields_are_found_where_annotations_are_evaluated_only_when_asked_for() -> None:
    """As by Python 3.14, which has none of them in the `__dict__` of a class."""
    later: Any = type("Later", (type,), {"__annotations__": property(lambda _: {"count": int})})
    assert record(later("Late", (), {}))(count=2).count == 2
