"""Commands that run on: what they change later is theirs, and belongs to the turn in which it happened."""

from pathlib import Path

import pytest

from tests.capture.case import captured, look
from tests.session.trial import call, calls, opened, says
from tests.waiting import until
from toolwright.session.undo.file_back import NothingToUndo, Selection
from toolwright.session.undo.undo import Undo

WAITING = "until [ -e go{0} ]; do sleep 0.01; done"


async def test_what_a_job_does_after_its_call_goes_with_the_call() -> None:
    async with captured() as case:
        (case.project / "f").write_text("before\n")
        before = look(case.project)
        await case.shell.bash(f"echo one > f; {WAITING.format(1)}; echo two > f; rm go1", background=True, timeout=50)
        await until(lambda: (case.project / "f").read_text() == "one\n")
        await case.of()
        call_id = case.last_call
        (case.project / "go1").touch()
        await until(lambda: not case.shell.workspace.files.journal.ledgers)
        assert (case.project / "f").read_text() == "two\n"
        await case.undo(Selection(call=call_id))
        # It was the user's own, so undo has brought it back.
        (case.project / "go1").unlink()
        assert look(case.project) == before


async def test_what_it_does_while_it_runs_can_be_undone_then() -> None:
    async with captured() as case:
        (case.project / "f").write_text("before\n")
        await case.shell.bash(f"{WAITING.format(1)}; echo one > f; {WAITING.format(2)}", background=True, timeout=50)
        (case.project / "go1").touch()
        await until(lambda: (case.project / "f").read_text() == "one\n")
        undo = await case.of()
        await undo.revert(Selection(call=case.last_call))
        with pytest.raises(NothingToUndo):
            await case.undo()
        assert (case.project / "f").read_text() == "before\n"
        await case.shell.jobs.end_session(case.shell.session.id)


async def test_what_it_does_in_a_later_turn_goes_with_that_turn(outside: Path) -> None:
    background = f"echo one > f; {WAITING.format(1)}; echo two > f; echo new > g; {WAITING.format(2)}"
    script = (calls(call("bash", command=background, background=True)), says("Started."), says("Second."))
    async with opened(outside, *script) as trial:
        await trial.prompt()
        await until(lambda: (outside / "f").exists() and (outside / "f").read_text() == "one\n")
        await trial.prompt()
        (outside / "go1").touch()
        await until((outside / "g").exists)
        users = [message.info.id for message in trial.messages if message.info.role == "user"]
        undo = await Undo.of(trial.workspace.files, trial.session.conversation)
        await undo.revert(Selection(turn=users[1]))
        assert (outside / "f").read_text() == "one\n"
        assert not (outside / "g").exists()
        undo = await Undo.of(trial.workspace.files, trial.session.conversation)
        await undo.revert(Selection(turn=users[0]))
        assert not (outside / "f").exists()
