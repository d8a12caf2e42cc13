"""Questions on the full screen."""

from pathlib import Path

import pytest

pytest.importorskip("textual", reason="the full screen needs textual: pip install 'toolwright[tui]'")

from textual.widgets import Input

from tests.tui.stage import Stage, call, on_stage
from toolwright.tui.asking import ChoiceDialog
from toolwright.tui.permission import PermissionDialog

CLEAN = call("bash", command="echo hi > made; rm -rf ../elsewhere", description="Clean")


async def test_a_permission_shows_the_whole_call_what_it_does_and_the_rule_that_each_answer_stores(
    project: Path,
) -> None:
    async with on_stage(project, CLEAN, {"text": "Done."}) as stage:
        await stage.type("clean")
        await stage.asked()
        for told in (
            "build wants to run a command",
            "│ echo hi > made; rm -rf ../elsewhere",
            "writes made",
            "deletes",
            "(outside the project)",
            "Allow once y Always a Reject n ? why",
        ):
            assert told in stage.words.replace(" █", ""), told
        await stage.press("a")
        for told in ("This session s This project a Every project u", "bash rm -rf ../elsewhere"):
            await stage.see(told)
        await stage.press("escape")
        await stage.see("Allow once y")
        await stage.press("?")
        await stage.see("why it is asked")
        await stage.press("ctrl+f")
        await stage.see("runs echo hi")
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
        await stage.see("↑↓ more")
        await stage.press("ctrl+f")
        await stage.see("why it is asked")
        await stage.until(
            lambda: "toolwright.json:2" in "".join(stage.words.replace("█", "").split()), "the file and line"
        )
        await stage.press("y")
        await stage.rest()


async def test_an_answer_for_longer_stores_only_the_rules_that_were_left_in(project: Path) -> None:
    (project / "a.txt").write_text("a")
    turn = call("bash", command="cat a.txt; rm -f b.txt", description="Clean")
    async with on_stage(project, turn, {"text": "Done."}) as stage:
        await stage.type("clean")
        dialog = await stage.asked()
        assert isinstance(dialog, PermissionDialog)
        count = len(dialog.question.always)
        assert count > 1
        await stage.press("a")
        await stage.see("1. ")
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
        assert "1 + one" in stage.words
        await stage.pilot.resize_terminal(180, 40)
        await stage.until(lambda: stage.app.size.width == 180, "the wide screen")
        assert "█ 1 + one" in stage.words, "a new file has no other side"
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
        assert "Stopped." in stage.shown
        assert not (project / "made").exists()


async def test_a_question_that_is_withdrawn_goes_away(project: Path) -> None:
    async with on_stage(project, CLEAN, {"text": "Done."}) as stage:
        await stage.type("clean")
        await stage.asked()
        await stage.talk.stop()
        await stage.until(lambda: not isinstance(stage.app.screen, PermissionDialog), "its end")


async def test_a_question_that_is_shown_or_waits_already_is_not_put_twice(project: Path) -> None:
    async with on_stage(project, CLEAN, {"text": "Done."}) as stage:
        await stage.type("clean")
        dialog = await stage.asked()
        assert isinstance(dialog, PermissionDialog)
        questions = stage.app.questions
        questions.asked(dialog.question.id)
        assert questions.waiting == []
        questions.asked("per_other")
        questions.asked("per_other")
        assert questions.waiting == ["per_other"]
        questions.withdrawn("per_other")
        assert questions.waiting == []
        assert questions.current is dialog.question
        await stage.press("y")
        await stage.rest()


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
        await stage.see("auto-approve: edits")
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
        [_, message, *_] = await stage.talk.call(stage.talk.project.messages(stage.talk.story.session_id))
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
        await stage.see("? why · ↑↓ more")
        assert "rm -rf gone" not in stage.text
        await stage.press("end")
        await stage.see("deletes gone")
        await stage.press("y")
        await stage.rest()


@pytest.mark.parametrize(("size", "most"), [((80, 24), 12), ((120, 40), 16), ((60, 20), 10)])
async def test_a_question_leaves_the_talk_in_sight_which_scrolls_behind_it(
    project: Path, size: tuple[int, int], most: int
) -> None:
    words = "\n\n".join(f"word {number}" for number in range(60))
    edit = call("write", filePath="a.new", content="\n".join(f"new {number}" for number in range(60)))
    async with on_stage(project, {"text": words, **edit}, {"text": "Done."}, size=size) as stage:
        await stage.type("go")
        await stage.asked()
        await stage.see("build wants to write a.new")
        rows = stage.text.splitlines()
        question = [at for at, row in enumerate(rows) if row.startswith("█")]
        assert len(question) <= most
        assert question[-1] == size[1] - 1
        assert "write a.new" in " ".join("\n".join(rows[: question[0]]).split()), "the end of the talk stands above it"
        assert "word 1 " not in stage.words
        for _ in range(20):
            await stage.press("pageup")
        await stage.see("word 1 ")
        assert "build wants to write a.new" in stage.words, "the question stays"
        await stage.press("ctrl+f", "end")
        await stage.see("+ new 59")
        await stage.press("ctrl+f")
        await stage.see("word 1 ")
        await stage.press("y")
        await stage.rest()


async def test_enter_gives_the_chosen_answer_but_none_to_who_is_writing(project: Path) -> None:
    turns = (CLEAN, {"text": "Done."}, CLEAN, {"text": "Done again."})
    async with on_stage(project, *turns) as stage:
        await stage.type("clean")
        await stage.asked()
        await stage.press("right", "left", "enter")
        await stage.rest()
        assert (project / "made").exists()
        stage.app.prompt.insert("half a pro")
        stage.app.send("clean")
        dialog = await stage.asked()
        assert isinstance(dialog, PermissionDialog)
        assert dialog.at == -1
        await stage.press("enter")
        assert stage.app.screen is dialog
        await stage.press("tab", "enter")
        await stage.until(lambda: "Done again." in stage.shown, "the answer")


async def test_one_question_is_about_all_that_a_command_needs(project: Path) -> None:
    (project / "build").mkdir()
    (project / "build" / "a.o").write_text("x")
    turns = (call("bash", command="rm -rf build && ls", description="Clean"), {"text": "Done."})
    config = {"permission": {"bash": {"*": "ask", "ls *": "allow"}, "edit": "ask"}}
    async with on_stage(project, *turns, config=config) as stage:
        await stage.type("go")
        dialog = await stage.asked()
        assert isinstance(dialog, PermissionDialog)
        await stage.press("a")
        await stage.see("1. edit build")
        assert dialog.rules == ("(edit) build", "rm -rf build"), "no rule for every file, none for what is allowed"
        await stage.press("s")
        await stage.rest()
        assert not (project / "build").exists()
        stored = stage.workspace.gate.approvals.of((stage.talk.story.session_id,))
        assert [(one.permission, one.pattern) for one in stored] == [("edit", "build"), ("bash", "rm -rf build")]


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
        await stage.press("a", "e")
        rule = stage.app.screen.query_one("#rule", Input)
        assert rule.has_focus
        rule.value = "cat c*"
        await stage.see("This rule would not cover this call")
        await stage.press("enter")
        assert rule.has_focus, "what does not answer the question is not taken"
        rule.value = "cat *"
        await stage.see("Covers this call and one asked before")
        rule.value = "cat b.txt"
        await stage.press("enter")
        await stage.until(lambda: not rule.has_focus, "the end of editing")
        await stage.press("s")
        await stage.until(lambda: _asked_command(stage) == "cat c.txt", "the third question")
        await stage.asked()
        await stage.press("a", "e", "escape", "escape", "y")
        await stage.rest()
        assert stage.talk.session is not None
        assert [one.pattern for one in stage.workspace.gate.approvals.of((stage.talk.session.id,))] == ["cat b.txt"]


def _asked_command(stage: Stage) -> object:
    screen = stage.app.screen
    return screen.question.arguments.get("command") if isinstance(screen, PermissionDialog) else None
