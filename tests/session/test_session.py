"""A session: whose calls they are, and that sessions have nothing to do with each other."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.waiting import until
from toolwright.definition import Call, ToolContext, tool
from toolwright.errors import UsageError
from toolwright.inbox import Reply
from toolwright.permission.gate import AskedRequest
from toolwright.permission.rules import Rule
from toolwright.testing import ScriptedUser, make_session, make_workspace


@tool
async def echo(ctx: ToolContext, text: str = "hi") -> str:
    """Says it."""
    return text


CALL = Call(id="call_1", tool="echo", arguments={})


async def test_calls_side_by_side_keep_their_own_contexts(project: Path) -> None:
    @tool(asks=True)
    async def who(ctx: ToolContext) -> str:
        """Waits a little and tells who asked."""
        await asyncio.sleep(0)
        return ctx.call_id

    session = make_session(project, tools=[who])
    calls = [Call(id=f"call_{number}", tool="who", arguments={}) for number in range(20)]
    results = await asyncio.gather(*map(session.run_call, calls))
    assert [result.output for result in results] == [call.id for call in calls]


async def test_a_rejection_in_one_session_leaves_the_questions_of_another_alone(project: Path) -> None:
    workspace = make_workspace(project, tools=[echo], user=ScriptedUser([None, None]))
    asking = [Rule("echo", "*", "ask")]
    one, two = workspace.session(rules=asking), workspace.session(rules=asking)
    tasks = [asyncio.create_task(session.run_call(CALL)) for session in (one, two)]
    await until(lambda: len(workspace.inbox.pending) == 2)
    [question] = workspace.inbox.of_session(one.id)
    workspace.inbox.reply(question.id, Reply(kind="reject"))
    assert (await tasks[0]).error is not None
    [other] = workspace.inbox.of_session(two.id)
    workspace.inbox.reply(other.id, Reply(kind="once"))
    assert (await tasks[1]).output == "hi"


async def test_an_answer_with_the_id_of_a_settled_question_is_one_clear_error(project: Path) -> None:
    workspace = make_workspace(project, tools=[echo], user=ScriptedUser([None]))
    task = asyncio.create_task(workspace.session(rules=[Rule("echo", "*", "ask")]).run_call(CALL))
    await until(lambda: workspace.inbox.pending)
    [question] = workspace.inbox.pending
    workspace.inbox.reply(question.id, Reply(kind="once"))
    with pytest.raises(UsageError, match="is waiting; it may have been answered"):
        workspace.inbox.reply(question.id, Reply(kind="reject"))
    assert (await task).output == "hi"


async def test_the_log_has_the_requests_of_inner_calls_too(project: Path) -> None:
    @tool(asks=True)
    async def outer(ctx: ToolContext) -> str:
        """Calls another."""
        return (await ctx.call("echo", {})).output

    log: list[AskedRequest] = []
    await make_session(project, tools=[echo, outer]).run_call(Call(id="call_1", tool="outer", arguments={}), log=log)
    assert [entry.judgement.request.permission for entry in log] == ["echo"]


async def test_a_child_session_asks_under_its_parents_rules(project: Path) -> None:
    user = ScriptedUser.saying("reject")
    workspace = make_workspace(project, tools=[echo], user=user)
    parent = workspace.session("build", rules=[Rule("echo", "*", "ask")])
    child = workspace.session("general", parent=parent)
    result = await child.run_call(CALL)
    assert result.error is not None
    assert result.error.kind == "rejected"
    assert child.callers == (parent.id,)


async def test_what_the_parent_is_denied_its_child_is_denied(project: Path) -> None:
    workspace = make_workspace(project, tools=[echo])
    parent = workspace.session("build", rules=[Rule("echo", "*", "deny")])
    for agent in ("build", "general"):
        result = await workspace.session(agent, rules=[Rule("*", "*", "allow")], parent=parent).run_call(CALL)
        assert result.error is not None
        assert result.error.kind == "denied"


async def test_every_event_of_a_call_carries_its_session(project: Path) -> None:
    session = make_session(project, tools=[echo])
    events: list[Any] = []
    session.home.bus.subscribe(events.append)
    await session.run_call(CALL)
    assert {event.part.session_id for event in events} == {session.id}
    assert {event.type for event in events} == {"message.part.updated"}
