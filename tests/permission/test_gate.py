"""The gate: all requests of a call are judged before one is asked, and what was asked stands in a log."""

from pathlib import Path

import pytest

from toolwright.definition import Call, Result, Tool, ToolContext, tool
from toolwright.errors import PermissionDenied, PermissionRejected
from toolwright.permission.gate import AskedRequest, DryRunOver, Gate
from toolwright.permission.rules import Rule
from toolwright.request import Request
from toolwright.session.session import Session
from toolwright.testing import ScriptedUser, make_workspace

DONE: list[str] = []


def wanting(*requests: Request, checked: bool = False) -> Tool:
    """A tool that asks for these and then does its deed."""

    @tool(asks=True)
    async def act(ctx: ToolContext) -> str:
        """Acts."""
        if checked:
            ctx.check(*requests)
        await ctx.ask_all(*requests)
        (ctx.directory / "deed").write_text("done")
        return "done"

    return act


def request(permission: str, *patterns: str, always: tuple[str, ...] = ("*",)) -> Request:
    return Request(permission=permission, patterns=patterns or ("x",), always=always)


async def run(session: Session, gate: Gate | None = None) -> tuple[Result, list[tuple[str, str, str | None]]]:
    log: list[AskedRequest] = []
    result = await session.run_call(Call(id="call_1", tool="act", arguments={}), log=log, gate=gate)
    return result, [(one.judgement.request.permission, one.judgement.action, one.reply) for one in log]


async def test_questions_come_in_order_and_their_answers_are_noted(project: Path) -> None:
    user = ScriptedUser.saying("once", "reject")
    workspace = make_workspace(project, tools=[wanting(request("one"), request("two"), request("three"))], user=user)
    session = workspace.session(rules=[Rule("*", "*", "ask"), Rule("one", "*", "allow")])
    result, log = await run(session)
    assert isinstance(result.error, PermissionRejected)
    assert log == [("one", "allow", None), ("two", "ask", "once"), ("three", "ask", "reject")]
    assert not (project / "deed").exists()


async def test_a_deny_of_the_last_comes_before_the_question_of_the_first(project: Path) -> None:
    user = ScriptedUser.saying("once")
    workspace = make_workspace(project, tools=[wanting(request("one"), request("two"))], user=user)
    session = workspace.session(rules=[Rule("*", "*", "ask"), Rule("two", "*", "deny")])
    result, log = await run(session)
    assert isinstance(result.error, PermissionDenied)
    assert log == [("one", "ask", None), ("two", "deny", None)]
    assert user.questions == []


async def test_an_always_on_the_first_may_settle_the_second_of_the_same_call(project: Path) -> None:
    user = ScriptedUser.saying("always")
    workspace = make_workspace(project, tools=[wanting(request("one", "a"), request("one", "b"))], user=user)
    result, log = await run(workspace.session(rules=[Rule("*", "*", "ask")]))
    assert result.output == "done"
    assert log == [("one", "ask", "always"), ("one", "ask", "always")]
    assert len(user.questions) == 1


async def test_a_check_raises_on_a_deny_and_asks_nobody(project: Path) -> None:
    user = ScriptedUser.saying("once")
    workspace = make_workspace(project, tools=[wanting(request("one"), checked=True)], user=user)
    denied, log = await run(workspace.session(rules=[Rule("one", "*", "deny")]))
    assert isinstance(denied.error, PermissionDenied)
    assert log == [("one", "deny", None)]
    asked, log = await run(workspace.session(rules=[Rule("one", "*", "ask")]))
    assert asked.output == "done"
    assert log == [("one", "ask", "once")]


@pytest.mark.parametrize("checked", [True, False])
@pytest.mark.parametrize("action", ["allow", "ask", "deny"])
async def test_a_dry_run_tells_what_would_be_asked_and_does_nothing(project: Path, checked: bool, action: str) -> None:
    user = ScriptedUser.saying("once")
    workspace = make_workspace(project, tools=[wanting(request("one"), checked=checked)], user=user)
    rules = [
        rule
        for rule in (Rule("one", "*", "allow"), Rule("one", "*", "ask"), Rule("one", "*", "deny"))
        if rule.action == action
    ]
    session = workspace.session(rules=rules)
    result, log = await run(session, workspace.dry_gate())
    assert isinstance(result.error, DryRunOver)
    assert log == [("one", action, None)]
    assert user.questions == []
    assert not (project / "deed").exists()


async def test_what_is_decided_silently_leaves_no_trace(project: Path) -> None:
    seen: list[str] = []

    @tool(asks=True)
    async def act(ctx: ToolContext) -> str:
        """Looks only."""
        seen.extend(ctx.decide("read", name) for name in ("a.txt", ".env"))
        return ""

    _, log = await run(make_workspace(project, tools=[act]).session())
    assert (seen, log) == (["allow", "deny"], [])
