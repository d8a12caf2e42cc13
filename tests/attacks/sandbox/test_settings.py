"""Settings that a command makes where there were none: the box refuses them, or they are soon without effect."""

import asyncio
from pathlib import Path

import pytest

from tests.process.shell_session import ShellSession, open_shell
from tests.waiting import until
from toolwright.definition import Call
from toolwright.errors import ToolError
from toolwright.ids import new_id
from toolwright.process.sandbox import SandboxSettings

RUNGS = ("bubblewrap", "landlock")
WRITE = "import pathlib; pathlib.Path('toolwright.json').write_text('{}')"
LATER = f"import sys; sys.stdin.readline(); {WRITE}"
"""Writes settings when it is told to, which is after its call is over."""
STAYS = f"import os; {WRITE}; os.mkfifo('made'); open('made').read()"
AUTO = SandboxSettings()


@pytest.fixture(params=RUNGS)
def rung(request: pytest.FixtureRequest) -> SandboxSettings:
    return SandboxSettings(mode=request.param)


async def _require(shell: ShellSession) -> None:
    try:
        rung = await shell.sandbox.ready()
    except ToolError as error:
        pytest.skip(str(error))
    if rung == "none":
        pytest.skip("this machine has no sandbox")


async def test_a_folder_of_settings_cannot_be_made_and_nothing_is_left_of_what_keeps_it(
    project: Path, rung: SandboxSettings
) -> None:
    (project / "try.sh").write_text(
        "for f in .toolwright .opencode; do mkdir -p $f/agent && echo made; echo x > $f/x && echo made;"
        " mv $f y && echo moved; rmdir $f && echo removed; done; true"
    )
    async with open_shell(project, sandbox=rung) as shell:
        await _require(shell)
        if not await shell.sandbox.keeps_all():
            pytest.skip("without mounts nothing can be kept")
        said = await shell.bash("sh try.sh 2>/dev/null")
        assert said.output == "(no output)"
        await until(lambda: [entry.name for entry in project.iterdir()] == ["try.sh"])


async def test_git_and_ls_see_nothing_of_what_keeps_it(project: Path, rung: SandboxSettings) -> None:
    async with open_shell(project, sandbox=rung) as shell:
        await _require(shell)
        said = await shell.bash("git init -q . && ls && git status --short")
        assert said.output == "(no output)"


async def test_what_a_job_makes_after_its_call_is_out_of_effect_once_the_job_is_over(project: Path) -> None:
    (project / "later.py").write_text(LATER)
    async with open_shell(project, sandbox=AUTO, replies=["once"] * 9) as shell:
        await _require(shell)
        await shell.bash("python3 later.py", background=True, timeout=50)
        made = await shell.bash(job="job_1", input="go\n", timeout=20_000)
        assert "toolwright.json was moved" in made.output
    assert not (project / "toolwright.json").exists()


async def test_also_when_nobody_looks_at_the_job_again(project: Path) -> None:
    (project / "later.py").write_text(STAYS)
    async with open_shell(project, sandbox=AUTO) as shell:
        await _require(shell)
        await shell.bash("python3 later.py", background=True, timeout=50)
        await until((project / "made").exists)
    assert not (project / "toolwright.json").exists()


async def test_also_when_the_call_is_stopped(project: Path) -> None:
    (project / "later.py").write_text(STAYS)
    async with open_shell(project, sandbox=AUTO) as shell:
        await _require(shell)
        call = asyncio.ensure_future(shell.bash("python3 later.py"))
        await until((project / "made").exists)
        call.cancel()
        await asyncio.wait([call])
        assert not (project / "toolwright.json").exists()


async def test_what_the_user_makes_once_the_job_is_over_stays(project: Path) -> None:
    async with open_shell(project, sandbox=AUTO) as shell:
        await _require(shell)
        await shell.bash("sleep 600", background=True, timeout=50)
        await shell.bash(job="job_1", stop=True)
        (project / "toolwright.json").write_text("{}")
        await shell.bash(job="job_1")
    assert (project / "toolwright.json").exists()


async def test_what_a_tool_wrote_after_a_question_stays(project: Path) -> None:
    async with open_shell(project, sandbox=AUTO, replies=["once"] * 9) as shell:
        await _require(shell)
        await shell.bash("sleep 600", background=True, timeout=50)
        call = Call(id=new_id("call"), tool="write", arguments={"filePath": "toolwright.json", "content": "{}\n"})
        assert (await shell.session.run_call(call)).error is None
        assert "moved" not in (await shell.bash(job="job_1", stop=True)).output
    assert (project / "toolwright.json").exists()
