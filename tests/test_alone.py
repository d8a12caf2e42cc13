"""The rules and the box without a model: what a call would come to, and commands of the program's own."""

from pathlib import Path
from typing import Any, cast

import pytest

from toolwright import Call, Result, ToolContext, ToolError, open_workspace, tool


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    return {"HOME": str(tmp_path / "home")}


@tool
def deploy(target: str) -> str:
    """Deploys."""
    raise AssertionError("nothing is done")


async def test_a_call_is_judged_and_nothing_is_done(project: Path, home: dict[str, str]) -> None:
    rules = {"bash": {"*": "allow", "git push *": "deny", "make *": "ask"}, "deploy": "ask", "edit": {"gen/*": "deny"}}
    asked: list[object] = []
    async with open_workspace(
        project, rules=rules, tools=[deploy], answer=asked.append, keep=True, environment=home
    ) as w:
        calls: list[tuple[str, dict[str, Any], str]] = [
            ("bash", {"command": "echo hi"}, "allow"),
            ("bash", {"command": "make all"}, "ask"),
            ("bash", {"command": "echo hi && git push origin"}, "deny"),
            ("deploy", {"target": "x"}, "ask"),
            ("write", {"filePath": "a.txt", "content": "x"}, "allow"),
            ("write", {"filePath": "gen/a.txt", "content": "x"}, "deny"),
            ("read", {"filePath": "nowhere.txt"}, "allow"),
        ]
        for name, arguments, action in calls:
            assert (await w.decide(name, **arguments)).action == action, (name, arguments)
        denied = await w.decide("bash", command="git push origin")
        assert "the rule `bash git push *: deny`" in denied.reason
        question = await w.decide("bash", command="make all")
        assert (question.reason, str(question.rule)) == ("bash: make all.", "bash make *: ask")
        assert [one.patterns for one in question.requests] == [("make all",)]
        wrong = await w.decide("deploy")
        assert (wrong.action, wrong.error and wrong.error.kind) == ("ask", "schema")
        unknown = await w.decide("raed")
        assert unknown.error is not None
        assert await w.sessions.listed() == []
    assert asked == []
    assert list(project.glob("*.txt")) == []


async def test_a_guard_has_its_say(project: Path, home: dict[str, str]) -> None:
    async def guard(proceed: Any, call: Call, ctx: ToolContext) -> Result:
        if "prod" in str(call.arguments):
            raise ToolError("Not in production.", "denied")
        return cast("Result", await proceed(call))

    async with open_workspace(project, hooks=[guard], environment=home) as w:
        found = await w.decide("bash", command="echo prod")
    assert (found.action, found.reason) == ("deny", "Not in production.")


async def test_a_command_of_the_program_runs_in_the_box(project: Path, home: dict[str, str]) -> None:
    (project / "sub").mkdir()
    rules = {"bash": {"*": "ask", "git push *": "deny"}}
    async with open_workspace(project, rules=rules, environment=home) as w:
        done = await w.run("pwd; exit 3", workdir="sub")
        assert (done.exit_code, done.output.strip()) == (3, str(project / "sub"))
        assert done.sandbox
        late = await w.run("echo begun; sleep 60", seconds=1)
        assert late.exit_code is None or late.result.error is not None or "timed out" in late.result.output
        denied = await w.run("git push origin")
        assert (denied.exit_code, denied.result.error and denied.result.error.kind) == (None, "denied")
