"""Where a rule asks about edits, a program that is about to make one waits for the answer."""

import asyncio

import pytest

from tests.capture.case import Case, captured, look, prepare, python
from toolwright.inbox import Question, Reply
from toolwright.permission.rules import Rule

ASKING = (Rule("*", "*", "allow"), Rule("edit", "*", "ask"))
FIX = python("import pathlib\nfor n in range(5): pathlib.Path(f'd/f{n}').write_text('fixed')")


def answers(case: Case, *replies: str) -> list[Question]:
    """Answer so, and the last of them from then on; what was asked."""
    asked = list[Question]()

    def answer(question: Question) -> Reply:
        asked.append(question)
        return Reply(kind=replies[min(len(asked), len(replies)) - 1])  # type: ignore[arg-type]

    case.shell.workspace.inbox.answer = answer
    return asked


async def test_a_program_waits_for_a_yes_to_each_file_and_is_not_asked_twice() -> None:
    async with captured(rules=ASKING) as case:
        prepare(case.project)
        asked = answers(case, "once")
        await case.run(python("for _ in range(3): open('d/f1', 'w').write('fixed')"))
        assert [question.patterns for question in asked if question.permission == "edit"] == [("d/f1",)]
        assert (case.project / "d" / "f1").read_text() == "fixed"
        assert "python" in asked[-1].title
        assert asked[-1].metadata["why"].endswith("opens it to write it")


async def test_after_a_no_nothing_more_is_changed_nor_asked() -> None:
    async with captured(rules=ASKING) as case:
        prepare(case.project)
        before = look(case.project)
        asked = answers(case, "reject")
        result = await case.run(FIX)
        assert "PermissionError" in result.output
        assert "the user said no to the change of d/f0" in result.output
        assert look(case.project) == before
        assert [question.patterns for question in asked if question.permission == "edit"] == [("d/f0",)]


async def test_from_the_fourth_on_all_in_the_folder_is_offered() -> None:
    async with captured(rules=ASKING) as case:
        prepare(case.project)
        asked = answers(case, "once", "once", "once", "always")
        await case.run(FIX)
        assert [question.always for question in asked] == [(), (), (), ("d/*",)]
        assert (case.project / "d" / "f4").read_text() == "fixed"


async def test_what_takes_the_place_of_a_file_is_shown_as_a_difference() -> None:
    async with captured(rules=ASKING) as case:
        (case.project / "a").write_text("old\n")
        asked = answers(case, "once")
        await case.run(python("import os; open('t', 'w').write('new\\n'); os.rename('t', 'a'); os.unlink('a')"))
        assert [question.patterns for question in asked] == [("t",), ("a",)]
        assert "-old\n+new" in asked[1].metadata["diff"]


async def test_the_clock_of_a_command_stands_still_while_it_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    async with captured(rules=ASKING) as case:
        (case.project / "a").write_text("old\n")
        loop = asyncio.get_running_loop()
        now = loop.time

        async def answer_late(question: Question) -> Reply:
            """An hour later."""
            monkeypatch.setattr(loop, "time", lambda: now() + 3600)
            for _ in range(20):
                await asyncio.sleep(0)
            return Reply(kind="once")

        case.shell.workspace.inbox.answer = answer_late
        result = await case.shell.bash(python("open('a', 'w').write('new')"), timeout=60_000)
        assert (result.metadata["exit"], (case.project / "a").read_text()) == (0, "new")


async def test_where_nobody_can_be_asked_it_is_refused_at_once() -> None:
    async with captured(rules=ASKING) as case:
        prepare(case.project)
        before = look(case.project)
        case.shell.workspace.inbox.answer = None
        result = await case.run(FIX)
        assert "PermissionError" in result.output
        assert look(case.project) == before


@pytest.mark.parametrize("command", ["sed -i s/old/new/ d/f1", "echo more >> d/f1", "rm d/f1"])
async def test_what_the_line_says_is_asked_before_and_not_again(command: str) -> None:
    async with captured(rules=ASKING) as case:
        prepare(case.project)
        asked = answers(case, "once")
        await case.run(command)
        assert [question.patterns for question in asked] == [("d/f1",)]


async def test_what_a_rule_denies_is_not_asked_and_not_made() -> None:
    rules = (*ASKING, Rule("edit", "*.lock", "deny"))
    async with captured(rules=rules) as case:
        (case.project / "x").touch()
        asked = answers(case, "once")
        result = await case.run(python("open('new.lock', 'w').write('x')"))
        assert "PermissionError" in result.output
        assert not (case.project / "new.lock").exists()
        assert asked == []


@pytest.mark.parametrize("reply", ["once", "reject"])
async def test_what_is_too_large_to_be_kept_is_asked_about_before_it_is_lost(reply: str) -> None:
    async with captured() as case:
        with (case.project / "big").open("wb") as file:
            file.truncate(65 * 1024 * 1024)
        asked = answers(case, reply)
        program = python("with open('big', 'r+') as f: f.write('new')")
        result = await case.run(program)
        assert [question.title for question in asked] == [
            "undo could not restore big (68 MB): it is too large to be kept"
        ]
        with (case.project / "big").open("rb") as file:
            assert file.read(3) == (b"new" if reply == "once" else b"\0\0\0")
        assert ("PermissionError" in result.output) == (reply == "reject")


async def test_what_can_be_made_again_is_not_asked_about() -> None:
    async with captured() as case:
        (case.project / ".gitignore").write_text("big\n")
        with (case.project / "big").open("wb") as file:
            file.truncate(65 * 1024 * 1024)
        asked = answers(case, "reject")
        await case.run(python("with open('big', 'r+') as f: f.write('new')"))
        assert asked == []
