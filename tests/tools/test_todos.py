"""todowrite and todoread, through the door."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.contexts import HostedContext
from tests.files.tool_case import rows
from tests.tools.doubles import Doubles, make_doubles, run
from toolwright.permission.rules import Rule
from toolwright.protocols.json_types import Json
from toolwright.services import Todo
from toolwright.tools.todoread import todoread
from toolwright.tools.todowrite import todowrite

ROWS = [row for row in rows("todo") if "calls" in row]


@pytest.fixture
def doubles(project: Path) -> Doubles:
    return make_doubles(project, todowrite, todoread)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["id"])
async def test_recorded_rows(doubles: Doubles, row: Json) -> None:
    sessions = {"second": doubles.another()}
    for call, expected in zip(row["calls"], row["results"], strict=True):
        session = sessions.get(call.get("session"), doubles.session)
        result = await run(session, call["tool"], **call["args"])
        if expected["status"] == "error":
            assert result.error is not None
            assert result.error.kind == expected["error_kind"]
            continue
        assert result.error is None
        todos = json.loads(result.output)
        assert todos == result.metadata["todos"]
        assert todos == expected.get("todos", todos)
        if "open_count" in expected:
            assert result.title.split()[0] == str(expected["open_count"])
    if not any("session" in call for call in row["calls"]):
        assert [todo.as_json() for todo in await doubles.todos.of(doubles.session.id)] == row["stored_after"]


async def test_the_answer_is_json_with_an_entry_a_line(doubles: Doubles) -> None:
    result = await doubles.run("todowrite", todos=[entry("Käse", id="k"), entry("b") | {"status": "completed"}])
    assert result.output == (
        "[\n"
        '{"id": "k", "content": "Käse", "status": "pending", "priority": "high"},\n'
        '{"id": "2", "content": "b", "status": "completed", "priority": "high"}\n'
        "]"
    )
    assert result.title == "1 todo"


async def test_what_else_an_entry_holds_is_kept(doubles: Doubles) -> None:
    further = {"owner": "ada", "steps": [1, {"a": None}]}
    await doubles.run("todowrite", todos=[entry("a", id="1") | further])
    [shown] = json.loads((await doubles.run("todoread")).output)
    assert shown == entry("a", id="1") | further


async def test_an_entry_without_an_id_gets_the_next_free_number(doubles: Doubles) -> None:
    await doubles.run("todowrite", todos=[entry("a", id="2"), entry("b"), entry("c"), entry("d", id="3")])
    assert [todo.id for todo in await doubles.todos.of(doubles.session.id)] == ["2", "4", "5", "3"]


async def test_a_cancelled_entry_is_counted_as_not_completed(doubles: Doubles) -> None:
    result = await doubles.run("todowrite", todos=[entry("a") | {"status": "cancelled"}, entry("b")])
    assert result.title == "2 todos"


async def test_a_denied_list_stays_as_it_was(project: Path) -> None:
    doubles = make_doubles(project, todowrite, rules=[Rule("todowrite", "*", "deny")])
    result = await doubles.run("todowrite", todos=[entry("a")])
    assert result.error is not None
    assert result.error.kind == "denied"
    assert doubles.todos.lists == {}


class _Keeping:
    """As much of a host as the tool needs: a list that remembers."""

    def __init__(self) -> None:
        self.kept: list[Todo] = []

    def use(self, kind: type) -> "_Keeping":
        return self

    def replace(self, session_id: str, todos: Sequence[Todo]) -> None:
        self.kept = list(todos)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.one_of(st.none(), st.integers(1, 6).map(str)), max_size=8))
async def test_given_ids_stay_and_made_ones_are_new(ids: list[str | None]) -> None:
    entries = [entry("x") if one is None else entry("x", id=one) for one in ids]
    host: Any = _Keeping()
    ctx = HostedContext(session_id="s", message_id="m", call_id="c", agent="build", directory=Path(), host=host)
    await todowrite.run(ctx, {"todos": entries})
    kept = [todo.id for todo in host.kept]
    made = [own for one, own in zip(ids, kept, strict=True) if one is None]
    assert all(kept.count(own) == 1 for own in made)
    assert all(one in (None, own) for one, own in zip(ids, kept, strict=True))


def entry(content: str, **more: str) -> Json:
    return {"content": content, "status": "pending", "priority": "high", **more}
