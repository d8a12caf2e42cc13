"""Storage: in order, safe once settled, and no row or thread takes the rest down with it."""

import asyncio
import json
import sqlite3
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.waiting import patience, until
from toolwright.call import call_from_text
from toolwright.calls.parts import Completed, Pending, Span, ToolPart
from toolwright.definition import Call, Result, ToolContext, tool
from toolwright.errors import UsageError
from toolwright.messages import Moment, SessionInfo
from toolwright.session.storage.on_disk import Storage
from toolwright.session.store import StorageError
from toolwright.testing import make_session, make_workspace
from toolwright.text.ids import now


def part(number: int, output: str = "x", session: str = "ses_1") -> ToolPart:
    state = Completed(input={}, output=output, title="", metadata={}, time=Span(start=1, end=2))
    return ToolPart(
        id=f"prt_{number}", session_id=session, message_id="msg_1", call_id=f"call_{number}", tool="read", state=state
    )


def rows(path: Path, query: str = "SELECT data FROM part ORDER BY seq") -> list[Any]:
    connection = sqlite3.connect(path)
    try:
        return [text for (text,) in connection.execute(query)]
    finally:
        connection.close()


async def test_parts_stay_in_the_order_they_first_came(tmp_path: Path) -> None:
    storage = Storage.open(tmp_path / "data" / "x.db")
    for number in (3, 1, 2):
        storage.put_part(part(number))
    storage.put_part(part(3, "changed"))
    await storage.settled()
    assert rows(storage.database.path, "SELECT id FROM part ORDER BY seq") == ["prt_3", "prt_1", "prt_2"]
    assert "changed" in rows(storage.database.path)[0]
    await storage.close()


async def test_what_is_settled_survives_a_kill(tmp_path: Path) -> None:
    code = f"""
import asyncio, os, signal
from pathlib import Path
from tests.session.storage.test_on_disk import part
from toolwright.session.storage.on_disk import Storage

async def main():
    storage = Storage.open(Path({str(tmp_path / "x.db")!r}))
    for number in range(50):
        storage.put_part(part(number))
    await storage.settled()
    os.kill(os.getpid(), signal.SIGKILL)

asyncio.run(main())
"""
    root = Path(__file__).parents[3]
    await asyncio.to_thread(subprocess.run, [sys.executable, "-c", code], cwd=root, check=False)
    assert len(rows(tmp_path / "x.db")) == 50


async def test_two_processes_worth_of_writers_share_one_file(tmp_path: Path) -> None:
    one, two = Storage.open(tmp_path / "x.db"), Storage.open(tmp_path / "x.db")
    for number in range(100):
        (one if number % 2 else two).put_part(part(number))
    await asyncio.gather(one.settled(), two.settled())
    assert len(rows(tmp_path / "x.db")) == 100
    await asyncio.gather(one.close(), two.close())


@pytest.mark.parametrize("text", ["half \ud83d pair", "ends \udfff", "fine é 味 😀", "nul \0"])
async def test_any_text_a_model_can_write_is_stored_and_comes_back(tmp_path: Path, text: str) -> None:
    storage = Storage.open(tmp_path / "x.db")
    storage.put_part(part(1, text))
    async with patience():
        await storage.settled()
    [stored] = rows(storage.database.path)
    assert json.loads(stored)["state"]["output"] == text
    await storage.close()


async def test_a_file_that_takes_nothing_is_told_and_what_it_missed_is_written_later(tmp_path: Path) -> None:
    storage = Storage.open(tmp_path / "x.db")
    await storage.settled()
    blocker = sqlite3.connect(storage.database.path)
    blocker.execute("ALTER TABLE part RENAME TO elsewhere")
    storage.put_part(part(1))
    with pytest.raises(StorageError, match="is damaged: no such table: part"):
        async with patience():
            await storage.settled()
    blocker.execute("ALTER TABLE elsewhere RENAME TO part")
    blocker.close()
    storage.put_part(part(2))
    async with patience():
        await storage.settled()
    assert rows(storage.database.path, "SELECT id FROM part ORDER BY seq") == ["prt_1", "prt_2"]
    await storage.close()


def _session(number: int, **changes: Any) -> SessionInfo:
    info = SessionInfo(
        id=f"ses_{number}", project_id="p", directory="/", title="t", version="1", time=Moment(created=number)
    )
    return replace(info, **changes)


class _Unspeakable:
    def __str__(self) -> str:
        raise RuntimeError("no words")


UNWRITABLE = {
    "a number too large": _session(2, time=Moment(created=10**30)),
    "a name that is no text": _session(2, project_id="half \ud83d"),
    "a key that is no value": _session(2, parent_id={"a": 1}),
}


@pytest.mark.parametrize("record", UNWRITABLE.values(), ids=UNWRITABLE)
async def test_a_record_that_can_never_be_written_is_told_and_takes_no_other_along(
    tmp_path: Path, record: SessionInfo
) -> None:
    storage = Storage.open(tmp_path / "x.db")
    for info in (_session(1), record, _session(3)):
        storage.put_session(info)
    with pytest.raises(StorageError):
        await storage.settled()
    storage.put_session(_session(4))
    await storage.settled()
    assert [info.id for info in await storage.sessions("p")] == ["ses_4", "ses_3", "ses_1"]
    await storage.close()


async def test_a_record_without_words_is_told_and_takes_no_other_along(tmp_path: Path) -> None:
    storage = Storage.open(tmp_path / "x.db")
    state = Completed(input={}, output="", title="", metadata={"odd": _Unspeakable()}, time=Span(start=1))
    for one in (part(1), replace(part(2), state=state), part(3)):
        storage.put_part(one)
    with pytest.raises(StorageError, match="RuntimeError: no words"):
        await storage.settled()
    assert rows(storage.database.path, "SELECT id FROM part ORDER BY seq") == ["prt_1", "prt_3"]
    await storage.close()


async def test_whatever_goes_wrong_in_either_thread_is_told_and_the_thread_lives_on(tmp_path: Path) -> None:
    storage = Storage.open(tmp_path / "x.db")

    def fail(_: sqlite3.Connection) -> None:
        raise ZeroDivisionError("of all things")

    for ask in (storage.database.run, storage.database.read):
        with pytest.raises(StorageError, match="ZeroDivisionError: of all things"):
            await ask(fail)
    storage.put_part(part(1))
    await storage.settled()
    assert await storage.knows("prt_1")
    await storage.close()
    with pytest.raises(StorageError, match="it was closed"):
        await storage.knows("prt_1")


def test_a_loop_that_has_gone_does_not_take_the_writer_with_it(tmp_path: Path) -> None:
    storage = Storage.open(tmp_path / "x.db")

    async def leave() -> None:
        asyncio.ensure_future(storage.settled())  # noqa: RUF006 - left behind on purpose
        await asyncio.sleep(0)

    for _ in range(20):
        asyncio.run(leave())

    async def stay() -> None:
        storage.put_part(part(1))
        async with patience():
            await storage.settled()
        await storage.close()

    asyncio.run(stay())
    assert len(rows(storage.database.path)) == 1


async def test_one_damaged_row_hides_no_other(project: Path) -> None:
    workspace = make_workspace(project, keep=True)
    conversation = workspace.sessions.create()
    session_id = conversation.id
    await workspace.store.settled()
    connection = sqlite3.connect(workspace.folders.database)
    connection.execute(
        "INSERT INTO session (id, project_id, updated, data) SELECT 'ses_bad', project_id, 1, '{broken' FROM session"
    )
    connection.commit()
    connection.close()
    storage = workspace.sessions.store
    project_id = (await storage.session(session_id)).project_id
    assert [info.id for info in await storage.sessions(project_id)] == [session_id]
    await workspace.close()


async def test_a_session_that_is_not_there_is_named(tmp_path: Path) -> None:
    storage = Storage.open(tmp_path / "x.db")
    with pytest.raises(UsageError, match="There is no session 'ses_other'"):
        await storage.session("ses_other")
    await storage.close()


@tool(asks=True)
async def odd(ctx: ToolContext, text: str = "ok") -> Result:
    """Puts strange things into its metadata."""
    return Result(text, metadata={"bytes": b"\xff", "set": {1}, "path": Path("a")})


async def test_metadata_that_json_does_not_know_does_not_break_the_record(project: Path) -> None:
    workspace = make_workspace(project, tools=[odd], keep=True)
    assert (await workspace.call("odd")).output == "ok"
    assert '"bytes":"b\'\\\\xff\'"' in rows(workspace.folders.database)[0]
    await workspace.close()


async def test_broken_unicode_in_arguments_does_not_stop_the_session(project: Path) -> None:
    workspace = make_workspace(project, tools=[odd], keep=True)
    call = call_from_text("call_1", "odd", '{"text": "half \\ud83d pair"}')
    async with patience():
        result = await workspace.session().run_call(call)
    assert result.output == "half \ud83d pair"
    await workspace.close()


async def test_calls_without_a_conversation_are_found_when_they_are_old(project: Path) -> None:
    async with make_workspace(project, tools=[odd], keep=True) as workspace:
        session = workspace.session()
        await session.call("odd")
        assert await workspace.store.unused_since(now() - 60_000) == []
        assert await workspace.store.unused_since(now() + 60_000) == [session.id]
        await session.close()
        await workspace.sessions.collect(now() + 60_000)
        assert rows(workspace.folders.database) == []


async def test_calls_are_recorded_only_where_they_are_kept(project: Path) -> None:
    session = make_session(project, tools=[odd])
    await session.run_call(Call(id="call_1", tool="odd", arguments={}))
    assert not (project.parent / "project.home").exists()
    assert Pending().status == "pending"


async def test_nothing_is_looked_for_in_a_file_that_was_removed(tmp_path: Path) -> None:
    """A lease that can no longer be renewed is not due again and again: its thread would look all the time."""
    storage = Storage.open(tmp_path / "x.db", beat_seconds=0.001)
    writer = storage.database.writer
    writer.beat = lambda connection: connection.execute("SELECT 1")
    await storage.settled()
    await until(lambda: writer.due is not None)
    (tmp_path / "x.db").unlink()
    await until(lambda: writer.due is None)
    await storage.close()
