"""Where capture works, what says so, and what becomes of a command when it does not."""

import os
import signal
from pathlib import Path

import pytest

from tests.capture.case import KINDS, captured, look, prepare, python
from tests.process.shell_session import EVERYTHING_ALLOWED, open_shell
from tests.waiting import patience, until
from toolwright.process.sandbox.sandbox import SandboxSettings

CAPTURED = "whatever programs change is captured and can be undone: bubblewrap, landlock"


async def test_the_doctor_says_where_it_works_and_a_setting_turns_it_off(outside: Path) -> None:
    async with open_shell(outside, sandbox=SandboxSettings()) as shell:
        assert CAPTURED in await shell.sandbox.describe()
    async with open_shell(outside, sandbox=SandboxSettings(capture=False), rules=EVERYTHING_ALLOWED) as shell:
        assert "What commands change is not captured: sandbox.capture is off." in await shell.sandbox.describe()
        await shell.bash(python("open('seen by nobody', 'w')"))
        await shell.bash("touch named")
        entries = shell.workspace.files.journal.everything(shell.session.id)
        assert [Path(entry.path).name for entry in entries] == ["named"]


@pytest.mark.parametrize("kind", KINDS)
async def test_a_leader_that_is_killed_takes_the_command_with_it_and_what_it_did_is_known(kind: str) -> None:
    async with captured("landlock" if kind == "landlock" else "bubblewrap") as case:
        prepare(case.project)
        before = look(case.project)
        command = "echo new > d/f1; mv d e; touch started; while :; do sleep 0.05; echo x >> e/f2; done"
        await case.shell.bash(command, background=True, timeout=50)
        await until((case.project / "started").exists)
        [job] = case.shell.jobs.running(case.shell.session.id)
        os.kill(job._scope.leader, signal.SIGKILL)
        await until(lambda: job.is_over)
        await until(lambda: not case.shell.workspace.files.journal.ledgers)
        await case.undo()
        assert look(case.project) == before


async def test_no_fifo_is_opened_and_nobody_waits_for_one() -> None:
    async with captured() as case, patience():
        os.mkfifo(case.project / "pipe")
        result = await case.run("(echo into > pipe) & cat pipe; chmod 600 pipe; mv pipe tube; echo done")
        assert "into\ndone\n" in result.output


async def test_what_is_kept_is_private_and_gone_in_the_end() -> None:
    async with captured() as case:
        (case.project / "secret").write_text("secret\n")
        (case.project / "secret").chmod(0o600)
        stores = case.shell.workspace.files.journal.stores
        await case.shell.bash(
            "echo x > secret; touch started; until [ -e go ]; do sleep 0.01; done", background=True, timeout=50
        )
        await until((case.project / "started").exists)
        [store] = stores.iterdir()
        assert stores.stat().st_mode & 0o077 == 0
        assert store.stat().st_mode & 0o077 == 0
        (case.project / "go").touch()
        await until(lambda: not case.shell.workspace.files.journal.ledgers)
        await until(lambda: not list(stores.iterdir()))


async def test_what_a_killed_toolwright_has_left_is_swept() -> None:
    async with captured() as case:
        journal = case.shell.workspace.files.journal
        left, own = journal.stores / "4194305-ab", journal.stores / f"{os.getpid()}-cd"
        for folder in (left, own):
            folder.mkdir(parents=True)
        journal.sweep()
        assert (left.exists(), own.exists()) == (False, True)


async def test_links_that_lead_out_of_the_project_bring_nothing_in() -> None:
    async with captured() as case:
        secret = case.project.parent / "secret"
        secret.write_text("nobody's business\n")
        (case.project / "l").symlink_to(secret)
        before = look(case.project)
        await case.run(
            python("import os, contextlib\nwith contextlib.suppress(OSError): open('l', 'w')\nos.unlink('l')")
        )
        assert secret.read_text() == "nobody's business\n"
        folder = case.shell.workspace.files.journal.stores.parent / "images"
        assert b"nobody's business\n" not in [path.read_bytes() for path in folder.rglob("*") if path.is_file()]
        await case.undo()
        assert look(case.project) == before
