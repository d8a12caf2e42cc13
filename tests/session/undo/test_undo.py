"""Undo through whole sessions: by turn, call and file, with batches and subagents, back and forth."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.rounds import rounds
from tests.session.trial import Trial, call, calls, opened, read, says
from toolwright.errors import UsageError
from toolwright.files.journal import JournalEntry
from toolwright.models.scripted import ScriptedCall
from toolwright.session.undo.file_back import Selection
from toolwright.session.undo.undo import RecordedChange, Undo, standing_changes


def write(name: str, content: str) -> Any:
    return call("write", filePath=name, content=content)


def edit(name: str, old: str, new: str) -> Any:
    return call("edit", filePath=name, oldString=old, newString=new)


async def undo_of(trial: Trial) -> Undo:
    return await Undo.of(trial.workspace.files, trial.session.conversation)


async def test_back_and_forth_and_back_again(project: Path) -> None:
    async with opened(project, calls(read()), calls(edit("a.txt", "hello", "goodbye")), says("Done.")) as trial:
        await trial.prompt()
        turn = Selection(turn=trial.messages[0].info.id)
        undo = await undo_of(trial)
        for _ in range(3):
            await undo.revert(turn)
            assert (project / "a.txt").read_text() == "hello\nworld\n"
            with pytest.raises(UsageError, match="undone already"):
                undo.plan(turn)
            await undo.unrevert()
            assert (project / "a.txt").read_text() == "goodbye\nworld\n"
        assert trial.session.conversation.info.revert is None


async def test_one_call_of_several_and_what_stands_in_its_way(project: Path) -> None:
    script = (calls(read()), calls(edit("a.txt", "hello", "one")), calls(edit("a.txt", "one", "two")), says("Done."))
    async with opened(project, *script) as trial:
        await trial.prompt()
        first, second = trial.replies[1].calls[0].call_id, trial.replies[2].calls[0].call_id
        undo = await undo_of(trial)
        with pytest.raises(UsageError, match="undo that one first"):
            undo.plan(Selection(call=first))
        await undo.revert(Selection(call=second))
        assert (project / "a.txt").read_text() == "one\nworld\n"
        await undo.revert(Selection(call=first))
        assert (project / "a.txt").read_text() == "hello\nworld\n"


async def test_one_file_of_a_turn(project: Path) -> None:
    async with opened(project, calls(write("b.txt", "b\n"), write("c.txt", "c\n")), says("Done.")) as trial:
        await trial.prompt()
        await (await undo_of(trial)).revert(Selection(turn=trial.messages[0].info.id, file="b.txt"))
        assert not (project / "b.txt").exists()
        assert (project / "c.txt").exists()


async def test_pieces_of_a_file_are_undone_one_by_one_and_made_again(project: Path) -> None:
    before = "".join(f"line {number}\n" for number in range(60))
    (project / "long.txt").write_text(before)
    changed = before.replace("line 5\n", "five\n").replace("line 50\n", "fifty\nfifty more\n")
    async with opened(project, calls(read("long.txt")), calls(write("long.txt", changed)), says("Done.")) as trial:
        await trial.prompt()
        undo = await undo_of(trial)
        [plan] = undo.plan(Selection(file="long.txt"))
        upper, lower = plan.hunks()
        assert "+line 50" in lower.text
        await undo.revert(Selection(turn=trial.messages[0].info.id, file="long.txt", hunks=(lower.id,)))
        assert (project / "long.txt").read_text() == before.replace("line 5\n", "five\n")
        assert "messageID" not in (trial.session.conversation.info.revert or {})
        with pytest.raises(UsageError, match="Look at it again"):
            undo.plan(Selection(file="long.txt", hunks=(lower.id,)))
        await undo.unrevert()
        assert (project / "long.txt").read_text() == changed
        await undo.revert(Selection(file="long.txt", hunks=(upper.id,)))
        # What is left goes with the call that made it.
        await undo.revert(Selection(call=trial.replies[1].calls[0].call_id))
        assert (project / "long.txt").read_text() == before


async def test_changes_inside_a_batch_are_taken_back_with_it(project: Path) -> None:
    inner = [{"tool": "write", "parameters": {"filePath": f"{name}.txt", "content": "x\n"}} for name in "bc"]
    config = {"experimental": {"batch_tool": True}}
    async with opened(project, calls(call("batch", tool_calls=inner)), says("Done."), config=config) as trial:
        await trial.prompt()
        assert (project / "c.txt").exists()
        await (await undo_of(trial)).revert(Selection(turn=trial.messages[0].info.id))
        assert not (project / "b.txt").exists()
        assert not (project / "c.txt").exists()


@pytest.mark.parametrize("by", ["turn", "call"])
async def test_changes_of_a_subagent_are_taken_back_with_its_task(project: Path, by: str) -> None:
    """Weakness 5"""
    handed = call("task", description="Job", prompt="Sub job.", subagent_type="general")
    script = (
        calls(write("own.txt", "own\n")),
        calls(handed),
        calls(write("sub.txt", "sub\n"), match="^Sub job"),
        says("Sub.", match="^Sub job"),
        says("Done."),
    )
    async with opened(project, *script) as trial:
        await trial.prompt()
        task = trial.replies[1].calls[0].call_id
        selection = Selection(turn=trial.messages[0].info.id) if by == "turn" else Selection(call=task)
        undo = await undo_of(trial)
        assert len(undo.changes()) == 2
        await undo.revert(selection)
        assert not (project / "sub.txt").exists()
        assert (project / "own.txt").exists() == (by == "call")
        await undo.unrevert()
        assert (project / "sub.txt").read_text() == "sub\n"


async def test_a_file_that_somebody_has_changed_since_is_left_alone_and_so_are_the_others(project: Path) -> None:
    async with opened(project, calls(write("b.txt", "b\n"), write("c.txt", "c\n")), says("Done.")) as trial:
        await trial.prompt()
        (project / "c.txt").write_text("mine\n")
        with pytest.raises(UsageError, match="changed after") as refused:
            await (await undo_of(trial)).revert(Selection(turn=trial.messages[0].info.id))
        told = f"Nothing was undone. One other file can be undone by name (--file), such as {project / 'b.txt'}."
        assert str(refused.value).endswith(told)
        assert (project / "b.txt").exists()
        assert (project / "c.txt").read_text() == "mine\n"


async def test_a_call_is_an_undo_by_what_it_did_and_not_by_its_id(project: Path) -> None:
    """The id of a call is the provider's to choose."""
    made: ScriptedCall = {"name": "write", "args": {"filePath": "b.txt", "content": "b\n"}, "id": "undo_1"}
    again: ScriptedCall = {"name": "write", "args": {"filePath": "b.txt", "content": "c\n"}, "id": "undo_2"}
    async with opened(project, calls(made), calls(again), says("Done.")) as trial:
        await trial.prompt()
        undo = await undo_of(trial)
        with pytest.raises(UsageError, match="was changed again by call undo_2"):
            undo.plan(Selection(call="undo_1"))
        await undo.revert(Selection(call="undo_2"))
        assert (project / "b.txt").read_text() == "b\n"
        await undo.unrevert()
        assert (project / "b.txt").read_text() == "c\n"


def test_what_an_older_version_has_undone_is_still_known_as_an_undo() -> None:
    told = {"call_id": "undo_1", "path": "/x", "before": None, "after": None, "time": 1.0}
    assert JournalEntry.from_json(told).undoes
    assert not JournalEntry.from_json(told | {"call_id": "call_1"}).undoes
    assert not JournalEntry.from_json(told | {"undoes": False}).undoes


STATES = st.sampled_from(["a", "b", "c", None])


@settings(max_examples=rounds(120, 500))
@given(st.lists(st.one_of(STATES.map(lambda state: ("set", state)), st.just(("undo", "")), st.just(("redo", "")))))
def test_the_changes_that_stand_lead_from_the_first_state_to_the_last(steps: list[tuple[str, str | None]]) -> None:
    """Changes, undoing the newest and redoing it, in any order: the standing ones are a chain."""
    history: list[RecordedChange] = []
    state: str | None = "start"
    model: list[tuple[str | None, str | None]] = []
    undone: tuple[str | None, str | None] | None = None
    for number, (kind, wanted) in enumerate(steps):
        before = state
        if kind == "set" and wanted != state:
            model.append((before, wanted))
            state, undone = wanted, None
        elif kind == "undo" and model:
            undone = model.pop()
            state = undone[0]
        elif kind == "redo" and undone:
            model.append(undone)
            state, undone = undone[1], None
        else:
            continue
        undoes = kind != "set"
        entry = JournalEntry(call_id=f"{number}", path="/x", before=before, after=state, undoes=undoes, time=number)
        history.append(RecordedChange("ses_1", entry))
    standing = [made.entry for made in standing_changes(history)]
    assert all(one.after == other.before for one, other in pairwise(standing))
    if standing:
        assert standing[-1].after == state
    else:
        assert state == "start"
