"""The bash tool: what it runs and shows, what it refuses, and the jobs it looks after."""

import asyncio
import os
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Literal

import pytest

from tests.process.shell_session import EVERYTHING_ALLOWED, ShellSession, open_shell, run
from tests.waiting import patience, until
from toolwright.calls.parts import ToolPart
from toolwright.definition import Call
from toolwright.errors import ToolError
from toolwright.events import Event, PartUpdated
from toolwright.permission.rules import Rule
from toolwright.process.jobs.full_screen_programs import ADVICE
from toolwright.process.jobs.jobs import LENGTH, RUNNING, ShellSettings
from toolwright.process.programs.environment import Withholding
from toolwright.process.sandbox.sandbox import SandboxSettings
from toolwright.terminal.call_text import shown_call

SHARED_MEMORY = "/dev/shm"


@pytest.fixture
async def shell(project: Path) -> AsyncIterator[ShellSession]:
    async with open_shell(project, rules=EVERYTHING_ALLOWED) as shell:
        yield shell


async def test_a_command_shows_what_it_prints(shell: ShellSession) -> None:
    result = await shell.bash("echo out; echo err >&2", description="Prints two words")
    assert result.error is None
    assert result.output == "out\nerr\n"
    assert result.title == "Prints two words"
    assert result.metadata["output"] == "out\nerr\n"
    assert (result.metadata["exit"], result.metadata["description"]) == (0, "Prints two words")


async def test_without_a_description_the_command_is_the_title(shell: ShellSession) -> None:
    result = await shell.bash("true")
    assert (result.title, result.output) == ("true", "(no output)")


async def test_a_failing_command_says_its_exit_code(shell: ShellSession) -> None:
    result = await shell.bash("printf half; exit 3")
    assert result.output == "half\n[exit code 3]"
    assert result.metadata["exit"] == 3
    assert result.error is None


async def test_a_command_ended_by_a_signal_says_which(shell: ShellSession) -> None:
    result = await shell.bash("kill -SEGV $$")
    assert result.output == "[ended by SIGSEGV]"
    assert result.metadata["exit"] is None


async def test_a_command_runs_in_the_project_or_where_it_is_told(shell: ShellSession, project: Path) -> None:
    (project / "sub").mkdir()
    assert (await shell.bash("pwd")).output == f"{project}\n"
    assert (await shell.bash("pwd", workdir="sub")).output == f"{project}/sub\n"
    assert (await shell.bash("pwd", workdir=str(project / "sub"))).output == f"{project}/sub\n"


async def test_an_editor_ends_at_once_and_says_what_to_do_instead(shell: ShellSession, project: Path) -> None:
    (project / "a").write_text("a\n")
    await shell.bash("git init -q; git config user.name a; git config user.email a@b.c; git add a; git commit -qm one")
    for command in ("git commit --amend", "git rebase -i --root", "git tag -a v1"):
        result = await shell.bash(command)
        assert ADVICE in result.output
        assert result.metadata["exit"] in (1, 128)
        assert "timedOut" not in result.metadata


@pytest.mark.parametrize(
    "command",
    [
        "GIT_EDITOR=true git commit --amend",
        "git -c core.editor=true commit --amend",
        "GIT_SEQUENCE_EDITOR=: git rebase -i --root",
        "GIT_EDITOR=: git rebase -i --root",
        "export GIT_EDITOR=true; git commit --amend",
        "EDITOR=true; git commit --amend --no-edit",
    ],
)
async def test_an_editor_that_the_line_names_itself_is_used(command: str, shell: ShellSession) -> None:
    await shell.bash("git init -q; git config user.name a; git config user.email a@b.c; echo a > a; git add a")
    await shell.bash("git commit -q -m one")
    result = await shell.bash(command)
    assert (result.metadata["exit"], ADVICE in result.output) == (0, False)


async def test_an_editor_of_the_users_settings_is_not_started(project: Path, tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / ".gitconfig").write_text(
        "[core]\n\teditor = sleep 600;\n[user]\n\tname = a\n\temail = a@b.c\n"
    )
    environment = {**os.environ, "HOME": str(tmp_path / "home"), "GIT_EDITOR": "sleep 600;", "EDITOR": "sleep 600;"}
    async with open_shell(project, rules=EVERYTHING_ALLOWED, environment=environment) as shell:
        result = await shell.bash("git init -q; git commit --allow-empty")
        assert ADVICE in result.output


async def test_a_program_of_the_full_screen_is_told_as_such(shell: ShellSession, project: Path) -> None:
    program = project / "htop"
    program.write_text("#!/bin/sh\nprintf '\\033[?1049h\\033[22;0;0t\\033[1;1Hhello\\033[2;1H~     ~'; sleep 600\n")
    program.chmod(0o755)
    for command, what in (
        ("./htop", "It runs htop, which needs a terminal"),
        ("cp htop x; ./x", "It draws on the screen"),
    ):
        result = await shell.bash(command, timeout=400)
        assert result.output.startswith(f"hello\n[took longer than 400 ms: it and all it started were ended. {what}")
        assert "a longer timeout" not in result.output
        assert "\x1b" not in result.metadata["output"]


async def test_input_is_closed(shell: ShellSession) -> None:
    assert (await shell.bash("cat; echo $?")).output == "0\n"


async def test_what_is_not_text_is_shown_as_well_as_can_be(shell: ShellSession) -> None:
    assert (await shell.bash(r"printf 'a\xffb\xc3\xa9'")).output == "a\ufffdbé"


async def test_secrets_stay_out_of_the_environment(project: Path) -> None:
    environment = {**os.environ, "SOME_API_KEY": "1", "NPM_TOKEN": "2", "PLAIN": "3"}
    settings = ShellSettings(withhold=Withholding(except_for=("NPM_TOKEN",)))
    async with open_shell(project, rules=EVERYTHING_ALLOWED, environment=environment, shell=settings) as shell:
        assert (await shell.bash("echo [$SOME_API_KEY] [$NPM_TOKEN] [$PLAIN]")).output == "[] [2] [3]\n"


@pytest.mark.parametrize(
    ("arguments", "kind", "words"),
    [
        ({}, "schema", "The command is empty"),
        ({"command": " \n"}, "schema", "The command is empty"),
        ({"command": "echo a\0b"}, "schema", "NUL"),
        ({"command": "echo " + "x" * 1_000_000}, "too_large", "1000005 bytes long"),
        ({"command": "true", "workdir": "nowhere"}, "missing", "There is no folder nowhere"),
        ({"command": "true", "workdir": "file"}, "not_found", "file is a file, not a folder"),
        ({"command": "true", "timeout": 0}, "schema", "timeout"),
        ({"command": "true", "timeout": -5}, "schema", "timeout"),
        ({"command": "true", "timeout": 10**12}, "schema", "timeout"),
        ({"command": "true", "timeout": "1000"}, "schema", "timeout"),
        ({"command": "true", "job": "job_1"}, "schema", "either a command or a job"),
        ({"job": "job_7"}, "missing", "There is no job 'job_7'. This session has no jobs."),
    ],
)
async def test_bad_input_is_a_clear_error(
    shell: ShellSession, project: Path, arguments: dict[str, object], kind: str, words: str
) -> None:
    (project / "file").write_text("x")
    result = await shell.session.run_call(Call(id="call_1", tool="bash", arguments=dict(arguments)))
    assert result.error is not None
    assert result.error.kind == kind
    assert words in result.output


async def test_the_longest_command_the_system_takes_runs(project: Path) -> None:
    start = "true # "
    async with open_shell(project, rules=EVERYTHING_ALLOWED, replies=["once"]) as shell:
        result = await shell.bash(start + "x" * (LENGTH - len(start)))
    assert result.error is None
    assert result.metadata["exit"] == 0


async def test_a_command_that_takes_too_long_is_ended_with_all_it_started(shell: ShellSession, project: Path) -> None:
    command = "echo begun; setsid sleep 300 & echo $! > pid; (trap '' TERM; sleep 300) & sleep 300"
    result = await shell.bash(command, timeout=400)
    assert result.error is None
    assert result.output.removeprefix("begun\n") == (
        "[took longer than 400 ms: it and all it started were ended."
        " Give a longer timeout, or background: true for something that is meant to run on]"
    )
    assert (result.metadata["exit"], result.metadata["timedOut"]) == (None, True)
    assert not (project / "pid").exists() or not Path("/proc", (project / "pid").read_text().strip()).exists()


async def test_a_stopped_call_ends_its_command(shell: ShellSession, project: Path) -> None:
    call = asyncio.create_task(shell.bash("echo $$ > pid; sleep 300"))
    await until(lambda: (project / "pid").exists() and (project / "pid").read_text())
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert not Path("/proc", (project / "pid").read_text().strip()).exists()


async def test_progress_is_shown_while_a_command_runs_and_not_all_the_time(
    shell: ShellSession, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("toolwright.tools.commands.commands.UPDATES", 3600)
    seen: list[str] = []

    def note(event: Event) -> None:
        if isinstance(event, PartUpdated) and isinstance(event.part, ToolPart):
            seen.append(str(event.part.state))

    shell.workspace.bus.subscribe(note)
    call = asyncio.create_task(shell.bash("echo line 1; until [ -e go ]; do sleep 0.01; done; seq 2 5000"))
    await until(lambda: any("'output': 'line 1" in state for state in seen))
    (project / "go").touch()
    assert (await call).error is None
    assert sum("'output': 'line 1" in state for state in seen) == 2, "once while it ran and once at its end"


async def test_a_long_output_keeps_both_ends_and_the_whole_in_a_file(project: Path) -> None:
    async with open_shell(project, rules=EVERYTHING_ALLOWED) as shell:
        result = await shell.bash("seq 1 200000; exit 2")
    whole = "".join(f"{number}\n" for number in range(1, 200_001))
    path = Path(result.metadata["outputPath"])
    assert path.read_text() == whole
    assert result.metadata["truncated"] is True
    assert result.output.startswith("1\n2\n3\n")
    assert "bytes truncated..." in result.output
    assert str(path) in result.output
    assert result.output.endswith("\n[exit code 2]")
    assert len(result.metadata["output"]) == 30_005
    assert len(result.output) < 60_000


async def test_a_background_child_becomes_a_job(shell: ShellSession) -> None:
    async with patience():
        result = await shell.bash("sleep 300 & echo started")
    assert result.output == (
        "started\n[job_1 is still running (sleep 300)."
        ' Call bash with job: "job_1" to see more of it, with stop to end it]'
    )
    assert result.metadata["jobs"] == [{"id": "job_1", "command": "sleep 300 & echo started"}]
    stopped = await shell.bash(job="job_1", stop=True)
    assert stopped.output == "[job_1 was stopped]"
    assert (await shell.bash(job="job_1")).output == "[job_1 has ended: exit code 0]"


async def test_a_background_command_can_be_read_and_fed(project: Path) -> None:
    async with open_shell(project, rules=EVERYTHING_ALLOWED, replies=["once"] * 5) as shell:
        await _read_and_feed(shell)


async def _read_and_feed(shell: ShellSession) -> None:
    command = "echo ready; while read line; do echo got $line; [ $line = end ] && exit 4; done"
    first = await shell.bash(command, background=True, timeout=150)
    assert "[job_1 is still running" in first.output
    if "ready" not in first.output:
        await _read_until(shell, "ready\n")
    assert (await shell.bash(job="job_1")).output == "[job_1 is still running]"
    one = await shell.bash(job="job_1", input="one\n")
    if "got one\n" not in one.output:
        await _read_until(shell, "got one\n")
    end = await shell.bash(job="job_1", input="end\n")
    if "has ended: exit code 4" not in end.output:
        await _read_until(shell, "has ended: exit code 4")
    late = await shell.bash(job="job_1", input="more\n")
    assert late.error is not None
    assert "it has ended" in late.output


async def _read_until(shell: ShellSession, text: str) -> None:
    """What a job prints comes in its own time."""
    async with patience():
        while text not in (await shell.bash(job="job_1", timeout=50)).output:
            pass


async def test_waiting_for_a_job_returns_when_it_ends(shell: ShellSession, project: Path) -> None:
    await shell.bash("until [ -e go ]; do sleep 0.01; done; echo done", background=True, timeout=50)
    (project / "go").touch()
    async with patience():
        result = await shell.bash(job="job_1", timeout=3_600_000)
    assert result.output == "done\n[job_1 has ended: exit code 0]"


async def test_a_background_command_that_ends_at_once_is_no_job(shell: ShellSession) -> None:
    result = await shell.bash("echo oops; exit 1", background=True)
    assert result.output == "oops\n[exit code 1]"
    assert "jobs" not in result.metadata


async def test_jobs_belong_to_their_session(shell: ShellSession) -> None:
    await shell.bash("sleep 300 &")
    stranger = await run(shell.another(rules=EVERYTHING_ALLOWED), job="job_1")
    assert stranger.output == "There is no job 'job_1'. This session has no jobs."
    [job] = shell.jobs.running(shell.session.id)
    await shell.jobs.end_session(shell.session.id)
    assert job.is_over


async def test_there_is_a_limit_to_jobs(shell: ShellSession) -> None:
    results = await asyncio.gather(*(shell.bash("sleep 300 &") for _ in range(RUNNING)))
    assert all(result.error is None for result in results)
    refused = await shell.bash("sleep 300 &")
    assert refused.error is not None
    assert f"{RUNNING} jobs are running already" in refused.output


async def test_closing_the_workspace_ends_jobs(project: Path) -> None:
    async with open_shell(project, rules=EVERYTHING_ALLOWED) as shell:
        await shell.bash("setsid sleep 300 & echo $! > pid")
    assert not Path("/proc", (project / "pid").read_text().strip()).exists()


async def test_input_is_judged_like_the_command_it_becomes(project: Path) -> None:
    rules = (Rule("bash", "*", "allow"), Rule("bash", "rm *", "deny"))
    async with open_shell(project, rules=rules, replies=["once", "once"]) as shell:
        (project / "victim").write_text("v")
        await shell.bash("bash", background=True, timeout=100)
        result = await shell.bash(job="job_1", input="rm victim\n")
        assert result.error is not None
        assert result.error.kind == "denied"
        assert (project / "victim").exists()


async def test_a_denied_command_does_not_run(project: Path) -> None:
    async with open_shell(project, rules=(Rule("bash", "touch *", "deny"),)) as shell:
        result = await shell.bash("touch made")
        assert result.error is not None
        assert result.error.kind == "denied"
        assert not (project / "made").exists()


async def test_a_bare_redirection_meets_the_rules(project: Path) -> None:
    (project / "victim").write_text("v")
    async with open_shell(project, rules=(Rule("bash", "*", "deny"), Rule("bash", "git status", "allow"))) as shell:
        result = await shell.bash("> victim")
        assert result.error is not None
        assert (project / "victim").read_text() == "v"


async def test_all_is_judged_before_anybody_is_asked(project: Path) -> None:
    rules = (Rule("bash", "*", "ask"), Rule("bash", "rm *", "deny"))
    async with open_shell(project, rules=rules, replies=["once"]) as shell:
        (project / "victim").write_text("v")
        result = await shell.bash("ls && rm victim")
        assert result.error is not None
        assert shell.user.questions == []
        assert (project / "victim").exists()


async def test_a_folder_outside_is_asked_for_and_then_open(project: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    async with open_shell(project, replies=["once"], sandbox=SandboxSettings()) as shell:
        result = await shell.bash(f"echo x > {outside}/file && cat {outside}/file")
    assert [question.permission for question in shell.user.questions] == ["external_directory"]
    assert result.output == "x\n"


async def test_a_question_tells_that_the_network_is_off(project: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    async with open_shell(project, replies=["reject"], sandbox=SandboxSettings(network=False)) as shell:
        if not await has_sandbox(shell):
            pytest.skip("no sandbox works here")
        await shell.bash(f"curl https://example.org > {outside}/page")
    told = shown_call(shell.user.questions[0], project)
    assert "network   none: the sandbox has switched it off" in told


async def test_a_work_folder_outside_is_asked_for(project: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    async with open_shell(project, replies=["reject"]) as shell:
        result = await shell.bash("touch made", workdir=str(outside))
    assert result.error is not None
    assert str(outside) in shell.user.questions[0].patterns
    assert list(outside.iterdir()) == []


async def has_sandbox(shell: ShellSession) -> bool:
    """Whether a sandbox works; one that the settings name may not be installed."""
    try:
        return await shell.sandbox.ready() != "none"
    except ToolError:
        return False


async def test_in_the_sandbox_hidden_files_cannot_be_read_and_the_result_says_so(project: Path) -> None:
    (project / ".env").write_text("SECRET=1\n" * 10)
    async with open_shell(project, sandbox=SandboxSettings(), replies=["once"]) as shell:
        if not await has_sandbox(shell):
            pytest.skip("no sandbox works here")
        result = await shell.bash("grep -r SECRET . ; python3 -c \"print(open('.env').read())\"", description="Looks")
    assert "SECRET" not in result.output
    assert result.output.endswith(
        "[sandbox: A file that a rule keeps from being read is hidden."
        " The user can show it with the setting sandbox.reveal.]"
    ), result.output


@pytest.mark.parametrize("mode", ["bubblewrap", "landlock"])
async def test_a_project_in_a_temporary_folder_works_like_any_other(
    project: Path, mode: Literal["bubblewrap", "landlock"]
) -> None:
    (project / ".env").write_text("SECRET=1")
    settings = SandboxSettings(mode=mode)
    async with open_shell(project, rules=(Rule("network", "*", "deny"),), sandbox=settings) as shell:
        result = await shell.bash("echo x > made && cat made ; grep -r SECRET .; ls -A")
        if "does not work on this machine" in result.output:
            pytest.skip(result.output)
    assert result.output.startswith("x\n"), result.output
    assert "SECRET=1" not in result.output
    assert (project / "made").read_text() == "x\n"


async def test_a_planning_agents_shell_cannot_write(project: Path) -> None:
    async with open_shell(project, agent="plan", sandbox=SandboxSettings(), replies=["once"] * 5) as shell:
        if not await has_sandbox(shell):
            pytest.skip("no sandbox works here")
        named = await shell.bash("echo x > made")
        hidden = await shell.bash("python3 -c \"open('made', 'w')\"")
        assert named.error is not None
        assert "Read-only file system" in hidden.output or "Permission denied" in hidden.output
        assert not (project / "made").exists()


@pytest.mark.skipif(not os.access(SHARED_MEMORY, os.W_OK), reason="no shared memory that could be written")
async def test_a_project_in_shared_memory_is_seen_where_it_may_only_be_read() -> None:
    with tempfile.TemporaryDirectory(dir=SHARED_MEMORY) as folder:
        Path(folder, "a.txt").write_text("x\n")
        async with open_shell(Path(folder), agent="plan", sandbox=SandboxSettings(), replies=["once"] * 5) as shell:
            assert (await shell.bash("cat a.txt")).output == "x\n"


async def test_a_folder_approved_to_a_planning_agent_is_still_not_its_to_write(project: Path) -> None:
    outside = project.parent / "outside"
    outside.mkdir(exist_ok=True)
    script = project / "touch.py"
    script.write_text("import sys; open(sys.argv[1] + '/made', 'w')")
    async with open_shell(project, agent="plan", sandbox=SandboxSettings(), replies=["once"] * 5) as shell:
        if not await has_sandbox(shell):
            pytest.skip("no sandbox works here")
        result = await shell.bash(f"ls {outside}; python3 touch.py {outside}")
        assert "Read-only file system" in result.output or "Permission denied" in result.output
        assert not (outside / "made").exists()


async def test_a_sandbox_that_cannot_be_set_up_is_an_error_and_not_output(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_shell(project, rules=EVERYTHING_ALLOWED, sandbox=SandboxSettings(mode="bubblewrap")) as shell:
        if not await has_sandbox(shell):
            pytest.skip("bubblewrap does not work here")
        monkeypatch.setattr("toolwright.process.box.bubblewrap._privileges", lambda _: ["--bind", "/no/such", "/x"])
        result = await shell.bash("echo never")
    assert result.error is not None
    assert result.output.startswith(
        "The sandbox could not be set up, so the command did not run: Can't find source path /no/such"
    )
    assert "tw doctor" in result.output


async def test_jobs_run_in_the_sandbox_too(project: Path) -> None:
    async with open_shell(project, rules=EVERYTHING_ALLOWED, sandbox=SandboxSettings()) as shell:
        late = "(until [ -e go ]; do sleep 0.01; done; echo late)"
        result = await shell.bash(f"{late} & setsid sleep 300 & echo now")
        assert result.output.startswith("now\n[job_1 is still running (")
        (project / "go").touch()
        await _read_until(shell, "late\n[job_1 is still running]")
        assert (await shell.bash(job="job_1", stop=True)).output == "[job_1 was stopped]"


async def test_settings_that_a_command_writes_are_moved_to_where_they_have_no_effect(project: Path) -> None:
    async with open_shell(project, rules=EVERYTHING_ALLOWED, sandbox=SandboxSettings(), replies=["once"]) as shell:
        if not await has_sandbox(shell):
            pytest.skip("no sandbox works here")
        result = await shell.bash("echo '{}' > toolwright.json")
    assert result.output.startswith("[sandbox: toolwright.json was moved to ")
    assert not (project / "toolwright.json").exists()


async def test_calls_at_the_same_time_keep_apart(shell: ShellSession) -> None:
    results = await asyncio.gather(*(shell.bash(f"echo {number}; exit {number}") for number in range(8)))
    assert [result.metadata["exit"] for result in results] == list(range(8))
    assert [result.metadata["output"] for result in results] == [f"{number}\n" for number in range(8)]
