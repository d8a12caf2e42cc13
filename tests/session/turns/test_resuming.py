"""Questions that outlive the process that asked them: left, found again, answered, and the turn goes on."""

import asyncio
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from toolwright import Question, Reply, TurnResult, UsageError, open_workspace
from toolwright.models.scripted import ScriptedCall
from toolwright.testing import ScriptedModel


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    return {"HOME": str(tmp_path / "home")}


def writing(name: str) -> ScriptedCall:
    return {"name": "write", "args": {"filePath": name, "content": "x\n"}}


async def left(project: Path, home: dict[str, str], *calls: ScriptedCall) -> list[Question]:
    """The questions with which a workspace is closed, in mid-turn."""
    model = ScriptedModel({"tools": list(calls)})
    asked = asyncio.Event()
    questions: list[Question] = []

    def later(question: Question) -> None:
        questions.append(question)
        if len(questions) == len(calls):
            asked.set()

    rules = {"edit": "ask"}
    async with open_workspace(project, model=model, rules=rules, answer=later, keep=True, environment=home) as w:
        session = await w.session().__aenter__()
        turn = asyncio.create_task(session.prompt("Write."))
        await asked.wait()
    assert (await turn).error is not None
    return questions


async def resumed(
    project: Path, home: dict[str, str], question: Question, reply: Any, **more: Any
) -> tuple[TurnResult[None], ScriptedModel]:
    model = ScriptedModel({"text": "Done."})
    async with (
        open_workspace(project, model=model, keep=True, environment=home, **({"rules": {"edit": "ask"}} | more)) as w,
        w.session(id=question.session_id) as s,
    ):
        return await s.resume(question.id, reply), model


async def test_a_question_is_found_and_answered_when_its_process_is_over(project: Path, home: dict[str, str]) -> None:
    [asked] = await left(project, home, writing("new.txt"))
    async with open_workspace(project, keep=True, environment=home) as w:
        [found] = await w.waiting()
    assert (found.id, found.session_id, found.tool, dict(found.arguments)) == (
        asked.id,
        asked.session_id,
        "write",
        writing("new.txt")["args"],
    )
    assert (found.permission, found.patterns, found.metadata["diff"]) == ("edit", ("new.txt",), asked.metadata["diff"])
    result, model = await resumed(project, home, found, "once")
    assert (result.text, result.error, [call.tool for call in result.calls]) == ("Done.", None, ["write"])
    assert (project / "new.txt").read_text() == "x\n"
    assert "Created new.txt" in str(model.requests[-1].messages)
    async with open_workspace(project, keep=True, environment=home) as w:
        assert await w.waiting() == []


async def test_a_process_that_is_killed_leaves_its_question_as_well(project: Path, home: dict[str, str]) -> None:
    program = f"""
import asyncio, os
from toolwright import open_workspace
from toolwright.testing import ScriptedModel

async def main():
    model = ScriptedModel({{"tools": [{writing("new.txt")!r}]}})
    async def die(question):
        await workspace.store.settled()
        os._exit(9)
    rules = {{"edit": "ask"}}
    async with open_workspace({str(project)!r}, model=model, rules=rules, answer=die, keep=True) as workspace:
        await workspace.prompt("Write.")

asyncio.run(main())
"""
    done = subprocess.run([sys.executable, "-c", program], env=home, check=False, capture_output=True, text=True)
    assert done.returncode == 9, done.stderr
    async with open_workspace(project, keep=True, environment=home) as w:
        [found] = await w.waiting()
    result, _ = await resumed(project, home, found, Reply(kind="once", arguments=writing("other.txt")["args"]))
    assert (result.text, result.calls[0].arguments["filePath"]) == ("Done.", "other.txt")
    assert [one.name for one in project.glob("*.txt")] == ["other.txt"]


async def test_a_no_ends_the_turn_and_advice_goes_on(project: Path, home: dict[str, str]) -> None:
    [question] = await left(project, home, writing("new.txt"))
    result, model = await resumed(project, home, question, "reject")
    assert (result.text, result.finish, len(result.refused), len(model.requests)) == ("", "refused", 1, 0)
    [question] = await left(project, home, writing("new.txt"))
    result, model = await resumed(project, home, question, Reply(kind="reject", message="Ask Ada."))
    assert (result.text, len(result.refused)) == ("Done.", 1)
    assert "Ask Ada." in str(model.requests[-1].messages)
    assert not (project / "new.txt").exists()


async def test_always_is_stored_and_a_rule_that_denies_by_now_holds(project: Path, home: dict[str, str]) -> None:
    [question] = await left(project, home, writing("new.txt"))
    result, _ = await resumed(project, home, question, "once", rules={"edit": "deny"})
    assert [call.result.error and call.result.error.kind for call in result.calls] == ["denied"]
    [question] = await left(project, home, writing("new.txt"))
    with pytest.raises(UsageError, match="always can store"):
        await resumed(project, home, question, Reply(kind="always", patterns=("/etc/*",)))
    assert (await resumed(project, home, question, "always"))[0].error is None
    async with open_workspace(project, rules={"edit": "ask"}, keep=True, environment=home) as w:
        assert (await w.call("write", filePath="third.txt", content="")).error is None


async def test_a_turn_goes_on_when_all_its_questions_are_answered(project: Path, home: dict[str, str]) -> None:
    one, two = await left(project, home, writing("one.txt"), writing("two.txt"))
    first, model = await resumed(project, home, two, "once")
    assert (first.finish, first.text, len(model.requests)) == ("waiting", "", 0)
    second, model = await resumed(project, home, one, "once")
    assert (second.text, [call.result.error for call in second.calls]) == ("Done.", [None, None])
    assert {one.name for one in project.glob("*.txt")} == {"one.txt", "two.txt"}


async def test_a_session_that_went_on_or_was_stopped_waits_for_nobody(project: Path, home: dict[str, str]) -> None:
    [question] = await left(project, home, writing("new.txt"))
    model = ScriptedModel({"text": "Never mind."})
    async with (
        open_workspace(project, model=model, keep=True, environment=home) as w,
        w.session(id=question.session_id) as s,
    ):
        assert [one.id for one in s.waiting] == [question.id]
        await s.prompt("Leave it.")
        assert s.waiting == []
        with pytest.raises(UsageError, match=r"No question .* waits in"):
            await s.resume(question.id, "once")
    asked = asyncio.Event()
    model = ScriptedModel({"tools": [writing("new.txt")]})
    async with (
        open_workspace(
            project, model=model, rules={"edit": "ask"}, answer=lambda _: asked.set(), keep=True, environment=home
        ) as w,
        w.session() as s,
    ):
        turn = asyncio.create_task(s.prompt("Write."))
        await asked.wait()
        await s.abort()
        await turn
    async with open_workspace(project, keep=True, environment=home) as w:
        assert await w.waiting() == []
