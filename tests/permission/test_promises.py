"""What people ask of permissions elsewhere and do not get, kept here through the front door."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from toolwright.definition import Call
from toolwright.inbox import Reply
from toolwright.permission.gate import AskedRequest
from toolwright.session.session import Session
from toolwright.testing import ScriptedUser, make_workspace
from toolwright.workspace import Workspace


@asynccontextmanager
async def opened(project: Path, config: Any, user: ScriptedUser, *, trust: bool = True) -> AsyncIterator[Workspace]:
    (project / "toolwright.json").write_text(json.dumps(config))
    workspace = make_workspace(project, user=user, trust=trust)
    try:
        yield workspace
    finally:
        await workspace.close()


async def bash(session: Session, command: str) -> str:
    call = Call(id="call_1", tool="bash", arguments={"command": command, "description": "test"})
    result = await session.run_call(call)
    return result.error.kind if result.error else "ran"


ASKING = {"permission": {"bash": "ask"}}


async def test_always_on_a_compound_command_never_grants_its_deleting_part(project: Path) -> None:
    user = ScriptedUser.saying("always", "reject", "reject")
    async with opened(project, ASKING, user) as workspace:
        session = workspace.session()
        assert await bash(session, "true && rm -rf ./tmp") == "ran"
        assert await bash(session, "rm -rf ./other") == "rejected"
        assert await bash(session, "rm -rf /") == "rejected"
        assert await bash(session, "true") == "ran"
    assert "rm *" not in user.questions[0].always


async def test_one_part_of_a_compound_command_can_be_approved_alone(project: Path) -> None:
    once = Reply(kind="always", scope="session", patterns=("pwd *",))
    user = ScriptedUser([once, Reply(kind="reject")])
    async with opened(project, ASKING, user) as workspace:
        session = workspace.session()
        assert await bash(session, "pwd && true") == "ran"
        assert await bash(session, "pwd") == "ran"
        assert await bash(session, "true") == "rejected"
    assert set(user.questions[0].always) == {"pwd *", "true *"}


@pytest.mark.parametrize("pattern", ["link/*", "link", "link/deep/*", "deeper/key", "{root}/link/*", "away/*"])
async def test_a_rule_that_names_a_place_by_a_link_holds_for_its_real_name(project: Path, pattern: str) -> None:
    (project / "real/deep").mkdir(parents=True)
    (project / "real/deep/key").write_text("a")
    (project / "link").symlink_to("real")
    (project / "deeper").symlink_to("link/deep")
    (project / "away").symlink_to(project / "real/deep")
    if pattern == "link":
        (project / "link").unlink()
        (project / "link").symlink_to("real/deep/key")
    config = {"permission": {"edit": {pattern.format(root=project): "deny"}}}
    async with opened(project, config, ScriptedUser()) as workspace:
        assert await bash(workspace.session(), "rm real/deep/key") == "denied"
        assert await bash(workspace.session(), "touch real/other key") == (
            "denied" if pattern.endswith("link/*") else "ran"
        )


async def test_a_rule_that_allows_by_a_link_says_nothing_of_where_it_leads(project: Path) -> None:
    (project / "link").symlink_to(".")
    config = {"permission": {"edit": {"*": "deny", "link/*": "allow"}}}
    async with opened(project, config, ScriptedUser()) as workspace:
        assert await bash(workspace.session(), "touch new") == "denied"


async def test_always_for_a_project_is_still_there_after_a_restart(project: Path) -> None:
    user = ScriptedUser([Reply(kind="always", scope="project")])
    for expected in (1, 1):
        async with opened(project, ASKING, user) as workspace:
            assert await bash(workspace.session(), "true") == "ran"
        assert len(user.questions) == expected


async def test_the_rule_an_always_stores_really_settles_the_next_call(project: Path) -> None:
    user = ScriptedUser([Reply(kind="always", scope="session")])
    async with opened(project, {"permission": {"*": "ask"}}, user) as workspace:
        session = workspace.session()
        write = Call(id="call_1", tool="write", arguments={"filePath": "a.txt", "content": "x"})
        assert (await session.run_call(write)).error is None
        again = Call(id="call_2", tool="write", arguments={"filePath": "b.txt", "content": "x"})
        assert (await session.run_call(again)).error is None
    assert len(user.questions) == 1


async def test_env_files_denied_to_the_parent_are_denied_to_every_child(project: Path) -> None:
    (project / ".env").write_text("KEY=secret\n")
    config = {"agent": {"helper": {"mode": "subagent", "permission": {"*": "allow", "read": {"*": "allow"}}}}}
    async with opened(project, config, ScriptedUser()) as workspace:
        parent = workspace.session("build")
        for child in (
            workspace.session("helper", parent=parent),
            workspace.session("helper", parent=workspace.session("helper", parent=parent)),
        ):
            result = await child.run_call(Call(id="call_1", tool="read", arguments={"filePath": ".env"}))
            assert result.error is not None
            assert result.error.kind == "denied"
            assert "secret" not in result.output


NO_COMMAND = [
    "--",
    "> victim",
    "3> victim",
    "cd . > victim",
    "[[ -f x ]] > victim",
    "export X=1 > victim",
    ": > victim",
]
"""Lines that do something although they hardly name a command."""


@pytest.mark.parametrize("command", NO_COMMAND)
async def test_nothing_that_has_an_effect_gets_by_with_nothing_to_be_judged(project: Path, command: str) -> None:
    async with opened(project, {}, ScriptedUser()) as workspace:
        session = workspace.session()
        log: list[AskedRequest] = []
        call = Call(id="call_1", tool="bash", arguments={"command": command, "description": "test"})
        await session.run_call(call, log=log, gate=workspace.dry_gate())
    assert [entry for entry in log if entry.judgement.request.patterns]


@pytest.mark.parametrize("command", NO_COMMAND)
async def test_nor_does_it_run_where_commands_are_denied(project: Path, command: str) -> None:
    (project / "victim").write_text("precious")
    async with opened(project, {"permission": {"bash": {"*": "deny", "ls": "allow"}}}, ScriptedUser()) as workspace:
        assert await bash(workspace.session(), command) == "denied"
    assert (project / "victim").read_text() == "precious"


async def test_a_cloned_project_cannot_give_itself_leave(project: Path) -> None:
    (project / ".env").write_text("KEY=secret\n")
    config = {
        "permission": {"*": "allow", "read": {"*.env": "allow"}, "external_directory": "allow"},
        "agent": {"build": {"permission": {"read": "allow"}}},
    }
    user = ScriptedUser()
    async with opened(project, config, user, trust=False) as workspace:
        session = workspace.session()
        env = await session.run_call(Call(id="call_1", tool="read", arguments={"filePath": ".env"}))
        assert env.error is not None
        assert env.error.kind == "denied"
        outside = await session.run_call(Call(id="call_2", tool="list", arguments={"path": str(project.parent)}))
        assert outside.error is not None
        assert outside.error.kind == "rejected"
    assert [question.permission for question in user.questions] == ["external_directory"]


async def test_what_nobody_understands_is_asked_whatever_the_rules_allow(project: Path) -> None:
    user = ScriptedUser()
    async with opened(project, {"permission": "allow"}, user) as workspace:
        assert await bash(workspace.session(), 'eval "$(cat)"') == "rejected"
    assert [question.always for question in user.questions] == [()]
