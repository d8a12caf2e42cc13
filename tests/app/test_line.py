"""What a line means, and what it does: the same at every door."""

from pathlib import Path
from typing import Any

import pytest

from tests.app.doors import Door, Place, every_door
from toolwright.calls.parts import Completed
from toolwright.models.scripted import ScriptedTurn

TURNS: list[ScriptedTurn] = [
    {"match": "Look at", "text": "Found it.", "repeat": True},
    {"text": "Hello there.", "repeat": True},
]


def place(project: Path, **commands: dict[str, Any]) -> Place:
    return Place(project, TURNS, {"command": commands})


@every_door()
@pytest.mark.parametrize("before", [(), ("hello",)], ids=["first", "later"])
@pytest.mark.parametrize("how", [{"subtask": True}, {"agent": "explore"}], ids=["subtask", "agent"])
async def test_a_command_that_a_subagent_carries_out_is_answered_by_it_and_shown(
    project: Path, door: Door, before: tuple[str, ...], how: dict[str, Any]
) -> None:
    here = place(project, look={"template": "Look at $1", **how})
    shown = await door(here, [*before, "/look here"])
    [session], [child] = await here.records()
    assert shown.count("Found it.") >= 1
    assert ("user", "/look here") in session.texts
    assert session.texts[-1] == ("assistant", "Found it.")
    assert child.texts == [("user", "Look at here"), ("assistant", "Found it.")]
    [call] = [part for one in session.messages for part in one.calls]
    assert isinstance(call.state, Completed)
    assert call.tool == "task"
    assert call.state.metadata["sessionId"] == child.info.id
    assert child.prompts[0].agent == how.get("agent", "build")
    assert session.prompts[-1].agent == "build", "who answers in the session is who did before"


@every_door()
async def test_the_model_of_a_command_wins_over_the_one_that_was_chosen(project: Path, door: Door) -> None:
    other = project.parent / "other.json"
    other.write_text('[{"text": "From the other.", "repeat": true}]')
    here = place(project, use={"template": "Use it", "model": f"scripted/{other}"})
    shown = await door(here, ["hello", "/use"])
    [session], _ = await here.records()
    assert ["other" in model for model in session.models] == [False, True]
    assert "From the other." in shown


@every_door()
async def test_the_model_of_a_commands_agent_wins_as_well(project: Path, door: Door) -> None:
    other = project.parent / "other.json"
    other.write_text('[{"text": "From the other.", "repeat": true}]')
    here = place(project, use={"template": "Use it", "agent": "plan"})
    here.config["agent"] = {"plan": {"model": f"scripted/{other}"}}
    await door(here, ["/use"])
    [session], _ = await here.records()
    assert session.prompts[0].agent == "plan"
    assert "other" in session.models[0]


@every_door()
async def test_what_a_command_comes_to_calls_no_other(project: Path, door: Door) -> None:
    here = place(project, first={"template": "/second $1"}, again={"template": "/again", "subtask": True})
    here.config["command"]["second"] = {"template": "Never"}
    await door(here, ["/first x", "/again"])
    [session], [child] = await here.records()
    assert ("user", "/second x") in session.texts
    assert child.texts[0] == ("user", "/again")


@every_door()
async def test_a_skill_is_asked_for_by_its_name(project: Path, door: Door) -> None:
    folder = project / ".opencode" / "skill" / "tea"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text("---\nname: tea\ndescription: makes tea\n---\nBoil.")
    here = place(project)
    await door(here, ["/tea green"])
    [session], _ = await here.records()
    assert session.texts[0] == ("user", "Load the skill tea with the skill tool and do as it says.\n\ngreen")


@every_door()
async def test_a_command_of_the_user_takes_the_name_of_one_of_ours(project: Path, door: Door) -> None:
    here = place(project, compact={"template": "Be brief about $1"})
    await door(here, ["hello", "/compact tea"])
    [session], _ = await here.records()
    assert ("user", "Be brief about tea") in session.texts
