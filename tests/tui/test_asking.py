"""Questions on the full screen."""

from pathlib import Path

import pytest

pytest.importorskip("textual", reason="the full screen needs textual: pip install 'toolwright[tui]'")

from textual.widgets import Input

from tests.tui.stage import Stage, call, on_stage
from toolwright.tui.asking import ChoiceDialog, PermissionDialog

CLEAN = call("bash", command="echo hi > made; rm -rf ../elsewhere", description="Clean")


async def test_a_permission_shows_the_whole_call_what_it_does_and_the_rule_that_each_answer_stores(
    project: Path,
) -> None:
    async with on_stage(project, CLEAN, {"text": "Done."}) as stage:
        await stage.type("clean")
        await stage.asked()
        for told in (
            "Call of bash by the agent build",
            "│ echo hi > made; rm -rf ../elsewhere",
            "runs echo hi",
            "writes made",
            "deletes",
            "(outside the project)",
            "network none",
            "yes, this once",
            "yes, for this session",
            "yes, always in this project",
            "bash rm -rf ../elsewhere",
        ):
            assert told in stage.words, told
        await stage.press("y")
        await stage.rest()
        assert "Done." in stage.shown
        assert (project / "made").exists()


async def test_the_question_is_explained_with_file_and_line(project: Path) -> None:
    (project / "toolwright.json").write_text('{"permission":\n {"bash": {"rm *": "ask"}}}')
    async with on_stage(project, CLEAN, {"text": "Done."}, size=(100, 40)) as stage:
        await stage.type("clean")
        await stage.asked()
        await stage.press("?")
        await stage.see("why it is asked")
        await stage.until(lambda: "toolwright.json:2" in "".join(stage.words.split()), "the file and line")
        await stage.press("y")
        await stage.rest()


async def test_an_answer_for_longer_stores_only_the_rules_that_were_left_in(project: Path) -> None:
    async with on_stage(project, CLEAN, {"text": "Done."}) as stage:
        await stage.type("clean")
        dialog = await stage.asked()
        assert isinstance(dialog, PermissionDialog)
        count = len(dialog.question.always)
        assert count > 1
        await stage.press("1")
        await stage.see("(left out)")
        await stage.press("s")
        await stage.rest()
        stored = stage.workspace.gate.approvals.of((stage.talk.story.session_id,))
        assert [one.pattern for one in stored] == list(dialog.question.always[1:])


async def test_a_refusal_with_words_reaches_the_agent(project: Path) -> None:
    turns = (CLEAN, {"text": "I will list instead.", "match": "use ls"}, {"text": "Wrong."})
    async with on_stage(project, *turns) as stage:
        await stage.type("clean")
        await stage.asked()
        await stage.press("n")
        await stage.until(lambda: stage.app.screen.query_one("#advice").has_focus, "the line for words")
        assert stage.app.screen.query_one("#advice", Input).value == ""
        await stage.press(*"use", "space", *"ls", "enter")
        await stage.rest()
        assert "I will list instead." in stage.shown
        assert not (project / "made").exists()


async def test_a_diff_is_part_of_the_question(project: Path) -> None:
    turns = (call("write", filePath="a.new", content="one\ntwo\n"), {"text": "Done."})
    async with on_stage(project, *turns) as stage:
        await stage.type("write")
        await stage.asked()
        assert "+one" in stage.words
        await stage.pilot.resize_terminal(180, 40)
        await stage.see("│ 1 one")
        await stage.press("y")
        await stage.rest()
        assert (project / "a.new").read_text() == "one\ntwo\n"


async def test_a_key_that_was_on_its_way_is_no_answer(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    due = list[PermissionDialog]()
    monkeypatch.setattr(PermissionDialog, "_arm", lambda self: due.append(self))
    async with on_stage(project, CLEAN, {"text": "Done."}) as stage:
        await stage.type("clean")
        await stage.until(lambda: isinstance(stage.app.screen, PermissionDialog), "the question")
        dialog = stage.app.screen
        await stage.press("y")
        assert stage.app.screen is dialog
        await stage.until(lambda: due, "the time from which on keys are answers")
        due[0].armed = True
        await stage.press("y")
        await stage.rest()


async def test_escape_at_a_question_stops_the_turn(project: Path) -> None:
    async with on_stage(project, CLEAN, {"text": "Done."}, {"text": "Next."}) as stage:
        await stage.type("clean")
        await stage.asked()
        await stage.press("escape")
        await stage.rest()
        assert "the user stopped the turn" in stage.shown
        assert not (project / "made").exists()


async def test_a_question_that_is_withdrawn_goes_away(project: Path) -> None:
    async with on_stage(project, CLEAN, {"text": "Done."}) as stage:
        await stage.type("clean")
        await stage.asked()
        await stage.talk.stop()
        await stage.until(lambda: not isinstance(stage.app.screen, PermissionDialog), "its end")


async def test_modes_answer_by_themselves_and_a_denial_still_holds(project: Path) -> None:
    config = {"permission": {"bash": {"rm *": "ask", "rm -rf never": "deny"}, "edit": {"*.new": "ask"}}}
    turns = (
        call("write", filePath="a.new", content="x"),
        call("bash", command="rm -f a.new", description="Remove"),
        call("bash", command="rm -rf never", description="Remove"),
        {"text": "Done."},
    )
    async with on_stage(project, *turns, config=config) as stage:
        (project / "never").mkdir()
        await stage.press("shift+tab")
        await stage.see("edits without asking")
        await stage.type("go")
        await stage.asked()
        assert (project / "a.new").exists(), "the edit was not asked about"
        assert "rm -f a.new" in stage.words
        stage.talk.mode = "all"
        await stage.press("y")
        await stage.rest()
        assert (project / "never").exists()
        assert "Done." in stage.shown


@pytest.mark.slow
async def test_the_agents_question_is_answered_by_number_by_several_or_in_ones_own_words(project: Path) -> None:
    options = [{"label": "Red", "description": "like fire"}, {"label": "Blue", "description": ""}]
    questions = [
        {"question": "Which colour?", "header": "Colour", "options": options},
        {"question": "Which of them?", "header": "Several", "options": options, "multiple": True},
        {"question": "And the name?", "header": "Name", "options": options},
    ]
    async with on_stage(project, call("question", questions=questions), {"text": "Thanks."}) as stage:
        await stage.type("ask me")
        first = await stage.asked()
        await stage.see("like fire")
        await stage.press("2")
        await stage.until(lambda: stage.app.screen is not first, "the second question")
        second = await stage.asked()
        await stage.press("1", "2", "enter")
        await stage.until(lambda: stage.app.screen is not second, "the third question")
        third = await stage.asked()
        assert isinstance(third, ChoiceDialog)
        await stage.press("o", *"Ann", "enter")
        await stage.rest()
        [_, message, *_] = await stage.talk.call(stage.talk.backend.messages(stage.talk.story.session_id))
        output = getattr(message.calls[0].state, "output", "")
        assert "Blue" in output
        assert "Red, Blue" in output
        assert "Ann" in output


async def test_a_question_of_a_subagent_is_asked_too(project: Path) -> None:
    task = call("task", description="Clean", prompt="CHILD clean up", subagent_type="general")
    turns = (task, {**CLEAN, "match": "CHILD"}, {"text": "Cleaned.", "match": "CHILD"}, {"text": "All done."})
    async with on_stage(project, *turns) as stage:
        await stage.type("clean")
        await stage.asked()
        assert "a subagent of the session" in stage.words
        await stage.press("y")
        await stage.rest()


async def test_the_smallest_screen_shows_a_long_question_by_scrolling(project: Path) -> None:
    lines = "\n".join(f"echo {number}" for number in range(40))
    long = call("bash", command=f"{lines}\nrm -rf gone", description="Much")
    async with on_stage(project, long, {"text": "Done."}, size=(60, 16)) as stage:
        await stage.type("go")
        await stage.asked()
        await stage.see("? why")
        assert "rm -rf gone" not in stage.text.partition("y once")[0]
        await stage.press("end")
        await stage.see("rm -rf gone y once")
        await stage.press("y")
        await stage.rest()


async def test_on_a_low_screen_the_answers_are_short_and_what_is_asked_has_room(project: Path) -> None:
    turn = call("bash", command="echo hi > made; rm -rf gone", description="Clean")
    async with on_stage(project, turn, {"text": "Done."}, size=(60, 16)) as stage:
        await stage.type("clean")
        await stage.asked()
        for told in (
            "│ echo hi > made; rm -rf gone",
            "deletes gone",
            "network none",
            "asks for",
            "y once",
            "u every project",
        ):
            assert told in stage.words, told
        assert "bash rm -rf gone" in stage.words.partition("store:")[2]
        await stage.press("y")
        await stage.rest()


async def test_a_rule_can_be_edited_and_its_meaning_is_shown_before_it_is_stored(project: Path) -> None:
    for name in ("a.txt", "b.txt", "c.txt"):
        (project / name).write_text(name)
    calls = [call("bash", command=f"cat {name}.txt", description="Read") for name in "abc"]
    async with on_stage(project, *calls, {"text": "Read."}) as stage:
        await stage.type("read")
        await stage.asked()
        await stage.press("y")
        await stage.until(lambda: _asked_command(stage) == "cat b.txt", "the second question")
        await stage.asked()
        await stage.press("e")
        rule = stage.app.screen.query_one("#rule", Input)
        assert rule.has_focus
        rule.value = "cat c*"
        await stage.see("does not answer this question")
        await stage.press("enter")
        assert rule.has_focus, "what does not answer the question is not taken"
        rule.value = "cat *"
        await stage.see("answers this question and one asked before: cat a.txt")
        rule.value = "cat b.txt"
        await stage.press("enter")
        await stage.until(lambda: not rule.has_focus, "the end of editing")
        await stage.press("s")
        await stage.until(lambda: _asked_command(stage) == "cat c.txt", "the third question")
        await stage.asked()
        await stage.press("e", "escape", "y")
        await stage.rest()
        assert stage.talk.session is not None
        assert [one.pattern for one in stage.workspace.gate.approvals.of((stage.talk.session.id,))] == ["cat b.txt"]


def _asked_command(stage: Stage) -> object:
    screen = stage.app.screen
    return screen.question.arguments.get("command") if isinstance(screen, PermissionDialog) else None
