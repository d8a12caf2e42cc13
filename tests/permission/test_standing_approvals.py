"""What a lasting approval covers, and what it never does: spec 13.5, O01 to O08."""

import os
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.rounds import rounds
from toolwright.definition import Call, Result
from toolwright.inbox import Question, Reply
from toolwright.machine.folders import Folders
from toolwright.permission.approvals import Approval, Approvals
from toolwright.session.session import Session
from toolwright.testing import ScriptedUser, make_workspace

ALWAYS = Reply(kind="always", scope="session")
ASK = {"bash": "ask"}


@asynccontextmanager
async def asked(project: Path, permission: Any, *replies: Reply) -> AsyncIterator[tuple[Session, list[Question]]]:
    user = ScriptedUser(list(replies))
    workspace = make_workspace(project, user=user, config={"permission": permission, "sandbox": "off"})
    try:
        yield workspace.session(), user.questions
    finally:
        await workspace.close()


async def bash(session: Session, command: str, **more: Any) -> Result:
    return await session.run_call(Call(id="c", tool="bash", arguments={"command": command, **more}))


async def write(session: Session, path: str) -> Result:
    return await session.run_call(Call(id="c", tool="write", arguments={"filePath": path, "content": "x\n"}))


async def test_a_yes_to_one_part_does_not_carry_a_denied_one(project: Path) -> None:
    """O01"""
    (project / "victim").write_text("v")
    async with asked(project, {"bash": {"*": "ask", "rm *": "deny"}}, Reply(kind="once")) as (session, questions):
        result = await bash(session, "ls && rm victim")
    assert result.error is not None
    assert result.error.kind == "denied"
    assert (project / "victim").exists()
    assert questions == []


async def test_always_for_one_file_does_not_open_a_denied_folder(project: Path) -> None:
    """O02"""
    async with asked(project, {"edit": {"*": "ask", "secrets/*": "deny"}}, ALWAYS) as (session, _):
        assert (await write(session, "src/a")).error is None
        assert (await write(session, "secrets/a")).error is not None
    assert not (project / "secrets").exists()


async def test_always_given_to_build_is_nothing_to_plan(project: Path) -> None:
    """O03"""
    user = ScriptedUser([ALWAYS])
    workspace = make_workspace(project, user=user, config={"agent": {"build": {"permission": {"edit": "ask"}}}})
    build, plan = workspace.session("build"), workspace.session("plan")
    plan.id = build.id
    assert (await write(build, "a.txt")).error is None
    assert (await write(plan, "b.txt")).error is not None
    await workspace.close()
    assert not (project / "b.txt").exists()


async def test_a_folder_at_the_top_approved_for_one_command_is_not_the_whole_disk(project: Path) -> None:
    """O04"""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as far:
        async with asked(project, {"external_directory": "ask"}, ALWAYS) as (session, questions):
            assert (await bash(session, "true", workdir="/tmp")).error is None
            assert (await write(session, f"{far}/x")).error is not None
        assert not Path(far, "x").exists()
    assert [question.permission for question in questions] == ["external_directory"] * 2


@pytest.mark.parametrize(
    ("approved", "other"),
    [
        ("ls", "lsof -v"),
        ("git --no-pager status", "git --no-pager config x y"),
        ("/*/ls -d .", "/bin/sh -c 'touch pwn' /ls"),
        ("env true", "env touch pwn"),
        ("sh -c true", "sh -c 'touch pwn'"),
        ("python3 -c 1", 'python3 -c \'open("pwn", "w")\''),
        ("find . -maxdepth 0", "find . -maxdepth 0 -exec touch pwn ;"),
        ("echo a | xargs echo", "echo pwn | xargs touch"),
        ("git status && rm -rf nothing", "rm -rf everything"),
    ],
)
async def test_an_approval_ends_at_a_word_and_never_covers_another_program(
    project: Path, approved: str, other: str
) -> None:
    """O05 to O08"""
    async with asked(project, ASK, ALWAYS) as (session, questions):
        await bash(session, approved)
        before = len(questions)
        result = await bash(session, other)
    assert len(questions) == before + 1
    assert result.error is not None
    assert result.error.kind == "rejected"
    assert not (project / "pwn").exists()


STORES_ONE = """
import sys
from pathlib import Path
from toolwright.machine.folders import Folders
from toolwright.permission.approvals import Approval, Approvals
sys.stdin.read(1)
approvals = Approvals(file=Folders.of().ready().approvals, project=Path(sys.argv[1]))
approvals.add((Approval("bash", sys.argv[2]),), sys.argv[3], "")
"""
TOGETHER = rounds(20, 40)


@pytest.mark.slow
def test_approvals_that_many_processes_store_at_once_are_all_kept(tmp_path: Path) -> None:
    """Also while the folder is only being made; each process begins when all have started."""
    environment = {**os.environ, "HOME": str(tmp_path)}
    for turn in range(rounds(1, 30)):
        arguments = [(f"one{turn}-{number} *", ("project", "user")[number % 2]) for number in range(TOGETHER)]
        started = [
            subprocess.Popen(
                [sys.executable, "-c", STORES_ONE, str(tmp_path), *given],
                env=environment,
                stdin=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
            for given in arguments
        ]
        for process in started:
            assert process.stdin is not None
            process.stdin.write(b"x")
            process.stdin.flush()
        assert [process.communicate()[1] for process in started] == [b""] * TOGETHER
        folders = Folders.of(environment)
        stored = Approvals(file=folders.approvals, project=tmp_path).listed()
        assert {(approval.pattern, scope) for scope, approval in stored} >= set(arguments)
        assert len(stored) == TOGETHER * (turn + 1)


def test_two_changes_in_one_moment_are_both_seen(tmp_path: Path) -> None:
    """The clock of a file system stands still for some milliseconds."""
    file = tmp_path / "approvals.json"
    one, other = (Approvals(file=file, project=tmp_path) for _ in range(2))
    one.add((Approval("bash", "cd *"),), "user", "")
    one.add((Approval("bash", "ls *"),), "project", "")
    moment = file.stat().st_mtime_ns
    assert [approval.pattern for approval in other.of(())] == ["cd *", "ls *"]
    one.revoke("bash", "ls *")
    one.add((Approval("bash", "rm *"),), "project", "")
    os.utime(file, ns=(moment, moment))
    assert [approval.pattern for approval in other.of(())] == ["cd *", "rm *"]
