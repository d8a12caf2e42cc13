"""Sessions: kept, copied, moved, deleted, taken in turns by processes, and put right after a crash."""

import asyncio
import json
import sqlite3
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tests.session.trial import Trial, call, calls, error_of, nothing_open, opened, read, says, words
from tests.waiting import patience, until
from toolwright.calls.parts import Running, Span, ToolPart
from toolwright.errors import UsageError
from toolwright.events import Event, PartUpdated
from toolwright.inbox import Question, Reply
from toolwright.messages import Assistant, Moment, SessionInfo
from toolwright.models.info import Prices
from toolwright.models.scripted import ScriptedModel
from toolwright.session.budget import Budget
from toolwright.session.events import SessionIdle
from toolwright.session.prompt import Prompt
from toolwright.session.records.conversation import Conversation
from toolwright.session.storage.on_disk import Storage
from toolwright.session.storage.owner import Owner
from toolwright.session.store import StorageError
from toolwright.session.undo.file_back import Selection
from toolwright.session.undo.undo import Undo
from toolwright.testing import make_workspace
from toolwright.text.ids import now

WRITE = call("write", filePath="b.txt", content="b\n")


async def test_a_session_goes_on_in_another_process_where_it_stood(project: Path) -> None:
    async with opened(project, calls(read()), says("One.")) as trial:
        await trial.prompt("First.")
        session_id = trial.session.id
    async with opened(project, says("Two.")) as again:
        session = await again.workspace.sessions.open(session_id)
        assert ((await session.turns.answer(Prompt(text="Second."))).message).text == "Two."
        assert "hello" in words(again.requests[0])
        assert (await again.workspace.sessions.latest()).id == session_id


async def test_a_fork_is_a_copy_under_ids_of_its_own(project: Path) -> None:
    """96"""
    async with opened(project, calls(read()), says("One."), says("Two."), says("Other.")) as trial:
        await trial.prompt("First.")
        await trial.prompt("Second.")
        sessions = trial.workspace.sessions
        whole = await sessions.fork(trial.session.id)
        part = await sessions.fork(trial.session.id, before=trial.messages[3].info.id)
        title = trial.session.conversation.info.title
        assert [whole.title, part.title] == [f"{title} (fork #1)", f"{title} (fork #2)"]
        copied = await sessions.messages(whole.id)
        assert [one.text for one in copied] == [one.text for one in trial.messages]
        ids = {one.info.id for one in copied}
        assert not ids & {one.info.id for one in trial.messages}
        assert {one.info.parent_id for one in copied if isinstance(one.info, Assistant)} <= ids
        assert len(await sessions.messages(part.id)) == 3
        assert (
            (await (await sessions.open(part.id)).turns.answer(Prompt(text="Differently."))).message
        ).text == "Other."
        assert len(await sessions.messages(trial.session.id)) == 5
        with pytest.raises(UsageError, match="no message"):
            await sessions.fork(whole.id, before="msg_none")


async def test_a_session_can_be_taken_elsewhere_and_back(project: Path, tmp_path: Path) -> None:
    async with opened(project, calls(read()), says("One.")) as trial:
        await trial.prompt("First.")
        value = json.loads(json.dumps(await trial.workspace.sessions.exported(trial.session.id)))
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    async with opened(elsewhere, says("Two.")) as other:
        info = await other.workspace.sessions.imported(value)
        brought = (await other.workspace.sessions.exported(info.id))["messages"]
        assert brought[0]["info"].pop("agent") == ""
        assert brought[0]["info"].pop("model") == {"providerID": "", "modelID": ""}
        for name in ("agent", "model"):  # it is for the user here to say who goes on
            del value["messages"][0]["info"][name]
        assert brought == value["messages"]
        assert info.directory == str(elsewhere)
        session = await other.workspace.sessions.open(info.id)
        assert ((await session.turns.answer(Prompt(text="Second."))).message).text == "Two."


async def test_a_session_from_elsewhere_brings_no_rights_and_overwrites_nobody(project: Path) -> None:
    allow = ({"permission": "*", "pattern": "*", "action": "allow"},)
    async with opened(project, says("One."), permission=allow) as trial:
        await trial.prompt("First.")
        sessions = trial.workspace.sessions
        value = await sessions.exported(trial.session.id)
        value["info"]["id"] = "ses_another"
        value["messages"][0]["parts"][0]["text"] = "Forged."
        info = await sessions.imported(value)
        assert info.permission is None
        assert [one.text for one in await sessions.messages(info.id)] == ["Forged.", "One."]
        assert [one.text for one in await trial.stored()] == ["First.", "One."]


@pytest.mark.parametrize("value", [None, {}, {"info": {}, "messages": []}, [], "x", {"info": 3, "messages": 4}])
async def test_what_is_no_session_is_not_taken_in(project: Path, value: object) -> None:
    async with opened(project) as trial:
        with pytest.raises(UsageError, match="not an exported session"):
            await trial.workspace.sessions.imported(value)


async def test_deleting_leaves_nothing_of_a_session_or_its_subagents(project: Path) -> None:
    """97, weakness 24"""
    todo = call("todowrite", todos=[{"id": "1", "content": "x", "status": "pending", "priority": "low"}])
    handed = call("task", description="Job", prompt="Sub job.", subagent_type="general")
    script = (calls(handed, todo), calls(WRITE, match="^Sub job"), says("Sub.", match="^Sub job"), says("One."))
    async with opened(project, *script) as trial:
        await trial.prompt("First.")
        sessions = trial.workspace.sessions
        session_id = trial.session.id
        [child] = await sessions.children(session_id)
        journal = trial.workspace.files.journal
        assert journal.entries(child.id)
        await sessions.delete(session_id)
        assert await sessions.listed() == []
        assert await sessions.store.todos(session_id) == []
        assert journal.entries(child.id) == []
        for one in (session_id, child.id):
            with pytest.raises(UsageError, match="no session"):
                await sessions.open(one)


async def test_deleting_a_session_at_work_stops_it_and_it_does_not_come_back(project: Path) -> None:
    model = ScriptedModel(says("One.", delay=600), title=says("Late title", delay=0.2))
    async with opened(project, model=model) as trial:
        turn = asyncio.create_task(trial.prompt())
        await until(lambda: trial.requests)
        await trial.workspace.sessions.delete(trial.session.id)
        assert error_of(await turn) == "MessageAbortedError"
        await trial.workspace.titles.settled()
        assert await trial.workspace.sessions.listed() == []


@pytest.mark.parametrize("session_id", ["ses_none", "nope", "", "../../etc/passwd", "ses_" + "x" * 500])
async def test_a_session_that_is_not_there_is_told_as_such(project: Path, session_id: str) -> None:
    """98"""
    async with opened(project) as trial:
        with pytest.raises(UsageError, match="session"):
            await trial.workspace.sessions.open(session_id)


async def test_the_latest_session_is_one_a_person_worked_in(project: Path) -> None:
    async with opened(project) as trial:
        for _ in range(120):
            trial.workspace.sessions.create(parent=trial.session)
        assert (await trial.workspace.sessions.latest()).id == trial.session.id
        assert len(await trial.workspace.sessions.listed()) == 121
        assert len(await trial.workspace.sessions.listed(roots=True)) == 1


async def test_a_session_without_a_store_lives_as_long_as_its_workspace(project: Path) -> None:
    async with opened(project, calls(read()), says("One."), keep=False) as trial:
        await trial.prompt("First.")
        assert len(await trial.stored()) == 3
    assert not (project.parent / "project.home" / ".local" / "share" / "toolwright" / "toolwright.db").exists()


# Rules of a session.


async def test_rules_of_a_session_hold_and_can_be_changed(project: Path) -> None:
    deny = ({"permission": "read", "pattern": "*", "action": "deny"},)
    script = (calls(read()), says("No."), calls(read()), says("Yes."))
    async with opened(project, *script, permission=deny) as trial:
        await trial.prompt()
        await trial.workspace.sessions.permit(trial.session.id, ())
        await trial.prompt()
        assert [part.state.status for one in trial.replies for part in one.calls] == ["error", "completed"]
        assert (await trial.workspace.sessions.info(trial.session.id)).permission is None


async def test_a_rule_that_is_none_is_refused(project: Path) -> None:
    async with opened(project) as trial:
        for rule in ({"permission": "read"}, {"permission": "read", "pattern": "*", "action": "perhaps"}):
            with pytest.raises(UsageError, match="no rule"):
                trial.workspace.sessions.create(permission=(rule,))


# Undo.


async def _undo(trial: Trial) -> Undo:
    return await Undo.of(trial.workspace.files, trial.session.conversation)


async def test_a_turn_taken_back_is_gone_once_the_user_goes_on(project: Path) -> None:
    """93, 95, weakness 5"""
    second = call("write", filePath="c.txt", content="c\n")
    script = (calls(WRITE), says("One."), calls(second), says("Two."), says("Three."))
    async with opened(project, *script) as trial:
        await trial.prompt("First.")
        await trial.prompt("Second.")
        await (await _undo(trial)).revert(Selection(turn=trial.messages[3].info.id))
        assert (project / "b.txt").exists()
        assert not (project / "c.txt").exists()
        assert len(await trial.stored()) == 6
        assert (await trial.prompt("Third.")).text == "Three."
        assert [one.text for one in await trial.stored()] == ["First.", "", "One.", "Third.", "Three."]
        assert trial.session.conversation.info.revert is None
        assert "Second." not in words(trial.requests[-1])


async def test_putting_back_does_not_overwrite_what_was_done_since(project: Path) -> None:
    """94, weakness 24"""
    async with opened(project, calls(WRITE), says("One.")) as trial:
        await trial.prompt("First.")
        undo = await _undo(trial)
        await undo.revert(Selection(turn=trial.messages[0].info.id))
        (project / "b.txt").write_text("mine\n")
        with pytest.raises(UsageError, match="changed after"):
            await undo.unrevert()
        assert (project / "b.txt").read_text() == "mine\n"


async def test_what_a_session_has_changed_is_summed_up_after_every_turn(project: Path) -> None:
    """Weakness 30"""
    edit = call("edit", filePath="a.txt", oldString="hello", newString="goodbye\nall")
    back = call("edit", filePath="a.txt", oldString="goodbye\nall", newString="hello")
    script = (calls(WRITE, read()), calls(edit), says("One."), calls(back), says("Two."))
    async with opened(project, *script) as trial:
        await trial.prompt("First.")
        assert (await trial.workspace.sessions.info(trial.session.id)).summary == {
            "additions": 3,
            "deletions": 1,
            "files": 2,
        }
        await trial.prompt("Second.")
        assert trial.session.conversation.info.summary == {"additions": 1, "deletions": 0, "files": 1}
        session_id = trial.session.id
    more = call("write", filePath="d.txt", content="d\n")
    async with opened(project, calls(more), says("Three.")) as again:
        session = await again.workspace.sessions.open(session_id)
        await session.turns.answer(Prompt(text="Third."))
        assert session.conversation.info.summary == {"additions": 2, "deletions": 0, "files": 2}


# Budgets.


@pytest.mark.parametrize(
    "budget", [Budget(steps=2), Budget(tokens=150), Budget(cost=0.0001), Budget(seconds=0.3)], ids=str
)
async def test_a_budget_that_is_used_up_ends_the_turn(project: Path, budget: Budget) -> None:
    nap = call("bash", command="sleep 0.2", description="Wait")
    script = calls(nap, repeat=True)
    config = {"sandbox": "off", "permission": {"doom_loop": "allow"}}
    async with opened(project, script, config=config, prices=Prices(input=1, output=1)) as trial:
        message = await trial.prompt(budget=budget)
        assert error_of(message) == "LimitReachedError"
        assert len(trial.requests) <= 2
        assert nothing_open(*await trial.stored())


async def test_time_is_up_in_the_middle_of_a_call_too(project: Path) -> None:
    slow = call("bash", command="sleep 3600", description="Wait")
    async with opened(project, calls(slow), config={"sandbox": "off"}) as trial:
        async with patience():
            message = await trial.prompt(budget=Budget(seconds=2))
        assert error_of(message) == "LimitReachedError"
        assert [part.state.status for part in message.calls] == ["error"]


# Other processes.


async def test_a_session_that_another_process_works_on_is_refused(project: Path) -> None:
    """Weakness 34"""
    async with opened(project, says("One."), says("Two.")) as trial:
        await trial.prompt("First.")
        other = Storage.open(trial.workspace.folders.database)
        await other.take(trial.session.id, Owner.new())
        with pytest.raises(UsageError, match="is working on"):
            await trial.prompt("Second.")
        assert len(await trial.stored()) == 2
        await other.close()
        assert (await trial.prompt("Second.")).text == "Two.", "the other has ended without letting go"


async def test_two_workspaces_of_one_process_take_turns_on_a_session_and_see_each_others_words(project: Path) -> None:
    async with opened(project, says("One."), says("Three.")) as trial:
        await trial.prompt("First.")
        asked, answered = asyncio.Event(), asyncio.Event()

        async def wait(_: Question) -> Reply:
            asked.set()
            await answered.wait()
            return Reply(kind="once")

        model = ScriptedModel(calls(read()), says("Two."))
        other = make_workspace(project, model=model, keep=True, user=wait, config={"permission": {"read": "ask"}})
        session = await other.sessions.open(trial.session.id)
        working = asyncio.create_task(session.turns.answer(Prompt(text="Second.")))
        await asked.wait()
        with pytest.raises(UsageError, match="working on"):
            await trial.prompt("Meanwhile.")
        answered.set()
        assert (await working).message.text == "Two."
        assert (await trial.prompt("Third.")).text == "Three."
        assert [one for one in words(trial.requests[-1]).splitlines() if one.endswith(".")][-3:] == [
            "First.",
            "Second.",
            "Third.",
        ]
        await other.close()


OPEN = """
import asyncio, sys
from pathlib import Path
from toolwright.messages import Moment, SessionInfo
from toolwright.session.storage.on_disk import Storage

async def main():
    storage = Storage.open(Path(sys.argv[1]))
    for number in range(25):
        storage.put_session(SessionInfo(id=f"ses_{sys.argv[2]}x{number}", project_id="p", directory="/", title="t",
                                        version="1", time=Moment(created=number)))
        await storage.settled()
    assert len(await storage.sessions("p", 10_000)) >= 25
    await storage.close()

asyncio.run(main())
"""


async def test_processes_that_open_one_new_database_at_once_all_get_to_write(tmp_path: Path) -> None:
    path = tmp_path / "new" / "sessions.db"
    started = [
        await asyncio.create_subprocess_exec(
            sys.executable, "-c", OPEN, str(path), str(number), stderr=asyncio.subprocess.PIPE
        )
        for number in range(4)
    ]
    ended = await asyncio.gather(*(process.communicate() for process in started))
    assert [process.returncode for process in started] == [0] * 4, [error.decode() for _, error in ended]
    storage = Storage.open(path)
    assert len(await storage.sessions("p", 10_000)) == 100
    await storage.close()


# After a crash.


async def test_what_a_dead_process_left_open_is_closed_at_the_next_start(project: Path) -> None:
    """99, weakness 6"""
    batch = call("batch", tool_calls=[{"tool": "read", "parameters": {"filePath": "a.txt"}}])
    config = {"experimental": {"batch_tool": True}}
    async with opened(project, calls(batch, read()), says("One."), says("Two."), config=config) as trial:
        await trial.prompt("First.")
        session_id = trial.session.id
        _tear(trial)
        dead = Storage.open(trial.workspace.folders.database)
        await dead.take(session_id, Owner.new())
        await dead.close()
        assert not nothing_open(*await trial.workspace.store.messages(session_id))
    async with opened(project, says("Two."), config=config) as again:
        assert nothing_open(*await again.workspace.sessions.messages(session_id)), "without being opened"
        assert await again.workspace.sessions.store.leases() == []
        session = await again.workspace.sessions.open(session_id)
        assert ((await session.turns.answer(Prompt(text="Second."))).message).text == "Two."
        assert "ended in the middle" in words(again.requests[0])


def _tear(trial: Trial) -> None:
    """Write the records as they are in the middle of the calls, those inside the batch included."""
    conversation: Conversation = trial.session.conversation
    reply = trial.replies[0]
    for part in list(reply.parts.values()):
        if isinstance(part, ToolPart):
            conversation.put_part(replace(part, state=Running(input={}, time=Span(start=now()))))
    assert isinstance(reply.info, Assistant)
    conversation.put_message(replace(reply.info, time=replace(reply.info.time, completed=None)))


async def test_one_damaged_record_does_not_hide_the_others(project: Path) -> None:
    """101, weakness 6"""
    async with opened(project, calls(read()), says("One."), says("Two.")) as trial:
        await trial.prompt("First.")
        await trial.prompt("Second.")
        store = trial.workspace.store
        assert isinstance(store, Storage)
        database = store.database
        another = trial.workspace.sessions.create()
        damage = (
            ("UPDATE part SET data = substr(data, 1, 40) WHERE id = ?", next(iter(trial.messages[2].parts))),
            ("UPDATE message SET data = '[]' WHERE id = ?", trial.messages[1].info.id),
            ("UPDATE session SET data = CAST(x'ff00fe' AS TEXT) WHERE id = ?", another.id),
        )
        for statement, value in damage:
            database.write(statement, value)
        assert [info.id for info in await trial.workspace.sessions.listed()] == [trial.session.id]
        assert [one.text for one in await trial.stored()] == ["First.", "One.", "Second.", "Two."]
        session_id = trial.session.id
    async with opened(project, says("Three.")) as again:
        assert (await (await again.workspace.sessions.open(session_id)).prompt("Third.")).text == "Three."


async def test_records_that_cannot_be_written_end_the_turn_and_are_written_later(project: Path) -> None:
    async with opened(project, calls(read()), says("Not reached."), says("Two.")) as trial:
        store = trial.workspace.store
        assert isinstance(store, Storage)
        database = store.database
        await database.run(lambda connection: connection.execute("PRAGMA busy_timeout = 20"))
        other = sqlite3.connect(database.path, isolation_level=None)

        def lock(event: Event) -> None:
            if isinstance(event, PartUpdated) and isinstance(event.part, ToolPart) and not other.in_transaction:
                other.execute("BEGIN IMMEDIATE")

        stop = trial.workspace.bus.subscribe(lock)
        async with patience():
            with pytest.raises(StorageError, match="is locked by another program"):
                await trial.prompt("First.")
        assert isinstance(trial.events[-1], SessionIdle)
        stop()
        other.close()
        assert (await trial.prompt("Second.")).text == "Not reached."
        assert nothing_open(*await trial.stored())
        assert [one.text for one in await trial.stored()] == ["First.", "", "Second.", "Not reached."]


async def test_a_file_that_is_no_database_is_set_aside(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "sessions.db"
    content = b"this is not a database at all, but long enough to look like a header" * 20
    path.write_bytes(content)
    storage = Storage.open(path)
    assert await storage.sessions("p") == []
    await storage.close()
    [aside] = tmp_path.glob("sessions.db.damaged-*")
    assert aside.read_bytes() == content
    assert f"the damaged file is now {aside}" in caplog.text


async def test_a_database_of_a_newer_version_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "sessions.db"
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    storage = Storage.open(path)
    with pytest.raises(UsageError, match="newer version"):
        await storage.sessions("p")
    await storage.close()


# Room.


async def test_old_sessions_can_be_deleted_with_their_subagents(project: Path, tmp_path: Path) -> None:
    storage = Storage.open(tmp_path / "sessions.db")

    def put(name: str, updated: int, parent: str | None = None) -> None:
        storage.put_session(
            SessionInfo(
                id=name, project_id="p", directory="/", title="t", version="1", parent_id=parent,
                time=Moment(created=1, updated=updated),
            )
        )  # fmt: skip

    put("ses_old", 10)
    put("ses_oldchild", 20, "ses_old")
    put("ses_kept", 10)
    put("ses_young", 500, "ses_kept")
    put("ses_busy", 10)
    put("ses_loop", 10, "ses_loop")
    await storage.take("ses_busy", Owner.new())
    async with make_workspace(project, store=storage) as workspace:
        assert set(await workspace.sessions.collect(100)) == {"ses_old", "ses_oldchild", "ses_loop"}
    assert {info.id for info in await storage.sessions("p")} == {"ses_kept", "ses_young", "ses_busy"}
    await storage.close()


async def test_the_room_of_deleted_sessions_is_given_back(project: Path, tmp_path: Path) -> None:
    storage = Storage.open(tmp_path / "sessions.db")
    for number in range(50):
        title = f"{number} " + "x" * 20_000
        info = SessionInfo(
            id=f"ses_{number}", project_id="p", directory="/", title=title, version="1", time=Moment(created=1)
        )
        storage.put_session(info)
    await storage.settled()
    full = await storage.size()
    assert full > 1_000_000
    async with make_workspace(project, store=storage) as workspace:
        assert len(await workspace.sessions.collect(100)) == 50
    assert await storage.size() < 100_000
    await storage.close()


async def test_the_todo_list_of_a_session_is_there_after_a_restart(project: Path) -> None:
    todo = call("todowrite", todos=[{"id": "1", "content": "x", "status": "pending", "priority": "low"}])
    async with opened(project, calls(todo), says("One.")) as trial:
        await trial.prompt()
        session_id = trial.session.id
    async with opened(project) as again:
        assert [one.content for one in await again.workspace.todos.of(session_id)] == ["x"]
