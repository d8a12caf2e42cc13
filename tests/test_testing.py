"""The doubles we ship: a user by script, and a session that sees nothing of this machine."""

from pathlib import Path

from toolwright.definition import Call, ToolContext, tool
from toolwright.permission.rules import Rule
from toolwright.testing import ScriptedUser, make_session, make_workspace


@tool
async def echo(ctx: ToolContext, text: str = "hi") -> str:
    """Says it."""
    return text


CALL = Call(id="call_1", tool="echo", arguments={})


async def test_a_scripted_user_answers_in_order_and_then_refuses(project: Path) -> None:
    user = ScriptedUser.saying("once", "always", "not now, please")
    asking = [Rule("echo", "*", "ask")]
    session = make_session(project, tools=[echo], rules=asking, user=user)
    kinds = []
    for _ in range(4):
        result = await session.run_call(CALL)
        kinds.append(result.error.kind if result.error else "ran")
    assert kinds == ["ran", "ran", "ran", "ran"]
    stranger = make_session(project, tools=[echo], rules=asking, user=user)
    advised, refused = await stranger.run_call(CALL), await stranger.run_call(CALL)
    assert advised.output.endswith("says: not now, please")
    assert refused.error is not None
    assert refused.error.kind == "rejected"
    assert [question.permission for question in user.questions] == ["echo"] * 4


async def test_nothing_of_this_machine_is_seen(project: Path) -> None:
    workspace = make_workspace(project)
    home = project.parent / "project.home"
    assert workspace.folders.home == home
    assert workspace.folders.data.is_relative_to(home)
    assert not home.exists()
    await workspace.close()
    assert not home.exists()


async def test_rules_given_to_a_session_come_on_top(project: Path) -> None:
    session = make_session(project, tools=[echo], rules=[Rule("echo", "*", "deny")])
    result = await session.run_call(CALL)
    assert result.error is not None
    assert result.error.kind == "denied"
