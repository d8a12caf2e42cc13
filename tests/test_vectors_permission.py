"""Configuration and calls, as they were recorded: what is allowed, asked and denied, and what answers do."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.vectors.layout import Places, layouts, make_places, rows
from toolwright.definition import Call, Result
from toolwright.inbox import Reply
from toolwright.permission.gate import AskedRequest
from toolwright.permission.rules import Rule
from toolwright.protocols.json_types import Json
from toolwright.session.session import Session
from toolwright.testing import ScriptedUser

LOOP = {"perm-0298", "perm-0300"}
"""Rows about repeated calls, which the agent loop looks after."""

DENIED_BY_DEFAULT = {
    "perm-0031",
    "perm-0002",
    "perm-0003",
    "perm-0005",
    "perm-0006",
    "perm-0014",
    "perm-0054",
    "perm-0175",
    "perm-0240",
}
"""Rows about an .env file or an address of this machine; ours denies both unless told otherwise."""

CHOICES = {
    "perm-0071": "deny",  # nothing is offered; what is called all the same is denied
    "perm-0072": "deny",
    "perm-0134": "deny",  # every part of a command is judged before anything is asked
    "perm-0243": "deny",  # explore's own rules say so again
    "perm-0288": "deny deny deny",
    "perm-0292": "ask deny",  # no approval beats a deny
}
"""What becomes of the rows whose recorded outcome is an accident."""

ENDINGS = {"perm-0154": "error"}
"""Rows that end otherwise for another reason: an empty search text does not overwrite a file that was never read."""

NEVER_WIDENED = {"rm*": "rm -f none.txt"}
"""A command that deletes can be approved for good only in its very words."""

ROWS = list(rows("permission_eval"))


HERE = [row for row in ROWS if row["id"] not in LOOP]
SINGLE = [row for row in HERE if "call" in row and "quirk" not in row]
SEQUENCES = [row for row in HERE if "steps" in row and "quirk" not in row]
ACCIDENTS = [row for row in HERE if "quirk" in row]


def named(row: Json) -> str:
    return f"{row['id']} {row['note']}"


@pytest.fixture
def places(tmp_path: Path) -> Places:
    return make_places(tmp_path, **layouts("permission_eval"))


@pytest.mark.parametrize("row", SINGLE, ids=named)
async def test_recorded_calls(places: Places, row: Json) -> None:
    user = ScriptedUser([_reply(row["reply"])] * 9)
    log: list[AskedRequest] = []
    async with _session(places, row, user) as session:
        result = await _run(session, places.fill(row["call"]), log)
        offered = session.offered()
    if row["id"] in DENIED_BY_DEFAULT:
        assert _decision(result, log) == "deny"
        assert user.questions == []
        return
    assert (row["call"]["tool"] in offered) == row["offered"]
    if row["decision"] == "unavailable":
        assert result.error is not None
        assert user.questions == []
        return
    _check(places, row, result, log)


@pytest.mark.parametrize("row", SEQUENCES, ids=named)
async def test_recorded_sequences(places: Places, row: Json) -> None:
    user = ScriptedUser()
    async with _session(places, row, user) as session:
        outcomes = await _play(session, user, places.fill(row["steps"]), row)
    assert len(outcomes) == len(row["results"])
    for expected, (result, log) in zip(row["results"], outcomes, strict=True):
        _check(places, expected, result, log)
    assert [question.permission for question in user.questions] == row["asked_in_order"]


@pytest.mark.parametrize("row", ACCIDENTS, ids=named)
async def test_rows_that_record_an_accident_come_out_as_we_chose(places: Places, row: Json) -> None:
    user = ScriptedUser()
    steps = places.fill(row.get("steps") or [[row["call"]]])
    async with _session(places, row, user) as session:
        outcomes = await _play(session, user, steps, {"replies": [row.get("reply")], "results": steps} | row)
    decisions = [_decision(*one) for one in outcomes]
    assert " ".join(decisions) == CHOICES[row["id"]]


@asynccontextmanager
async def _session(places: Places, row: Json, user: ScriptedUser) -> AsyncIterator[Session]:
    places.write_config(row["config"])
    rules = [Rule(one["permission"], one["pattern"], one["action"]) for one in row.get("session_permission", ())]
    async with places.workspace(user) as workspace:
        yield workspace.session(row["agent"], rules=rules)


async def _run(session: Session, call: Json, log: list[AskedRequest]) -> Result:
    return await session.run_call(Call(id="call_1", tool=call["tool"], arguments=call["args"]), log=log)


async def _play(
    session: Session, user: ScriptedUser, steps: list[list[Json]], row: Json
) -> list[tuple[Result, list[AskedRequest]]]:
    """The calls of each step side by side, until as many were made as the row has results."""
    user.replies = [None] * 99
    replies = [_reply(reply) for reply in row["replies"]]
    outcomes: list[tuple[Result, list[AskedRequest]]] = []
    for step in steps:
        if len(outcomes) == len(row["results"]):
            break
        logs: list[list[AskedRequest]] = [[] for _ in step]
        tasks = [asyncio.create_task(_run(session, call, log)) for call, log in zip(step, logs, strict=True)]
        await _answer(session, user, tasks, replies)
        outcomes += [(await task, log) for task, log in zip(tasks, logs, strict=True)]
    return outcomes


async def _answer(
    session: Session, user: ScriptedUser, tasks: list["asyncio.Task[Result]"], replies: list[Reply | None]
) -> None:
    """Give each answer once every call that is not over waits for one, as a person would who sees them all."""
    inbox = session.gate.inbox
    while unfinished := [task for task in tasks if not task.done()]:
        waiting = inbox.pending
        if waiting and len(waiting) == len(unfinished):
            first = next(one for one in waiting if replies[user.questions.index(one)] is not None)
            reply = replies[user.questions.index(first)]
            assert reply is not None
            inbox.reply(first.id, reply)
        await asyncio.sleep(0)


def _reply(value: Any) -> Reply | None:
    if value is None:
        return None
    said: Json = {"reply": value} if isinstance(value, str) else value
    return Reply(kind=said["reply"], message=said.get("message", ""), scope="session")


def _decision(result: Result, log: list[AskedRequest]) -> str:
    if result.error is not None and result.error.kind == "denied":
        return "deny"
    return "ask" if any(entry.judgement.action == "ask" for entry in log) else "allow"


def _check(places: Places, expected: Json, result: Result, log: list[AskedRequest]) -> None:
    assert _decision(result, log) == expected["decision"], result.output
    assert ("error" if result.error else "completed") == ENDINGS.get(expected.get("id", ""), expected["ended"])
    if expected["decision"] == "deny":
        return
    asked = [entry for entry in log if entry.judgement.action == "ask"]
    assert [_request(entry) for entry in asked] == [_recorded(places.fill(one)) for one in expected["requests"]]
    for entry, recorded in zip(asked, expected["requests"], strict=True):
        assert set(recorded["metadata_keys"]) <= set(entry.judgement.request.metadata)
    if "then" in expected:
        rejected = result.error is not None and result.error.kind == "rejected"
        assert ("rejected" if rejected else "ran") == expected["then"]


def _request(entry: AskedRequest) -> tuple[str, list[str], list[str]]:
    request = entry.judgement.request
    return request.permission, list(request.patterns), [_joined(pattern) for pattern in request.always]


def _recorded(request: Json) -> tuple[str, list[str], list[str]]:
    always = [NEVER_WIDENED.get(pattern, pattern) for pattern in request["always"]]
    return request["permission"], request["patterns"], [_joined(pattern) for pattern in always]


def _joined(pattern: str) -> str:
    """Our lasting approvals end at a word (`echo *`); the recorded ones did not (`echo*`)."""
    return f"{pattern[:-2]}*" if pattern.endswith(" *") else pattern
