"""Records as clients read them."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from toolwright.calls.parts import Completed, Span, ToolPart
from toolwright.events import PermissionReplied
from toolwright.protocols.client_json import from_json, json_text, to_json, wire_name


@dataclass(frozen=True, slots=True, kw_only=True)
class Inner:
    top_p: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Outer:
    session_id: str
    inner: Inner
    many: tuple[Inner, ...] = ()
    extra: dict[str, Any] = field(default_factory=dict)


def test_snake_case_becomes_camel_case_and_none_is_left_out() -> None:
    outer = Outer(session_id="ses_1", inner=Inner(), many=(Inner(top_p=0.5),), extra={"left_alone": {"None": None}})
    assert to_json(outer) == {
        "sessionID": "ses_1",
        "inner": {},
        "many": [{"topP": 0.5}],
        "extra": {"left_alone": {"None": None}},
    }


@pytest.mark.parametrize(
    ("name", "expected"), [("session_id", "sessionID"), ("top_p", "topP"), ("id", "id"), ("a_b_c", "aBC")]
)
def test_names_on_the_wire(name: str, expected: str) -> None:
    assert wire_name(name) == expected


def test_what_json_has_no_form_for_is_told_as_text() -> None:
    assert to_json({"path": Path("a/b"), 3: {1}, "bytes": b"x"}) == {"path": "a/b", "3": [1], "bytes": "b'x'"}


@pytest.mark.parametrize(
    "value",
    [
        Outer(session_id="ses_ü", inner=Inner(top_p=0.5), many=(Inner(), Inner(top_p=1.0))),
        {"path": Path("a/b"), 3: {1}, "bytes": b"x", "nested": [{"deep": (1, None, True)}]},
        {(1, 2): "a key that is no text", "inner": Inner()},
        [],
        "half \ud83d",
        None,
    ],
)
def test_the_text_is_what_the_plain_values_are(value: Any) -> None:
    assert json.loads(json_text(value)) == to_json(value)
    assert json_text(value) == json.dumps(to_json(value), ensure_ascii=False, separators=(",", ":"))


def test_an_event_has_its_type_and_its_properties() -> None:
    event = PermissionReplied(session_id="ses_1", request_id="per_1", reply="once")
    assert event.to_json() == {
        "type": "permission.replied",
        "properties": {"sessionID": "ses_1", "requestID": "per_1", "reply": "once"},
    }


def test_a_record_comes_back_from_its_json() -> None:
    state = Completed(input={"a": 1}, output="x", title="t", metadata={}, time=Span(start=1, end=2))
    part = ToolPart(id="prt_1", session_id="ses_1", message_id="msg_1", call_id="c", tool="read", state=state)
    written = to_json(part)
    for stored in (written, written | {"unknown": 1}):
        read: ToolPart = from_json(ToolPart, stored)
        assert read == part


@pytest.mark.parametrize("value", [None, [], {"id": "prt_1"}, {"id": "prt_1", "state": {"status": "odd"}}])
def test_a_wrong_shape_is_an_error_not_a_half_record(value: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        from_json(ToolPart, value)
