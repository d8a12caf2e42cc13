"""Keys that come all at once: each means what it would mean if the person had waited for the one before it."""

import unicodedata
from pathlib import Path

import pytest
from textual import events
from textual.keys import REPLACED_KEYS, _character_to_key, _get_unicode_name_from_key

from tests.tui.stage import Stage, call, on_stage
from toolwright.inbox import Reply
from toolwright.tui.app import ChatApp
from toolwright.tui.commands import ScreenCommands
from toolwright.tui.dialog import Picker, TextDialog
from toolwright.tui.permission import PermissionDialog

CLEAN = call("bash", command="rm -rf made", description="Clean up")
COLOUR = call(
    "question",
    questions=[
        {
            "header": "Colour",
            "question": "Which colour?",
            "options": [{"label": "red", "description": ""}, {"label": "blue", "description": ""}],
        }
    ],
)


def burst(stage: Stage, *keys: str) -> None:
    """All of them on their way before the first is handled; longer texts letter by letter."""
    for key in keys:
        for one in [key] if key in NAMED else list(key):
            name = _character_to_key(one) if len(one) == 1 and not one.isalnum() else one
            try:
                letter: str | None = unicodedata.lookup(_get_unicode_name_from_key(REPLACED_KEYS.get(name, name)))
            except KeyError:
                letter = one if len(one) == 1 else None
            stage.app.post_message(events.Key(name, letter))


NAMED = {"enter", "tab", "up", "down", "escape", "ctrl+d", "ctrl+s", "ctrl+x", "ctrl+u", "f1", "ctrl+r"}


async def test_lines_that_are_typed_ahead_are_prompts_of_their_own(project: Path) -> None:
    async with on_stage(project, {"text": "One."}, {"text": "Two."}) as stage:
        burst(stage, "first", "enter", "second", "enter")
        await stage.until(lambda: "One." in stage.shown and "Two." in stage.shown, "both answers")
        assert "firstsecond" not in stage.shown


async def test_what_is_sent_while_the_project_opens_is_sent_in_its_order(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load = ScreenCommands.load

    async def load_late(self: ScreenCommands) -> None:
        self.app.send("second")
        await load(self)

    mount = ChatApp.on_mount

    def mount_and_send(self: ChatApp) -> None:
        mount(self)
        self.send("first")

    monkeypatch.setattr(ScreenCommands, "load", load_late)
    monkeypatch.setattr(ChatApp, "on_mount", mount_and_send)
    async with on_stage(project, {"text": "One."}, {"text": "Two."}) as stage:
        await stage.until(lambda: "Two." in stage.shown, "the second answer")
        assert stage.shown.index("first") < stage.shown.index("second")


async def test_a_completion_is_taken_by_the_key_behind_the_letters(project: Path) -> None:
    async with on_stage(project) as stage:
        burst(stage, "/edi", "tab")
        await stage.until(lambda: stage.app.prompt.text == "/editor ")
        assert stage.talk.desk.agent == "build"


async def test_the_key_that_leaves_an_empty_prompt_does_not_leave_one_that_was_just_written(project: Path) -> None:
    async with on_stage(project) as stage:
        burst(stage, "keep me", "ctrl+d")
        await stage.until(lambda: stage.app.prompt.text == "keep me")
        await stage.pilot.pause()
        assert stage.app.return_code is None


async def test_words_after_a_no_are_not_read_as_answers(project: Path) -> None:
    (project / "made").mkdir()
    async with on_stage(project, CLEAN, {"text": "Done."}) as stage:
        await stage.type("clean")
        await stage.asked()
        burst(stage, "n", "yes, but keep the sources", "enter")
        await stage.rest()
        assert (project / "made").exists()
        assert "yes, but keep the sources" in _told(stage)


async def test_words_of_ones_own_are_not_read_as_the_number_of_an_answer(project: Path) -> None:
    async with on_stage(project, COLOUR, {"text": "Done."}) as stage:
        await stage.type("ask")
        await stage.asked()
        burst(stage, "o", "2 shades of green", "enter")
        await stage.rest()
        assert "2 shades of green" in _told(stage)


async def test_an_answer_that_is_given_twice_is_given_once(project: Path) -> None:
    async with on_stage(project, CLEAN, CLEAN, {"text": "Done."}) as stage:
        await stage.type("clean")
        first = await stage.asked()
        burst(stage, "y", "y", "y")
        await stage.until(lambda: isinstance(stage.app.screen, PermissionDialog) and stage.app.screen is not first)
        await stage.asked()
        await stage.press("y")
        await stage.rest()


async def test_a_list_is_closed_once_by_two_keys(project: Path) -> None:
    async with on_stage(project) as stage:
        burst(stage, "f1")
        await stage.until(lambda: isinstance(stage.app.screen, TextDialog))
        burst(stage, "enter", "enter", "escape")
        await stage.until(lambda: not isinstance(stage.app.screen, TextDialog))
        await stage.pilot.pause()
        assert stage.app.is_running


async def test_what_is_typed_behind_a_command_goes_to_the_list_it_opens(project: Path) -> None:
    async with on_stage(project) as stage:
        burst(stage, "/theme", "enter", "light", "enter")
        await stage.until(lambda: stage.app.theme == "light", "the theme")
        assert not stage.app.prompt.text
        assert not stage.talk.busy


async def test_an_arrow_behind_letters_moves_in_the_list_they_leave(project: Path) -> None:
    async with on_stage(project) as stage:
        await stage.type("/theme")
        await stage.until(lambda: isinstance(stage.app.screen, Picker))
        picker = stage.app.screen
        assert isinstance(picker, Picker)
        burst(stage, "a", "down", "enter")
        names = [name for name, _ in picker.entries if "a" in name]
        await stage.until(lambda: not isinstance(stage.app.screen, Picker))
        await stage.until(lambda: stage.app.theme == names[1], names[1])


async def test_a_key_behind_the_leader_is_the_one_behind_it(project: Path) -> None:
    async with on_stage(project) as stage:
        burst(stage, "abc", "ctrl+x", "b")
        await stage.until(lambda: stage.app.prompt.text == "abc")
        await stage.until(lambda: stage.app.drawing is not None and stage.app.drawing.wants_panel is not None)


async def test_a_command_holds_for_the_prompt_behind_it(project: Path) -> None:
    async with on_stage(project, {"text": "Done."}) as stage:
        burst(stage, "/agent plan", "enter", "look", "enter")
        await stage.rest()
        assert stage.talk.session is not None
        messages = await stage.talk.call(stage.talk.project.messages(stage.talk.session.id))
        assert {one.info.agent for one in messages} == {"plan"}


async def test_what_is_typed_while_a_question_appears_stays_in_the_prompt(project: Path) -> None:
    async with on_stage(project, CLEAN, {"text": "Done."}) as stage:
        await stage.type("clean")
        stage.app.prompt.insert("then ")
        await stage.until(lambda: isinstance(stage.app.screen, PermissionDialog), "the question")
        dialog = stage.app.screen
        assert isinstance(dialog, PermissionDialog)
        dialog.armed = False
        burst(stage, "say yes", "enter")
        await stage.until(lambda: stage.app.prompt.text == "then say yes", "the words")
        assert stage.app.screen is dialog
        await stage.asked()
        await stage.press("y")
        await stage.rest()


async def test_a_question_that_was_settled_below_a_list_is_gone_when_the_list_is(project: Path) -> None:
    async with on_stage(project, CLEAN, {"text": "Done."}) as stage:
        await stage.type("clean")
        question = await stage.asked()
        assert isinstance(question, PermissionDialog)
        stage.app.send("/keys")
        await stage.until(lambda: isinstance(stage.app.screen, TextDialog))
        await stage.talk.call(stage.talk.project.reply(question.question.id, Reply(kind="once")))
        await stage.until(lambda: not stage.talk.busy, "the end of the turn")
        await stage.press("escape")
        await stage.until(lambda: len(stage.app.screen_stack) == 1)


def _told(stage: Stage) -> str:
    """The records of the calls."""
    return str([getattr(one, "part", "") for one in stage.talk.story.blocks])
