"""Handing work to a subagent, as it was recorded: through the whole loop, with a script for either session."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.session.trial import call, calls, opened, says
from tests.vectors.layout import Places, make_places, rows
from toolwright.calls.parts import Completed, Failed, ToolPart
from toolwright.inbox import Question, Reply
from toolwright.models.scripted import DEFAULT_INFO, ScriptedModel, ScriptedTurn, SeenRequest
from toolwright.protocols.json_types import Json
from toolwright.session.prompt import Prompt
from toolwright.session.session import Session
from toolwright.testing import ScriptedUser, make_workspace

CHILD = r"\(starts the child's script\)"
KINDS = {"unknown_agent": "not_found"}
OURS = {"list", "multiedit"}
"""Tools that the recorded program does not offer."""
DIFFERENT = {
    "task-0008": "A primary agent cannot be handed work.",
    "task-0018": "An .env file is denied, not asked about.",
}
"""Rows that come out otherwise by decision."""


def _is_played_elsewhere(row: Json) -> bool:
    """One names a session that is made on the way: see the test of going on with a task."""
    return "same_session" in row["results"][0]


ROWS = [
    row for row in rows("task") if row["id"] not in DIFFERENT and "quirk" not in row and not _is_played_elsewhere(row)
]


def named(row: Json) -> str:
    return f"{row['id']} {row['note']}"


@pytest.fixture
def places(tmp_path: Path) -> Places:
    return make_places(tmp_path, project={"a.txt": "alpha\n", ".env": "KEY=1\n"})


def _script(row: Json, places: Places, before: list[ScriptedTurn]) -> list[ScriptedTurn]:
    child = [
        says(turn, match=CHILD)
        if isinstance(turn, str)
        else calls(*(call(name, **arguments) for name, arguments in places.fill(turn)), match=CHILD)
        for turn in row["child_turns"]
    ]
    return [*before, *child, says("end")]


@pytest.mark.parametrize("row", ROWS, ids=named)
async def test_recorded_tasks(places: Places, row: Json) -> None:
    places.write_config(row["config"])
    user = ScriptedUser([Reply(kind=row["reply"])] * 9)
    model = ScriptedModel(
        *_script(row, places, [calls({"name": "task", "args": places.fill(row["args"])})]),
        info=replace(DEFAULT_INFO, provider="fake", id="m", api_id="m"),
    )
    workspace = make_workspace(places.project, model=model, user=user, environment={"HOME": str(places.home)})
    try:
        session = workspace.sessions.create()
        await session.turns.answer(Prompt(text="Go."))
        _check(row, places, session, model, user)
        children = await workspace.sessions.children(session.id)
        assert bool(children) == ("child_tools" in row)
        assert len(children) <= 1
    finally:
        await workspace.close()


def _check(row: Json, places: Places, session: Session, model: ScriptedModel, user: ScriptedUser) -> None:
    part = next(part for message in session.conversation.messages for part in message.calls if part.tool == "task")
    expected = row["results"][0]
    main = [request for request in model.requests if request.settings.purpose == "main"]
    child = [request for request in main if _is_childs(request)]
    assert len(main) - len(child) == row["model_turns"]
    assert [_asked(one) for one in user.questions] == [
        (one["permission"], one["patterns"]) for one in row["asked"] + row["asked_in_child"]
    ]
    _check_result(part, expected)
    if "child_tools" in row:
        offered = {spec.name for spec in child[0].tools}
        assert offered - OURS == set(row["child_tools"])
    for name, content in row.get("files_changed", {}).items():
        assert (places.project / name).read_text() == content
    listing = next(spec.description for spec in main[0].tools if spec.name == "task")
    assert [name for name in row["agents_listed"] if f"- {name}" not in listing] == []


def _check_result(part: ToolPart, expected: Json) -> None:
    if expected["status"] == "error":
        assert isinstance(part.state, Failed)
        assert part.state.kind == KINDS.get(expected["error_kind"], expected["error_kind"])
        return
    assert isinstance(part.state, Completed)
    assert part.state.title == expected["title"]
    assert part.state.output.startswith(expected["text"])
    assert ("session_id: ses_" in part.state.output) == expected["has_session_id"]
    made = [[one["tool"], one["state"]["status"]] for one in part.state.metadata["summary"]]
    # A call of a tool that is not offered is refused under its own name.
    assert made == [["task", "error"] if one[0] == "invalid" else one for one in expected["summary"]]


def _is_childs(request: SeenRequest) -> bool:
    return any("starts the child" in str(getattr(message, "content", "")) for message in request.messages[:2])


def _asked(question: Question) -> tuple[str, list[str]]:
    return question.permission, list(question.patterns)


async def test_a_primary_agent_is_not_handed_work(project: Path) -> None:
    """task-0008"""
    config = {"agent": {"main": {"mode": "primary", "description": "Main only"}}}
    handed = call("task", description="d", prompt="p", subagent_type="main")
    async with opened(project, calls(handed), says("end"), config=config) as trial:
        await trial.prompt()
        state = trial.replies[0].calls[0].state
        assert isinstance(state, Failed)
        assert state.kind == "not_found"
