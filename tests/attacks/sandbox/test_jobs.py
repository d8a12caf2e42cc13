"""Typing into a job: judged with all that was typed before, by the one whose job it is, and never more than that."""

from pathlib import Path

from tests.process.shell_session import open_shell, run
from tests.waiting import patience
from toolwright.permission.rules import Rule

DENY = (Rule("bash", "*", "allow"), Rule("bash", "rm *", "deny"))
LOCKED = (Rule("bash", "*", "allow"), Rule("edit", "migrations/*", "deny"))


async def test_a_command_typed_in_pieces_is_the_whole_command(project: Path) -> None:
    (project / "victim").touch()
    async with open_shell(project, rules=DENY, replies=["once"] * 9) as shell:
        await shell.bash("bash", background=True, timeout=50)
        first = await shell.bash(job="job_1", input="r")
        second = await shell.bash(job="job_1", input="m victim\n")
        third = await shell.bash(job="job_1", input="\nr''m victim\n")
    assert first.error is None
    assert second.error is not None
    assert "rm" in second.output
    assert third.error is not None
    assert (project / "victim").exists()


async def test_a_line_is_judged_in_the_folder_that_the_lines_before_have_led_to(project: Path) -> None:
    (project / "migrations").mkdir()
    (project / "migrations" / "1.sql").touch()
    async with open_shell(project, rules=LOCKED, replies=["once"] * 9) as shell:
        await shell.bash("bash", background=True, timeout=50)
        await shell.bash(job="job_1", input="cd migrations\n")
        second = await shell.bash(job="job_1", input="rm 1.sql\n")
    assert second.error is not None
    assert (project / "migrations" / "1.sql").exists()


async def test_a_job_is_typed_into_only_by_the_agent_that_has_started_it(project: Path) -> None:
    async with open_shell(project, replies=["once"] * 9) as shell:
        await shell.bash("cat", background=True, timeout=50)
        shell.session.agent = "plan"
        typed = await run(shell.session, job="job_1", input="hello\n")
        looked = await run(shell.session, job="job_1")
        stopped = await run(shell.session, job="job_1", stop=True)
    assert typed.error is not None
    assert typed.output.startswith("job_1 was started by the agent build, and only that agent types into it.")
    assert looked.error is None
    assert "hello" not in looked.output
    assert stopped.error is None


async def test_what_was_allowed_for_a_job_is_not_asked_again(project: Path) -> None:
    rules = (Rule("bash", "cat*", "ask"),)
    async with open_shell(project, rules=rules, replies=["once"] * 9) as shell:
        await shell.bash("cat", background=True, timeout=50)
        asked = len(shell.user.questions)
        output = (await shell.bash(job="job_1", input="hello\n", timeout=50)).output
        async with patience():
            while "hello" not in output:
                output = (await shell.bash(job="job_1", timeout=50)).output
        assert len(shell.user.questions) == asked
