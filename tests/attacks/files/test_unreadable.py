"""A file that may not be read shows up nowhere when it is changed: no difference, no record, no event, no export."""

import json
from pathlib import Path

import pytest

from tests.session.trial import Trial, call, calls, opened, says
from toolwright.app.undoing import diff_of, diff_of_entry, session_changes, turn_changes
from toolwright.models.scripted import ScriptedCall
from toolwright.protocols.client_json import to_json
from toolwright.session.undo.file_back import Selection
from toolwright.session.undo.undo import Undo
from toolwright.testing import ScriptedUser

SECRET = "hunter2"
TEXT = f"KEY={SECRET}\nOTHER={SECRET}\n"


@pytest.fixture
def secret(project: Path) -> Path:
    (project / ".env").write_text(TEXT)
    return project / ".env"


def patch(*lines: str) -> ScriptedCall:
    return call("apply_patch", patchText="\n".join(("*** Begin Patch", *lines, "*** End Patch")))


WAYS = {
    "deletes it": patch("*** Delete File: .env"),
    "replaces it": patch("*** Add File: .env", "+new"),
    "deletes it and makes it anew": patch("*** Delete File: .env", "*** Add File: .env", "+new"),
    "moves another file there": patch("*** Update File: a.txt", "*** Move to: .env", "@@", "-hello", "+bye"),
    "deletes it by a command": call("bash", command="rm .env", description="x"),
    "replaces it by a command": call("bash", command="echo new > .env", description="x"),
    "adds to it by a command": call("bash", command="echo new >> .env", description="x"),
}


async def everything_recorded(trial: Trial) -> str:
    """Whatever of the session is kept, sent or shown."""
    workspace, session = trial.workspace, trial.session
    undo = await Undo.of(workspace.files, session.conversation)
    plans = undo.plan(Selection(turn=trial.messages[0].info.id))
    shown = [
        *(to_json(event) for event in trial.events),
        *(question.metadata for question in trial.user.questions),
        await workspace.sessions.exported(session.id),
        [to_json(change) for change in await session_changes(workspace, session.info)],
        [to_json(change) for change in await turn_changes(workspace, session, trial.messages[0].info.id)],
        [diff_of_entry(workspace, entry) for entry in undo.changes()],
        diff_of(plans),
        diff_of([plan.turned() for plan in plans]),
        [[hunk.text for hunk in plan.hunks()] for plan in plans],
        [plan.counts() for plan in plans],
    ]
    return json.dumps(shown, default=str)


@pytest.mark.parametrize("way", WAYS)
async def test_nothing_of_it_is_kept_sent_or_shown(way: str, project: Path, secret: Path) -> None:
    rules = {"permission": {"edit": {"*": "ask"}}, "sandbox": "off"}
    user = ScriptedUser.saying(*["once"] * 4)
    async with opened(project, calls(WAYS[way]), says("Done."), user=user, config=rules) as trial:
        await trial.prompt()
        assert not secret.exists() or secret.read_text() != TEXT
        recorded = await everything_recorded(trial)
        assert SECRET not in recorded
        assert "not shown, because a rule keeps this file from being read" in recorded


@pytest.mark.parametrize("way", WAYS)
async def test_it_comes_back_as_it_was(way: str, project: Path, secret: Path) -> None:
    async with opened(project, calls(WAYS[way]), says("Done."), config={"sandbox": "off"}) as trial:
        await trial.prompt()
        undo = await Undo.of(trial.workspace.files, trial.session.conversation)
        (hidden,) = [plan for plan in undo.plan(Selection()) if plan.path == str(secret)]
        await undo.revert(Selection(file=".env", hunks=tuple(hunk.id for hunk in hidden.hunks())))
        assert secret.read_text() == TEXT


async def test_of_other_files_the_difference_is_shown(project: Path) -> None:
    async with opened(project, calls(patch("*** Delete File: a.txt")), says("Done.")) as trial:
        await trial.prompt()
        assert "-hello" in await everything_recorded(trial)
