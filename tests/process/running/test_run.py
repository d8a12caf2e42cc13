"""One run of a program: what it is given, what it says, and that nothing of it is left."""

import asyncio
import os
from pathlib import Path

import pytest

from tests.waiting import read_pipe
from toolwright.process.running.run import ProgramResult, run_program
from toolwright.process.running.scope import Program
from toolwright.testing import make_workspace

MUCH = b"0123456789abcdef" * 131_072
"""More than any pipe holds."""


def shell(command: str, project: Path) -> Program:
    return Program(argv=["/bin/sh", "-c", command], cwd=project, env={"PATH": os.environ["PATH"]})


async def run(project: Path, command: str, given: bytes = b"") -> ProgramResult:
    async with make_workspace(project) as workspace:
        return await run_program(workspace.scopes, shell(command, project), given)


async def test_what_is_more_than_a_pipe_holds_goes_in_and_comes_out_whole(project: Path) -> None:
    done = await run(project, "cat; echo said >&2", MUCH)
    assert (done.code, done.out.encode() == MUCH, done.err) == (0, True, "said\n")


@pytest.mark.parametrize("command", ["exit 3", "exec 0<&-; exit 3", "head -c 10 > /dev/null; exit 3"])
async def test_a_program_need_not_read_what_it_is_given(project: Path, command: str) -> None:
    assert (await run(project, command, MUCH)).code == 3


async def test_what_it_leaves_running_does_not_keep_us(project: Path) -> None:
    done = await run(project, "sleep 1000 & echo $!")
    assert done.code == 0
    assert not Path("/proc", done.out.strip()).exists()


async def test_a_run_that_is_cancelled_leaves_nothing(project: Path) -> None:
    async with make_workspace(project) as workspace:
        os.mkfifo(project / "begun")
        program = shell("echo $$ > begun; exec sleep 1000", project)
        task = asyncio.create_task(run_program(workspace.scopes, program, MUCH))
        pid = await read_pipe(project / "begun")
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert not Path("/proc", pid.strip()).exists()
