"""Answers of programs to questions: with other arguments, for how long, and none in time."""

import asyncio
from pathlib import Path
from typing import Any, cast

import pytest

from toolwright import Call, Question, Reply, Result, ToolContext, ToolError, UsageError, open_workspace, tool
from toolwright.models.scripted import ScriptedCall
from toolwright.testing import ScriptedModel


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    return {"HOME": str(tmp_path / "home")}


@tool
def deploy(target: str, force: bool = False) -> str:
    """Deploys."""
    return f"deployed to {target}{' by force' if force else ''}"


CALL: ScriptedCall = {"name": "deploy", "args": {"target": "production", "force": True}}


def to(target: str) -> Reply:
    return Reply(kind="once", arguments={"target": target})


async def test_a_call_is_made_with_the_arguments_that_a_person_gives_it(project: Path, home: dict[str, str]) -> None:
    model = ScriptedModel({"tools": [CALL]}, {"text": "Done."})
    rules = {"deploy": "ask"}
    async with open_workspace(
        project, model=model, tools=[deploy], rules=rules, answer=lambda _: to("staging"), environment=home
    ) as w:
        result = await w.prompt("Deploy.")
    [call] = result.calls
    assert (call.arguments, result.refused) == ({"target": "staging"}, ())
    assert call.result.output.startswith("deployed to staging\n")
    assert "The user has changed the arguments of this call" in str(model.requests[-1].messages)


async def test_a_call_that_was_changed_is_judged_and_checked_anew(project: Path, home: dict[str, str]) -> None:
    changed: list[dict[str, Any]] = [
        {"command": "touch /opt/made.txt"},
        {"command": "git push"},
        {"command": 3},
    ]
    asked: list[str] = []

    def answer(question: Question) -> Reply:
        asked.append(question.permission)
        if question.permission != "bash":
            return Reply(kind="reject", message="Not there.")
        return Reply(kind="once", arguments=changed.pop(0))

    rules = {"bash": {"*": "ask", "git push": "deny"}}
    async with open_workspace(project, rules=rules, answer=answer, environment=home) as w:
        outcomes = [await w.call("bash", command="make") for _ in range(3)]
    assert [one.error and one.error.kind for one in outcomes] == ["rejected", "denied", "schema"]
    assert asked == ["bash", "external_directory", "bash", "bash"]
    assert not Path("/opt/made.txt").exists()


async def test_hooks_see_the_call_that_is_made(project: Path, home: dict[str, str]) -> None:
    async def guard(proceed: Any, call: Call, ctx: ToolContext) -> Result:
        if call.arguments["target"] == "moon":
            raise ToolError("Not to the moon.", "denied")
        return cast("Result", await proceed(call))

    replies = [to("moon"), to("mars")]
    for told in ("Not to the moon.", "deployed to mars"):
        async with open_workspace(
            project,
            tools=[deploy],
            hooks=[guard],
            rules={"deploy": "ask"},
            answer=lambda _: replies.pop(0),
            environment=home,
        ) as w:
            assert told in (await w.call("deploy", target="earth")).output


async def test_a_call_within_a_call_is_changed_alone(project: Path, home: dict[str, str]) -> None:
    one = {"tool": "deploy", "parameters": CALL["args"]}
    other: ScriptedCall = {"name": "batch", "args": {"tool_calls": [one, one]}}
    replies = [to("one"), Reply(kind="once")]
    config = {"experimental": {"batch_tool": True}, "permission": {"deploy": "ask"}}
    model = ScriptedModel({"tools": [other]}, {"text": "Done."})
    async with open_workspace(
        project, model=model, tools=[deploy], config=config, answer=lambda _: replies.pop(0), environment=home
    ) as w:
        result = await w.prompt("Deploy.")
    assert "deployed to one\n" in result.calls[0].result.output
    assert "deployed to production by force" in result.calls[0].result.output


async def test_arguments_go_with_once_and_are_a_dict() -> None:
    make: Any = Reply
    with pytest.raises(UsageError, match="goes with kind='once', not with 'always'"):
        make(kind="always", arguments={})
    with pytest.raises(UsageError, match="is no dict of arguments"):
        make(kind="once", arguments=["x"])


@pytest.mark.parametrize(("keep", "stored"), [(False, []), (True, ["*"])])
async def test_always_lasts_as_long_as_sessions_do(
    project: Path, home: dict[str, str], keep: bool, stored: list[str]
) -> None:
    asked: list[Question] = []

    def answer(question: Question) -> str:
        asked.append(question)
        return "always"

    for _ in range(2):
        async with (
            open_workspace(
                project, tools=[deploy], rules={"deploy": "ask"}, answer=answer, keep=keep, environment=home
            ) as w,
            w.session() as s,
        ):
            for _ in range(2):
                assert (await s.call("deploy", target="x")).error is None
            assert [one.pattern for _, one in w.gate.approvals.listed()] == stored
    assert len(asked) == (1 if keep else 2)


async def never(_: Question) -> str:
    await asyncio.Event().wait()
    return "once"


@pytest.mark.parametrize("answer", [lambda _: None, never])
async def test_a_question_that_nobody_answers_in_time_is_refused_and_the_model_goes_on(
    project: Path, home: dict[str, str], answer: Any
) -> None:
    model = ScriptedModel({"tools": [CALL]}, {"text": "Then not."})
    async with open_workspace(
        project,
        model=model,
        tools=[deploy],
        rules={"deploy": "ask"},
        answer=answer,
        question_timeout=0.05,
        environment=home,
    ) as w:
        result = await w.prompt("Deploy.")
        assert w.inbox.pending == []
    assert (result.text, [one.tool for one in result.refused]) == ("Then not.", ["deploy"])
    assert "refused, because nobody has answered within 0.05 seconds" in result.calls[0].result.output


@pytest.mark.parametrize("wrong", [0, -1, "5", True])
def test_a_time_to_wait_is_a_number_of_seconds(project: Path, home: dict[str, str], wrong: Any) -> None:
    with pytest.raises(UsageError, match="is no time to wait: give a number of seconds"):
        open_workspace(project, question_timeout=wrong, environment=home)


async def test_a_tool_in_a_file_that_asks_itself_is_called_anew_with_other_arguments(
    project: Path, home: dict[str, str]
) -> None:
    folder = project / ".toolwright" / "tool"
    folder.mkdir(parents=True)
    (folder / "ship.py").write_text(
        "async def execute(args, ctx):\n"
        "    await ctx.ask(permission='ship', patterns=[args['where']], always=['*'], metadata={})\n"
        "    return 'shipped to ' + args['where']\n"
        "default = {'description': 'Ships.', 'args': {'where': {'type': 'string'}}, 'execute': execute}\n"
    )
    async with open_workspace(
        project,
        rules={"ship": "ask"},
        trust=True,
        answer=lambda _: Reply(kind="once", arguments={"where": "Oslo"}),
        environment=home,
    ) as w:
        assert (await w.call("ship", where="Rome")).output.startswith("shipped to Oslo")
