"""Work handed to agents in copies, and brought back at their end: as one step of the caller's, or not at all."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.session.trial import Trial, call, calls, opened, results, says, words
from toolwright.app.undoing import undo
from toolwright.copies.handing import CopyWork
from toolwright.copies.store import Copies, Copy
from toolwright.inbox import Question, Reply
from toolwright.models.scripted import ScriptedTurn
from toolwright.session.undo.file_back import Selection
from toolwright.testing import ScriptedUser

HELLO = "hello\nworld\n"


def task(words: str, **more: Any) -> Any:
    given = {"description": "Try it", "prompt": words, "subagent_type": "general", "copy": True}
    return call("task", **given | more)


def writing(words: str, path: str, content: str) -> tuple[ScriptedTurn, ScriptedTurn, ScriptedTurn]:
    """What the agent does that is told these words."""
    match = f"^{words}"
    read, write = call("read", filePath="a.txt"), call("write", filePath=path, content=content)
    return calls(read, match=match), calls(write, match=match), says(f"{words} is done.", match=match)


@asynccontextmanager
async def asked(project: Path, *script: ScriptedTurn, **more: Any) -> AsyncIterator[Trial]:
    config = {"sandbox": "off"} | more.pop("config", {})
    async with opened(project, *script, config=config, **more) as trial:
        trial.workspace.elsewhere = CopyWork(trial.workspace).begin
        yield trial


def copies_of(trial: Trial) -> list[Copy]:
    return Copies.of(trial.workspace.folders).found()


@pytest.mark.parametrize("background", [False, True])
async def test_the_work_comes_back_with_the_end_of_the_task_and_one_undo_takes_it_back(
    project: Path, background: bool
) -> None:
    begun = [says("Begun.")] if background else []
    script = (calls(task("Try one", background=background)), *writing("Try one", "sub/b.txt", "b\n"), *begun)
    async with asked(project, *script, says("Done.")) as trial:
        assert (await trial.prompt()).text == "Done."
        assert (project / "sub" / "b.txt").read_text() == "b\n"
        told = words(trial.requests[-1])
        assert "It worked in a copy, and its work is in the project now: sub/b.txt. No check was run" in told
        assert copies_of(trial) == []
        [plan] = await undo(trial.workspace, trial.session, Selection(call=trial.replies[0].calls[0].call_id))
        assert plan.path == str(project / "sub" / "b.txt")
        assert sorted(one.name for one in project.iterdir()) == ["a.txt"]


async def test_of_two_that_contradict_each_other_the_second_is_told_what_each_side_wanted(project: Path) -> None:
    one = writing("Try one", "a.txt", "hello\none\n")
    two = writing("Try two", "a.txt", "hello\ntwo\n")
    async with asked(project, calls(task("Try one"), task("Try two")), *one, *two, says("Done.")) as trial:
        await trial.prompt()
        first, second = sorted(results(trial.replies[0]), key=lambda told: "not in the project" in told)
        kept = (project / "a.txt").read_text()
        mine, other = ("one", "two") if kept == "hello\none\n" else ("two", "one")
        assert f"Try {mine} is done.\n\nIt worked in a copy, and its work is in the project now: a.txt." in first
        [copy] = copies_of(trial)
        assert f"Its work is in the copy {copy.name} and not in the project: a.txt." in second
        wanted, made = second.split("The project has made of it:")
        assert "a.txt: both sides change the same lines" in wanted or "a.txt: " in wanted
        assert f"+{other}\n" in wanted
        assert f"+{mine}\n" in made


async def test_different_work_of_agents_at_once_is_all_in_the_project(project: Path) -> None:
    names = ("Try one", "Try two", "Try six")
    script = [turn for name in names for turn in writing(name, f"{name[-3:]}.txt", f"{name}\n")]
    async with asked(project, calls(*map(task, names)), *script, says("Done.")) as trial:
        await trial.prompt()
        assert sorted(one.name for one in project.iterdir()) == ["a.txt", "one.txt", "six.txt", "two.txt"]
        assert copies_of(trial) == []


async def test_what_the_check_refuses_stays_in_the_copy_and_the_caller_hears_which_file_is_to_blame(
    project: Path,
) -> None:
    script = (calls(task("Try one")), *writing("Try one", "a.txt", "gone\n"), says("Done."))
    config = {"copies": {"check": "grep -q world a.txt"}}
    async with asked(project, *script, config=config) as trial:
        await trial.prompt()
        [told] = results(trial.replies[0])
        assert "It was not merged, for the check fails with it because of a.txt. `grep -q world a.txt` ended" in told
        assert (project / "a.txt").read_text() == HELLO
        assert [one.purpose for one in copies_of(trial)] == ["Try one"]


async def test_what_the_check_accepts_says_so(project: Path) -> None:
    script = (calls(task("Try one")), *writing("Try one", "b.txt", "b\n"), says("Done."))
    config = {"copies": {"check": "grep -q world a.txt"}}
    async with asked(project, *script, config=config) as trial:
        await trial.prompt()
        assert "in the project now: b.txt. `grep -q world a.txt` holds with it." in results(trial.replies[0])[0]


@pytest.mark.parametrize("background", [False, True])
@pytest.mark.parametrize("reply", ["once", "reject"])
async def test_a_person_who_is_asked_about_edits_is_asked_about_the_merge(
    project: Path, reply: Any, background: bool
) -> None:
    begun = [says("Begun.")] if background else []
    script = (calls(task("Try one", background=background)), *writing("Try one", "b.txt", "b\n"), *begun, says("Done."))
    user = ScriptedUser.saying("once", reply)
    async with asked(project, *script, config={"permission": {"edit": "ask"}}, user=user) as trial:
        assert (await trial.prompt()).text == "Done."
        inside, merge = user.questions
        assert (merge.permission, merge.patterns, merge.session_id) == ("edit", ("b.txt",), trial.session.id)
        assert inside.session_id != trial.session.id
        assert "+b" in merge.metadata["diff"]
        assert (project / "b.txt").exists() == (reply == "once")
        assert len(copies_of(trial)) == (reply != "once")
        assert ("It could not be merged: " in words(trial.requests[-1])) == (reply != "once")


async def test_by_hand_leaves_the_work_in_the_copy_and_undo_leaves_it_alone(project: Path) -> None:
    both = calls(task("Try one"), call("write", filePath="c.txt", content="c\n"))
    script = (both, *writing("Try one", "b.txt", "b\n"), says("Done."))
    async with asked(project, *script, config={"copies": {"merge": "by_hand"}}) as trial:
        await trial.prompt()
        [copy] = copies_of(trial)
        [first, _] = results(trial.replies[0])
        assert f"Its work is in the copy {copy.name} and not in the project: b.txt." in first
        await undo(trial.workspace, trial.session, Selection())
        assert not (project / "b.txt").exists()
        assert not (project / "c.txt").exists()
        assert (copy.folder / "b.txt").read_text() == "b\n"


async def test_work_that_was_broken_off_is_not_merged(project: Path) -> None:
    first, second, _ = writing("Try one", "b.txt", "b\n")
    breaks = says("", match="^Try one", error={"kind": "auth", "message": "no key"}, repeat=True)
    async with asked(project, calls(task("Try one")), first, second, breaks, says("Done.")) as trial:
        await trial.prompt()
        assert not (project / "b.txt").exists()
        assert "did not finish its task" in results(trial.replies[0])[0]
        assert await copies_of(trial)[0].changed() == ["b.txt"]


async def test_a_file_that_changes_while_the_person_is_asked_is_merged_anew(project: Path) -> None:
    lines = [f"{number}\n" for number in range(9)]
    (project / "long.txt").write_text("".join(lines))
    asked_about_merge = list[str]()

    def person(question: Question) -> Reply:
        if question.metadata.get("filepath") == "long.txt" and question.title.startswith("merge "):
            asked_about_merge.append(question.title)
            (project / "long.txt").write_text("".join(["mine\n", *lines[1:]]))
        return Reply(kind="once")

    work = calls(call("bash", command="sed -i 's/8/theirs/' long.txt", description="Edit"), match="^Try one")
    script = (calls(task("Try one")), work, says("Done there.", match="^Try one"), says("Done."))
    async with asked(project, *script, config={"permission": {"edit": "ask"}}, user=person) as trial:
        await trial.prompt()
        assert "its work is in the project now: long.txt." in results(trial.replies[0])[0]
    assert len(asked_about_merge) == 2
    assert (project / "long.txt").read_text() == "".join(["mine\n", *lines[1:8], "theirs\n"])
