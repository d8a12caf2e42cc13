"""What comes with the result of a change, from a server that behaves and from servers that do not."""

import asyncio
from pathlib import Path

import pytest

from tests.lsp.stage import is_gone, stage, started, warmed
from toolwright.lsp import pool
from toolwright.lsp.diagnostics import OTHERS, PER_FILE
from toolwright.lsp.pool import Slot
from toolwright.workspace import Workspace


def slot_of(workspace: Workspace) -> Slot:
    return next(iter(workspace.languages.pool.slots.values()))


async def test_errors_of_the_content_on_disk_come_with_the_result(project: Path) -> None:
    async with stage(project) as workspace:
        written = await workspace.call("write", filePath="a.scr", content="fine\nBAD one\n")
        assert '<diagnostics file="a.scr">\nERROR [2:1] bad: BAD one\n</diagnostics>' in written.output
        assert "warning" not in written.output
        edited = await workspace.call("edit", filePath="a.scr", oldString="BAD one", newString="good")
        assert "<diagnostics" not in edited.output


async def test_a_patch_of_two_files_tells_of_both(project: Path) -> None:
    patch = "*** Begin Patch\n*** Add File: a.scr\n+BAD a\n*** Add File: b.scr\n+BAD b\n*** End Patch"
    async with stage(project) as workspace:
        result = await workspace.call("apply_patch", patchText=patch)
    assert "bad: BAD a" in result.output
    assert "bad: BAD b" in result.output


async def test_new_errors_elsewhere_are_told_once(project: Path) -> None:
    (project / "b.scr").write_text("fine\n")
    async with stage(project) as workspace:
        first = await workspace.call("write", filePath="a.scr", content="BREAK b.scr\n")
        assert "new errors in other files" in first.output
        assert '<diagnostics file="b.scr">\nERROR [1:1] broken from elsewhere' in first.output
        again = await workspace.call("write", filePath="a.scr", content="BREAK b.scr\n\n")
        assert "b.scr" not in again.output


async def test_no_more_errors_are_told_than_can_be_read(project: Path) -> None:
    async with stage(project) as workspace:
        result = await workspace.call("write", filePath="a.scr", content="BAD\n" * (PER_FILE + 5))
    assert result.output.count("ERROR [") == PER_FILE
    assert "... and 5 more" in result.output


async def test_new_errors_of_no_more_than_five_other_files_are_told(project: Path) -> None:
    names = [f"{letter}.scr" for letter in "bcdefgh"]
    for name in names:
        (project / name).write_text("fine\n")
    async with stage(project) as workspace:
        result = await workspace.call("write", filePath="a.scr", content="\n".join(f"BREAK {name}" for name in names))
    assert "(in 7 files, of which 5 are shown)" in result.output
    assert result.output.count("<diagnostics") == OTHERS


@pytest.mark.parametrize("mode", ["pulls", "unversioned", "lies", "late", "floods"])
async def test_the_errors_are_those_of_this_text_whatever_the_server_does(project: Path, mode: str) -> None:
    async with stage(project, mode) as workspace:
        first = await workspace.call("write", filePath="a.scr", content="BAD first\n")
        assert "bad: BAD first" in first.output
        second = await workspace.call("write", filePath="a.scr", content="BAD second\n")
        assert "bad: BAD second" in second.output
        assert "bad: BAD first" not in second.output
        third = await workspace.call("write", filePath="a.scr", content="good\n")
        assert "<diagnostics" not in third.output
        assert slot_of(workspace).patience == pool.PATIENCE


async def test_a_server_that_does_not_answer_is_named_and_waited_for_less(project: Path) -> None:
    async with stage(project, "silent") as workspace:
        found = workspace.languages.finder.for_file(project / "a.scr")[0]
        slot = workspace.languages.pool.slot(found)
        await workspace.languages.pool.client(found)
        slot.patience = 0.4
        result = await workspace.call("write", filePath="a.scr", content="BAD\n")
        assert "scripted did not answer within 0.4 s" in result.output
        assert (project / "a.scr").read_text() == "BAD\n"
        assert slot.patience < 0.4


async def test_a_server_that_is_still_starting_is_not_ready(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("toolwright.lsp.languages.START", 0.2)
    async with stage(project, "mute") as workspace:
        result = await workspace.call("write", filePath="a.scr", content="BAD\n")
        assert "scripted is not ready" in result.output
        assert result.error is None


async def test_a_server_that_dies_is_started_again_later_and_not_at_once(project: Path) -> None:
    async with stage(project, "dies", boxed=False) as workspace:
        first = await workspace.call("write", filePath="a.scr", content="BAD\n")
        assert first.error is None
        assert "scripted" in first.output
        await workspace.languages.pool.settled()
        second = await workspace.call("write", filePath="a.scr", content="BAD 2\n")
        assert "error: it is broken" in second.output
        assert "started again in" in second.output
        assert len(started(project)) == 1
        slot_of(workspace).retry_at = 0.0
        await workspace.call("write", filePath="a.scr", content="BAD 3\n")
        assert len(started(project)) == 2
        assert slot_of(workspace).failures >= 2


async def test_a_server_that_the_user_names_and_that_is_not_there_is_told_of(project: Path) -> None:
    mine = {"mine": {"command": ["no-such-server"], "extensions": [".scr"]}}
    async with stage(project, config={"lsp": mine}) as workspace:
        result = await workspace.call("write", filePath="a.scr", content="BAD\n")
        assert "mine cannot be started. There is no program 'no-such-server'" in result.output
        assert not [found.server.id for found in workspace.languages.finder.here() if found.server.id == "mine"]


async def test_a_read_has_the_server_ready_for_the_first_change(project: Path) -> None:
    (project / "a.scr").write_text("fine\n")
    async with stage(project) as workspace:
        await workspace.call("read", filePath="a.scr")
        await warmed(workspace, "a.scr")
        client = slot_of(workspace).client
        assert client is not None
        assert project / "a.scr" in client.documents


async def test_files_changed_behind_our_back_are_told_before_the_next_question(project: Path) -> None:
    async with stage(project) as workspace:
        await workspace.call("write", filePath="a.scr", content="def one\n")
        (project / "a.scr").write_text("def another and longer\n")
        await workspace.call("write", filePath="b.scr", content="fine\n")
        client = slot_of(workspace).client
        assert client is not None
        assert client.documents[project / "a.scr"].text == "def another and longer\n"


async def test_what_a_formatter_made_of_a_file_is_what_is_checked(project: Path) -> None:
    formatter = {"fix": {"command": ["sed", "-i", "s/WORSE/BAD/", "$FILE"], "extensions": [".scr"]}}
    async with stage(project, config={"formatter": formatter}) as workspace:
        result = await workspace.call("write", filePath="a.scr", content="WORSE\n")
    assert "Formatted with fix" in result.output
    assert "bad: BAD" in result.output


async def test_files_of_other_kinds_have_no_part_in_it(project: Path) -> None:
    async with stage(project, boxed=False) as workspace:
        result = await workspace.call("write", filePath="a.unknown", content="BAD\n")
    assert "<diagnostics" not in result.output
    assert not started(project)


async def test_with_the_gate_on_new_errors_are_told_first_thing(project: Path) -> None:
    async with stage(project, config={"edit": {"gate": True}}) as workspace:
        result = await workspace.call("write", filePath="a.scr", content="BAD\n")
        assert result.output.startswith("The change is made, but it brought 1 new error")
        same = await workspace.call("write", filePath="a.scr", content="BAD\n\n")
        assert not same.output.startswith("The change is made")


async def test_with_the_gate_on_one_word_undoes_just_the_last_change(project: Path) -> None:
    (project / "a.scr").write_text("first\n")
    async with stage(project, config={"edit": {"gate": True}}) as workspace, workspace.session() as session:
        await session.call("read", filePath="a.scr")
        await session.call("write", filePath="a.scr", content="second\n")
        broken = await session.call("edit", filePath="a.scr", oldString="second", newString="BAD")
        assert "call undo" in broken.output.splitlines()[0]
        undone = await session.call("undo")
        assert undone.output.endswith(":\nrestore a.scr"), undone.output
        assert (project / "a.scr").read_text() == "second\n"
        edited = await session.call("edit", filePath="a.scr", oldString="second", newString="third")
        assert edited.error is None, edited.output
        await session.call("undo")
        await session.call("undo")
        assert (project / "a.scr").read_text() == "first\n"
        none = await session.call("undo")
        assert none.error is not None
        assert "undone already" in none.output


async def test_undo_is_offered_only_with_the_gate_and_asks_for_the_edit(project: Path) -> None:
    async with stage(project) as without:
        assert "undo" not in [one.id for one in await without.registry.tools("p", "m", without.session().ruled_agent)]
    async with stage(project, config={"edit": {"gate": True}}) as workspace:
        assert "undo" in [one.id for one in await workspace.registry.tools("p", "m", workspace.session().ruled_agent)]
        session = workspace.session()
        await session.call("write", filePath="a.scr", content="BAD\n")
        session.permit({"edit": "deny"})
        refused = await session.call("undo")
    assert refused.error is not None
    assert refused.error.kind == "denied"
    assert (project / "a.scr").exists()


async def test_changes_made_side_by_side_are_each_told_their_own_errors(project: Path) -> None:
    async with stage(project) as workspace:
        await workspace.call("write", filePath="open.scr", content="fine\n")
        texts = {"a.scr": "BAD a\n", "b.scr": "fine\n", "c.scr": "BAD c\n", "d.scr": "fine\n"}
        written = [workspace.call("write", filePath=name, content=text) for name, text in texts.items()]
        results = dict(zip(texts, await asyncio.gather(*written), strict=True))
    for name, text in texts.items():
        assert results[name].output.count("<diagnostics") == text.count("BAD"), results[name].output
        assert "in other files" not in results[name].output


async def test_twenty_sessions_share_one_server_and_nothing_is_left(project: Path) -> None:
    async with stage(project, "pulls", boxed=False) as workspace:
        sessions = [workspace.session() for _ in range(20)]
        results = await asyncio.gather(
            *(one.call("write", filePath=f"{n}.scr", content=f"BAD {n}\n") for n, one in enumerate(sessions))
        )
        assert all(f"bad: BAD {n}" in result.output for n, result in enumerate(results))
        [pid] = started(project)
    assert is_gone(pid)


async def test_a_server_that_does_not_want_to_end_is_ended(project: Path) -> None:
    async with stage(project, "lingers", boxed=False) as workspace:
        await workspace.call("write", filePath="a.scr", content="fine\n")
        [pid] = started(project)
    assert is_gone(pid)
