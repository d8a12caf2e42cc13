"""What a person does, at every door: the same comes of it."""

from pathlib import Path
from typing import Any

import pytest

from tests.app.doors import DOORS, WORDS, Door, Place, every_door, killed
from toolwright.calls.parts import Completed, Failed, ToolPart
from toolwright.models.scripted import ScriptedTurn

pytestmark = pytest.mark.slow

ASKED: dict[str, Any] = {"permission": {"bash": "ask"}}
REMOVE: ScriptedTurn = {"tools": [{"name": "bash", "args": {"command": "touch made.txt", "description": "Make it"}}]}
PROMPTS_ALONE = ("python", "tw run", "tw run --attach", "HTTP message", "HTTP command")
"""Doors whose lines are prompts: programs and scripts call what they want by itself."""


def calls(here: list[Any]) -> list[ToolPart]:
    return [part for session in here for one in session.messages for part in one.calls]


@every_door()
async def test_a_prompt_is_answered_and_the_next_goes_on_in_the_same_session(project: Path, door: Door) -> None:
    here = Place(project, [{"text": "Second.", "match": "two", "repeat": True}, {"text": "First.", "repeat": True}])
    shown = await door(here, ["one", "two"])
    [session], below = await here.records()
    assert not below
    said = [("user", "one"), ("assistant", "First."), ("user", "two"), ("assistant", "Second.")]
    assert session.texts == said
    assert "First." in shown
    assert "Second." in shown


@every_door("HTTP message", "HTTP command")  # to them it is a word, unless they say otherwise
async def test_a_file_that_a_prompt_names_goes_along(project: Path, door: Door) -> None:
    (project / "a.txt").write_text("the words of the file\n")
    here = Place(project, [{"text": "Read it.", "match": "the words of the file"}, {"text": "Nothing there."}])
    shown = await door(here, ["what is in @a.txt"])
    assert "Read it." in shown
    [session], _ = await here.records()
    assert session.prompts[0].agent == "build"


@every_door()
async def test_what_a_provider_refuses_is_told_in_its_words(project: Path, door: Door) -> None:
    refused: ScriptedTurn = {"error": {"message": "The key was not taken.", "kind": "auth", "retryable": False}}
    here = Place(project, [refused])
    shown = await door(here, ["hello"])
    assert "The key was not taken." in " ".join(shown.split())
    [session], _ = await here.records()
    assert [text for role, text in session.texts if role == "user"] == ["hello"]


@every_door()
async def test_what_is_allowed_once_is_asked_about_again(project: Path, door: Door) -> None:
    here = Place(project, [REMOVE, {"text": "Done."}, REMOVE, {"text": "Again."}], ASKED, answer="once")
    await door(here, ["make it", "make it"])
    sessions, _ = await here.records()
    assert [type(call.state) for call in calls(sessions)] == [Completed, Completed]
    assert here.asked == 2


@every_door()
async def test_what_is_allowed_always_is_not_asked_about_again(project: Path, door: Door) -> None:
    here = Place(project, [REMOVE, {"text": "Done."}, REMOVE, {"text": "Again."}], ASKED, answer="always")
    await door(here, ["make it", "make it"])
    sessions, _ = await here.records()
    assert [type(call.state) for call in calls(sessions)] == [Completed, Completed]
    assert here.asked == 1


@every_door()
async def test_what_is_rejected_is_not_done_and_the_words_reach_the_model(
    project: Path, door: Door, request: pytest.FixtureRequest
) -> None:
    here = Place(project, [REMOVE, {"text": "I will.", "repeat": True}], ASKED, answer="reject")
    await door(here, ["make it"])
    sessions, _ = await here.records()
    [call] = calls(sessions)
    assert isinstance(call.state, Failed)
    # Editors have no place for words beside an answer.
    assert (WORDS in call.state.error) is ("editor" not in request.node.callspec.id)
    assert not (project / "made.txt").exists()


@every_door(*PROMPTS_ALONE, "page")
async def test_a_turn_is_undone_and_made_again_by_typed_commands(project: Path, door: Door) -> None:
    write: ScriptedTurn = {"tools": [{"name": "write", "args": {"filePath": "made.txt", "content": "x\n"}}]}
    here = Place(project, [write, {"text": "Written."}])
    (project / "other.txt").write_text("")
    shown = await door(here, ["make it", "/undo turn", "/redo", "/undo file made.txt"])
    assert not (project / "made.txt").exists()
    assert shown.count("/redo makes it again") >= 1
    assert "made again" in shown


@every_door(*PROMPTS_ALONE)
async def test_a_line_of_the_shell_is_run_for_the_person(project: Path, door: Door) -> None:
    here = Place(project, [{"text": "Hello."}])
    await door(here, ["hello", "!touch made.txt"])
    assert (project / "made.txt").exists()


WAIT: ScriptedTurn = {
    "tools": [{"name": "bash", "args": {"command": "touch started; exec sleep 600", "description": "Wait"}}]
}
SECOND: ScriptedTurn = {"text": "Second.", "match": "two", "repeat": True}
WORK: ScriptedTurn = {
    "tools": [
        {
            "name": "bash",
            "args": {"command": "touch started; until [ -e go ]; do sleep 0.05; done", "description": "Work"},
        }
    ]
}


@every_door()
async def test_what_is_stopped_is_closed_and_the_next_prompt_is_answered(project: Path, door: Door) -> None:
    here = Place(project, [SECOND, WAIT], stops=True)
    await door(here, ["wait", "two"])
    [session], _ = await here.records()
    [call] = calls([session])
    assert isinstance(call.state, Failed)
    assert call.state.kind == "aborted"
    assert session.errors == ["MessageAbortedError"]
    assert session.texts == [("user", "wait"), ("user", "two"), ("assistant", "Second.")]


@every_door("tw run", "tw run --attach", "chat", "editor")  # docs/differences.md tells why
async def test_what_is_said_while_a_prompt_is_answered_is_answered_after_it(project: Path, door: Door) -> None:
    here = Place(project, [SECOND, WORK, {"text": "First."}], hurries=True)
    shown = await door(here, ["work", "two"])
    assert "Second." in shown
    [session], _ = await here.records()
    assert [type(call.state) for call in calls([session])] == [Completed]
    assert session.texts == [("user", "work"), ("assistant", "First."), ("user", "two"), ("assistant", "Second.")]


@every_door()
async def test_a_session_whose_program_was_killed_is_gone_on_with(project: Path, door: Door) -> None:
    here = Place(project, [SECOND, WAIT])
    await killed(here, "wait")
    [before], _ = await here.records()
    here.session = before.info.id
    shown = await door(here, ["two"])
    assert "Second." in shown
    [session], _ = await here.records()
    [call] = calls([session])
    assert isinstance(call.state, Failed)
    assert call.state.error == "The call was stopped: the program ended in the middle of it."
    assert session.texts == [("user", "wait"), ("user", "two"), ("assistant", "Second.")]


@pytest.mark.parametrize("name", ["tw run", "tw run --attach", "chat"])
async def test_a_session_is_gone_on_with_by_its_two_words(project: Path, name: str) -> None:
    here = Place(project, [{"text": "Hello.", "repeat": True}])
    await DOORS["tw run"](here, ["the first"])
    [before], _ = await here.records()
    here.session = before.info.slug or ""
    shown = await DOORS[name](here, ["and now"])
    [session], _ = await here.records()
    assert [text for role, text in session.texts if role == "user"] == ["the first", "and now"], shown
