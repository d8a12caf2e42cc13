"""The gate: all requests of a call are judged before one is asked, and what was asked stands in a log."""

import asyncio
from pathlib import Path

import pytest

from tests.waiting import until
from toolwright.calls.request import Need, Request
from toolwright.definition import Call, Result, Tool, ToolContext, tool
from toolwright.errors import PermissionDenied, PermissionRejected
from toolwright.inbox import Reply, ReplyKind
from toolwright.permission.gate import AskedRequest, DryRunOver, Gate
from toolwright.permission.rules import Rule
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


@pytest.mark.parametrize("said", ["once", "reject"])
async def test_one_question_is_about_all_that_a_call_asks_for(project: Path, said: ReplyKind) -> None:
    user = ScriptedUser.saying(said)
    tools = [wanting(request("one"), request("two", "a"), request("three", "b"))]
    workspace = make_workspace(project, tools=tools, user=user)
    session = workspace.session(rules=[Rule("*", "*", "ask"), Rule("one", "*", "allow")])
    result, log = await run(session)
    (question,) = user.questions
    assert (question.permission, question.patterns) == ("three", ("b",))
    assert question.also == (Need(permission="two", patterns=("a",)),)
    assert log == [("one", "allow", None), ("two", "ask", said), ("three", "ask", said)]
    assert isinstance(result.error, PermissionRejected) == (said == "reject")
    assert (project / "deed").exists() == (said == "once")


async def test_an_always_stores_for_each_permission_what_is_its_own(project: Path) -> None:
    user = ScriptedUser.saying("always")
    tools = [wanting(request("edit", "build", always=("build",)), request("bash", "rm build", always=("rm build",)))]
    workspace = make_workspace(project, tools=tools, user=user)
    session = workspace.session(rules=[Rule("*", "*", "ask")])
    await run(session)
    (question,) = user.questions
    assert question.always == ("(edit) build", "rm build")
    assert [question.rule(text) for text in question.always] == ["edit build", "bash rm build"]
    stored = [(one.permission, one.pattern) for one in workspace.gate.approvals.of((session.id,))]
    assert stored == [("edit", "build"), ("bash", "rm build")]
    await run(session)
    assert len(user.questions) == 1


async def test_a_rule_of_ones_own_is_for_the_permission_of_the_one_in_whose_place_it_stands(project: Path) -> None:
    chosen = ("(edit) build*", "rm build")
    user = ScriptedUser([Reply(kind="always", patterns=chosen)])
    tools = [wanting(request("edit", "build", always=("build",)), request("bash", "rm build", always=("rm build",)))]
    workspace = make_workspace(project, tools=tools, user=user)
    await run(workspace.session(rules=[Rule("*", "*", "ask")]))
    stored = [(one.permission, one.pattern) for one in workspace.gate.approvals.of(())]
    assert stored == [("edit", "build*"), ("bash", "rm build")]


async def test_what_is_allowed_already_is_not_offered_again(project: Path) -> None:
    user = ScriptedUser.saying("once")
    wanted = request("bash", "ls -la", "git log", always=("ls *", "git log *"))
    workspace = make_workspace(project, tools=[wanting(wanted)], user=user)
    await run(workspace.session(rules=[Rule("*", "*", "ask"), Rule("bash", "ls *", "allow")]))
    assert user.questions[0].always == ("git log *",)


async def test_nothing_is_offered_where_it_would_not_let_the_whole_call_pass(project: Path) -> None:
    user = ScriptedUser.saying("once")
    tools = [wanting(request("edit", "a", always=()), request("bash", "rm a", always=("rm a",)))]
    workspace = make_workspace(project, tools=tools, user=user)
    await run(workspace.session(rules=[Rule("*", "*", "ask")]))
    assert user.questions[0].always == ()


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


async def test_a_deny_that_comes_while_the_question_waits_holds_whatever_is_answered(project: Path) -> None:
    user = ScriptedUser([None, Reply(kind="once")])
    workspace = make_workspace(project, tools=[wanting(request("one"), request("two"))], user=user)
    session = workspace.session(rules=[Rule("*", "*", "ask")])
    call = asyncio.create_task(run(session))
    await until(lambda: user.questions)
    session.permit([Rule("*", "*", "ask"), Rule("two", "*", "deny")])
    workspace.inbox.reply(user.questions[0].id, "once")
    result, _ = await call
    assert isinstance(result.error, PermissionDenied)
    assert not (project / "deed").exists()
