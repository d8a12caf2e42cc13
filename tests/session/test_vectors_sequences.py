"""Recorded sequences of calls and answers, played through the loop: what is asked, what runs, when the turn ends."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.session.trial import call, calls, says
from tests.vectors.layout import Places, layouts, make_places, rows
from tests.waiting import until
from toolwright.calls.parts import Failed, ToolPart
from toolwright.inbox import Inbox, Reply
from toolwright.models.scripted import ScriptedModel
from toolwright.protocols.json_types import Json
from toolwright.session.prompt import Prompt
from toolwright.session.result import TurnEnd
from toolwright.session.session import Session
from toolwright.testing import ScriptedUser, make_workspace

ROWS = [row for row in rows("permission_eval") if "steps" in row and "quirk" not in row]
KEPT = {"perm-0298", "perm-0300"}
"""Rows in which the recorded program threw away the results of the first two calls; here they are kept."""


def named(row: Json) -> str:
    return f"{row['id']} {row['note']}"


@pytest.fixture
def places(tmp_path: Path) -> Places:
    return make_places(tmp_path, **layouts("permission_eval"))


@pytest.mark.parametrize("row", ROWS, ids=named)
async def test_recorded_sequences(places: Places, row: Json) -> None:
    places.write_config(row["config"])
    steps = [calls(*(call(one["tool"], **one["args"]) for one in step)) for step in places.fill(row["steps"])]
    model = ScriptedModel(*steps, says("end"))
    user = ScriptedUser([None] * 99)
    workspace = make_workspace(places.project, model=model, user=user, environment={"HOME": str(places.home)})
    try:
        session = workspace.sessions.create()
        turn = asyncio.create_task(session.turns.answer(Prompt(text="Go.", agent=row["agent"])))
        requested = [len(step) for step in row["steps"]]

        def all_there() -> bool:
            """Whether the reply that is being read has brought its last call."""
            asked = sum(request.settings.purpose == "main" for request in model.requests)
            return len(_calls_made(session)) == sum(requested[:asked])

        await _answer(session, turn, workspace.inbox, user, [_reply(one) for one in row["replies"]], all_there)
        await turn
        made = _calls_made(session)
        main = [request for request in model.requests if request.settings.purpose == "main"]
        assert len(main) == row["model_turns"]
        assert [question.permission for question in user.questions] == row["asked_in_order"]
        if row["id"] in KEPT:
            assert [part.state.status for part in made] == ["completed", "completed", "error"]
            return
        ended = ["error" if isinstance(part.state, Failed) else "completed" for part in made]
        assert ended == [one["ended"] for one in row["results"]]
    finally:
        await workspace.close()


def _calls_made(session: Session) -> list[ToolPart]:
    return [part for message in session.conversation.messages for part in message.calls]


async def _answer(
    session: Session,
    turn: "asyncio.Task[TurnEnd]",
    inbox: Inbox,
    user: ScriptedUser,
    replies: list[Reply | None],
    all_there: Callable[[], bool],
) -> None:
    """Answer as a person would who sees all open questions before the first answer."""

    def all_ask() -> bool:
        """Every call that is not over waits for an answer; another will not be asked for now."""
        unfinished = [part for message in session.conversation.messages for part in message.open_calls]
        return turn.done() or (all_there() and len(inbox.pending) == len(unfinished) > 0)

    while True:
        await until(all_ask)
        if turn.done():
            return
        first = next(one for one in inbox.pending if replies[user.questions.index(one)] is not None)
        reply = replies[user.questions.index(first)]
        assert reply is not None
        inbox.reply(first.id, reply)


def _reply(value: Any) -> Reply | None:
    if value is None:
        return None
    said: Json = {"reply": value} if isinstance(value, str) else value
    return Reply(kind=said["reply"], message=said.get("message", ""), scope="session")
