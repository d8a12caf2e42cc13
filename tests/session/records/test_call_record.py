"""The record of a call: on disk before anybody hears of its end."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.waiting import until
from toolwright.calls.parts import Completed, Part, ToolPart
from toolwright.definition import Attachment, Call, Result
from toolwright.errors import ToolError
from toolwright.events import Bus, Event, PartUpdated
from toolwright.inbox import Question, Reply
from toolwright.session.records.call_record import CallRecord
from toolwright.testing import make_workspace

CALL = Call(id="call_1", tool="read", arguments={"filePath": "a"})


class SlowStore:
    """A store that settles only when told to, and notes the order of things."""

    def __init__(self) -> None:
        self.order: list[str] = []
        self.safe = asyncio.Event()

    def put_part(self, part: Part) -> None:
        assert isinstance(part, ToolPart)
        self.order.append(f"put {part.state.status}")

    async def settled(self) -> None:
        await self.safe.wait()
        self.order.append("settled")


def begin(store: SlowStore) -> tuple[CallRecord, list[Any]]:
    bus = Bus()
    parts: list[Any] = []

    def note(event: Any) -> None:
        assert isinstance(event, PartUpdated)
        assert isinstance(event.part, ToolPart)
        store.order.append(f"told {event.part.state.status}")
        parts.append(event.part)

    bus.subscribe(note)
    return CallRecord.begin(CALL, session_id="ses_1", message_id="msg_1", store=store, bus=bus), parts


async def test_the_end_is_told_only_when_it_is_safe() -> None:
    store = SlowStore()
    record, _ = begin(store)
    record.running(CALL)
    task = asyncio.create_task(record.finished(CALL, Result("done")))
    await until(lambda: len(store.order) == 4)
    for _ in range(10):
        await asyncio.sleep(0)
    assert store.order == ["told pending", "put running", "told running", "put completed"]
    store.safe.set()
    await task
    assert store.order[4:] == ["settled", "told completed"]


async def test_one_part_keeps_its_id_through_all_states() -> None:
    store = SlowStore()
    store.safe.set()
    record, parts = begin(store)
    record.running(CALL)
    record.progress("half", {"n": 1})
    await record.finished(
        CALL, Result("out", title="t", metadata={"n": 2}, attachments=(Attachment(mime="m", url="u"),))
    )
    assert len({part.id for part in parts}) == 1
    assert {(part.session_id, part.message_id, part.call_id) for part in parts} == {("ses_1", "msg_1", "call_1")}
    end = parts[-1].state
    assert (end.output, end.title, end.metadata, end.input) == ("out", "t", {"n": 2}, {"filePath": "a"})
    assert [(file.mime, file.session_id, file.message_id) for file in end.attachments] == [("m", "ses_1", "msg_1")]


async def test_a_failure_keeps_its_kind_and_what_the_model_reads() -> None:
    store = SlowStore()
    store.safe.set()
    record, parts = begin(store)
    record.running(CALL)
    await record.finished(CALL, Result.failed(ToolError("There is no file a.", "missing")))
    end = parts[-1].state
    assert (end.status, end.kind, end.error) == ("error", "missing", "There is no file a.")


async def test_progress_before_the_start_and_after_the_end_is_ignored() -> None:
    store = SlowStore()
    store.safe.set()
    record, parts = begin(store)
    record.progress("too early", {})
    record.running(CALL)
    await record.finished(CALL, Result("out"))
    record.progress("too late", {})
    assert [part.state.status for part in parts] == ["pending", "running", "completed"]


async def test_the_time_of_a_call_is_its_own_without_that_at_a_question(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [1_000_000]
    monkeypatch.setattr("toolwright.session.records.call_record.now", lambda: clock[0])

    def answer(_: Question) -> Reply:
        clock[0] += 60_000
        return Reply(kind="once")

    config = {"permission": {"edit": "ask"}}
    async with make_workspace(project, config=config, user=answer) as workspace:
        session = workspace.sessions.create()
        log: list[Event] = []
        workspace.bus.subscribe(log.append)
        await session.run_call(Call(id="c1", tool="write", arguments={"filePath": "a.txt", "content": "a"}))
        parts = [one.part for one in log if isinstance(one, PartUpdated) and isinstance(one.part, ToolPart)]
        [end] = [part.state for part in parts if isinstance(part.state, Completed)]
        assert (end.time.start, end.time.end) == (1_060_000, 1_060_000)
