"""Goals wherever prompts are: as a command of ours, over HTTP, and for editors."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.acp.harness import editor
from tests.proof.test_goals import FIX
from tests.server.harness import served
from tests.session.trial import says
from toolwright.app.desk import Desk
from toolwright.app.own import own_commands
from toolwright.app.project import LocalProject
from toolwright.errors import UsageError
from toolwright.models.scripted import ScriptedModel
from toolwright.testing import make_workspace


def words(outcome: Any) -> str:
    return "\n".join(text for text, _ in outcome.lines)


async def test_a_goal_holds_for_the_next_prompts_until_it_is_taken_off(project: Path) -> None:
    model = ScriptedModel(says("Done."), FIX, says("Now it is."), says("Hello."))
    async with make_workspace(project, model=model, keep=True) as workspace:
        desk = Desk(project=LocalProject(workspace), agent="build")
        goal = own_commands("session")["goal"].run
        assert "no goal" in words(await goal(desk, ""))
        with pytest.raises(UsageError, match="would never end"):
            await goal(desk, "tail -f new.txt")
        assert "until `grep fixed new.txt` holds" in words(await goal(desk, "grep fixed new.txt"))
        result = await desk.say("fix it")
        assert (result.text, result.evidence and result.evidence.verdict) == ("Now it is.", "proven")
        shown = words(await goal(desk, ""))
        assert "until `grep fixed new.txt` holds" in shown
        assert "proven" in shown
        await goal(desk, "off")
        assert (await desk.say("hello")).evidence is None


async def test_a_new_session_begins_without_a_goal(project: Path) -> None:
    async with make_workspace(project, model=ScriptedModel(says("Done."))) as workspace:
        desk = Desk(project=LocalProject(workspace), agent="build", goal="true")
        desk.leave()
        assert json.dumps(desk.goal) == '""'


async def test_an_editor_sets_a_goal_and_its_prompts_are_worked_on(tmp_path: Path) -> None:
    async with editor(tmp_path / "p", says("Done."), FIX, says("Now it is.")) as person:
        session = await person.session()
        await person.prompt(session, "/goal grep fixed new.txt")
        assert (await person.prompt(session, "fix it"))["stopReason"] == "end_turn"
        assert (person.folder / "new.txt").read_text() == "fixed\n"


async def test_a_prompt_over_http_may_have_a_goal(tmp_path: Path) -> None:
    async with served(tmp_path / "p", says("Done."), FIX, says("Now it is.")) as server:
        session = await server.session()
        answer = await server.say(session, "fix it", until="grep fixed new.txt")
        assert "Now it is." in [part.get("text") for part in answer["parts"]]
        evidence = await server.get(f"/tw/session/{session}/evidence")
        assert (evidence["verdict"], [one["exit"] for one in evidence["checks"]]) == ("proven", [2, 2, 0])
        body = {"parts": [{"type": "text", "text": "x"}], "until": "tail -f new.txt"}
        await server.post(f"/session/{session}/message", body, status=400)
        line = await server.post("/tw/line", {"text": "/goal test -d .", "session": session})
        assert line["chosen"]["goal"] == "test -d ."
