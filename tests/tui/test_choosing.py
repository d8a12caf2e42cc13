"""Sessions, models, agents, places and changes that are chosen on the full screen."""

import json
from pathlib import Path

import pytest

pytest.importorskip("textual", reason="the full screen needs textual: pip install 'toolwright[tui]'")

from textual.widgets import Input, OptionList

from tests.tui.stage import Stage, call, on_stage
from tests.tui.test_talking import HOLD
from toolwright.testing import ScriptedModel
from toolwright.tui.blocks import Said
from toolwright.tui.dialog import LineDialog, Picker, TextDialog
from toolwright.tui.finding import FindDialog
from toolwright.tui.undoing import ChangesDialog, UndoDialog

FIX = (
    call("read", filePath="calc.py"),
    call("edit", filePath="calc.py", oldString="a - b", newString="a + b"),
    {"text": "Fixed."},
)


@pytest.fixture
def calc(project: Path) -> Path:
    file = project / "calc.py"
    file.write_text("def add(a, b):\n    return a - b\n")
    return file


async def picker(stage: Stage) -> Picker:
    await stage.until(lambda: isinstance(stage.app.screen, Picker), "a picker")
    assert isinstance(stage.app.screen, Picker)
    return stage.app.screen


async def test_a_model_is_picked_by_typing_and_its_thinking_by_name(project: Path) -> None:
    keyed = {"provider": {"anthropic": {"options": {"apiKey": "k"}}}}
    async with on_stage(project, config=keyed) as stage:
        await stage.press("ctrl+l")
        await picker(stage)
        stage.app.screen.query_one(Input).value = "claude-sonnet-4-5"
        await stage.pilot.pause()
        await stage.press("enter")
        await stage.until(lambda: stage.talk.desk.model.startswith("anthropic/claude-sonnet-4-5"), "the model")
        await stage.see("claude-sonnet-4-5")
        await stage.type("/variant high")
        await stage.see("claude-sonnet-4-5 high")


async def test_a_model_without_a_key_asks_for_the_key_first(project: Path) -> None:
    async with on_stage(project) as stage:
        await stage.type("/model openai/gpt-4.1")
        await stage.see("paste the key")
        await stage.press("escape")
        await stage.until(lambda: len(stage.app.screen_stack) == 1, "the conversation")
        assert not stage.talk.desk.model, "nothing was chosen that cannot answer"


async def test_tab_goes_on_to_the_next_agent_and_a_picker_lists_all(project: Path) -> None:
    async with on_stage(project) as stage:
        await stage.press("tab")
        await stage.see("plan ·")
        await stage.press("f2")
        found = await picker(stage)
        assert "build" in [name for name, _ in found.entries]
        await stage.press(*"build", "enter")
        await stage.see("build ·")


@pytest.mark.slow
async def test_sessions_are_searched_renamed_deleted_and_gone_on_with(project: Path) -> None:
    async with on_stage(project, {"text": "First answer."}, {"text": "Second answer."}) as stage:
        await stage.type("one")
        await stage.rest()
        await stage.type("/rename The first")
        await stage.see("The first")
        await stage.type("/new")
        await stage.until(lambda: not stage.talk.story.blocks, "an empty session")
        await stage.type("two")
        await stage.rest()
        await stage.press("ctrl+r")
        assert len((await picker(stage)).entries) == 2
        await stage.press(*"the", "space", *"first", "ctrl+r")
        await stage.until(lambda: isinstance(stage.app.screen, LineDialog), "the title")
        stage.app.screen.query_one(Input).value = "Renamed"
        await stage.press("enter")
        await stage.until(lambda: isinstance(stage.app.screen, Picker) and "Renamed" in stage.text, "the new title")
        await stage.press(*"renamed", "enter")
        await stage.until(lambda: "First answer." in stage.shown, "the first session")
        assert stage.talk.session is not None
        assert stage.talk.session.title == "Renamed"
        await stage.press("ctrl+r")
        await picker(stage)
        await stage.press("ctrl+d")
        await stage.see("for good?")
        await stage.press("down", "enter")
        await stage.until(lambda: isinstance(stage.app.screen, Picker) and "Renamed" not in stage.text, "the deletion")
        await stage.press("escape")
        assert len(await stage.talk.call(stage.talk.project.sessions(10))) == 1


async def test_a_turn_is_undone_with_its_files_after_a_preview_and_made_again(calc: Path, project: Path) -> None:
    async with on_stage(project, *FIX) as stage:
        await stage.type("fix it")
        await stage.rest()
        await stage.type("/undo")
        await stage.until(lambda: isinstance(stage.app.screen, UndoDialog), "the dialog")
        await stage.see("turn fix it")
        await stage.see("+ return a - b")
        await stage.press("enter")
        await stage.see("undone; /redo makes it again")
        assert "a - b" in calc.read_text()
        assert "Fixed." not in stage.shown
        await stage.type("/redo")
        await stage.see("made again")
        assert "a + b" in calc.read_text()
        assert "Fixed." in stage.shown


@pytest.mark.slow
async def test_a_turn_of_words_alone_is_undone_from_the_list_and_made_again(project: Path) -> None:
    async with on_stage(project, {"text": "One."}, {"text": "Two."}) as stage:
        await stage.type("first")
        await stage.rest()
        await stage.type("second")
        await stage.until(lambda: "Two." in stage.shown and not stage.talk.busy, "the second answer")
        await stage.type("/undo")
        await stage.see("This turn changed no file.")
        await stage.press("enter")
        await stage.until(lambda: "Two." not in stage.shown, "the turn gone")
        assert "One." in stage.shown
        await stage.type("/redo")
        await stage.until(lambda: "Two." in stage.shown, "the turn again")


@pytest.mark.slow
async def test_a_call_a_file_and_a_hunk_are_undone_by_themselves(project: Path) -> None:
    file = project / "long.txt"
    before = "".join(f"{number}\n" for number in range(40))
    file.write_text(before)
    turns = (
        call("read", filePath="long.txt"),
        call("edit", filePath="long.txt", oldString="\n5\n", newString="\nfive\n"),
        call("edit", filePath="long.txt", oldString="\n30\n", newString="\nthirty\n"),
        {"text": "Done."},
    )
    async with on_stage(project, *turns) as stage:
        await stage.type("change")
        await stage.rest()
        await stage.press("f8")
        await stage.until(lambda: isinstance(stage.app.screen, UndoDialog), "the dialog")
        dialog = stage.app.screen
        assert isinstance(dialog, UndoDialog)
        texts = [one.text for one in dialog.changes]
        assert [text.split()[0] for text in texts] == ["turn", "call", "call", "file", "hunk", "hunk"]
        dialog.query_one(OptionList).highlighted = 4
        await stage.until(lambda: "+ 5" in stage.words and "+ 30" not in stage.words, "the first hunk alone")
        await stage.press("enter")
        await stage.see("undone;")
        assert file.read_text() == before.replace("\n30\n", "\nthirty\n")
        await stage.type("/redo")
        await stage.see("made again")
        await stage.type("/undo hunk long.txt 2")
        await stage.until(lambda: "thirty" not in file.read_text(), "the hunk undone")
        assert "five" in file.read_text()
        await stage.type("/undo file long.txt")
        await stage.until(lambda: file.read_text() == before, "the file undone")
        await stage.type("/redo")
        await stage.until(lambda: "five" in file.read_text(), "the file made again")
        assert "thirty" not in file.read_text()
        await stage.type("/redo")
        await stage.until(lambda: "thirty" in file.read_text(), "the hunk made again")


async def test_the_changes_of_the_session_are_shown(calc: Path, project: Path) -> None:
    async with on_stage(project, *FIX) as stage:
        await stage.type("fix")
        await stage.rest()
        await stage.type("/diff")
        await stage.until(lambda: isinstance(stage.app.screen, ChangesDialog), "the difference")
        await stage.see("+ return a + b")


async def test_the_changes_are_shown_where_somebody_has_changed_the_file_since(calc: Path, project: Path) -> None:
    async with on_stage(project, *FIX) as stage:
        await stage.type("fix")
        await stage.rest()
        file = project / "calc.py"
        file.write_text(file.read_text() + "# mine\n")
        await stage.type("/diff")
        await stage.see("changed calc.py +2 -1 (others have changed it since)")
        await stage.see("+ return a + b")
        await stage.press("escape")
        await stage.type("/undo")
        await stage.until(lambda: isinstance(stage.app.screen, UndoDialog), "the list, without what cannot be undone")


async def test_what_was_spent_stays_spent_when_it_is_undone(calc: Path, project: Path) -> None:
    async with on_stage(project, *FIX, {"text": "Next."}) as stage:
        await stage.type("fix")
        await stage.rest()
        assert stage.talk.use is not None
        tokens = stage.talk.use.tokens
        assert tokens > 0
        await stage.type("/undo turn")
        await stage.see("/redo makes it again")
        await stage.talk.refresh()
        assert stage.talk.use.tokens == tokens
        await stage.type("next")
        await stage.until(lambda: "Next." in stage.shown and not stage.talk.busy, "the next turn")
        await stage.until(lambda: stage.talk.use is not None and stage.talk.use.tokens > tokens, "what it took")


async def test_todos_context_and_cost_are_in_view(project: Path) -> None:
    todos = [{"id": "1", "content": "Look", "status": "completed", "priority": "high"}]
    todos.append({"id": "2", "content": "Fix", "status": "in_progress", "priority": "high"})
    turns = (
        {**call("todowrite", todos=todos), "usage": {"input": 50_000}},
        {"text": "Done.", "usage": {"input": 60_000}},
    )
    async with on_stage(project, *turns, size=(140, 40)) as stage:
        await stage.type("go")
        await stage.rest()
        await stage.see("todo 1/2")
        await stage.see("context 30 %")
        assert "[x] Look" in stage.words
        assert "[>] Fix" in stage.words
        assert "60,010 of 200,000" in stage.words
        await stage.press("ctrl+b")
        await stage.until(lambda: "60,010 of 200,000" not in stage.words, "the panel to go")
        await stage.type("/context")
        await stage.see("results of todowrite")
        await stage.press("escape")
        await stage.type("/cost")
        await stage.see("tokens in this session")


async def test_one_steps_into_a_subagent_while_it_works_and_back(project: Path) -> None:
    task = call("task", description="Look around", prompt="CHILD look", subagent_type="general")
    child = {"text": "I am looking.", **call("bash", command=f"echo inside; {HOLD}", description="W"), "match": "CHILD"}
    turns = (task, child, {"text": "Seen it.", "match": "CHILD"}, {"text": "All done."})
    async with on_stage(project, *turns) as stage:
        await stage.type("go")
        await stage.see("Ctrl-G opens it")
        await stage.see("│ bash")
        await stage.press("ctrl+g")
        await stage.see("(Esc goes back)")
        await stage.see("I am looking.")
        await stage.see("│ inside")
        (project / "go").touch()
        await stage.see("Seen it.")
        await stage.press("escape")
        await stage.see("All done.")
        await stage.type("/jobs")
        await stage.see("completed")


@pytest.mark.slow
async def test_the_timeline_jumps_to_a_prompt_and_forks_before_it(project: Path) -> None:
    long = "word " * 2_000
    async with on_stage(project, {"text": long}, {"text": "Short."}) as stage:
        await stage.type("the first prompt")
        await stage.rest()
        await stage.type("the second prompt")
        await stage.until(lambda: "Short." in stage.shown and not stage.talk.busy, "the second answer")
        assert "▌ the first prompt" not in stage.text
        await stage.press("ctrl+p")
        await picker(stage)
        await stage.press("up", "enter")
        await stage.see("▌ the first prompt")
        await stage.press("ctrl+p")
        await picker(stage)
        await stage.press("ctrl+f")
        await stage.until(lambda: stage.app.prompt.text == "the second prompt", "the prompt to be sent again")
        said = [block.words for block in stage.talk.story.blocks if isinstance(block, Said)]
        assert said == ["the first prompt"]


async def test_everything_of_a_call_is_shown_when_it_is_wanted(project: Path) -> None:
    turns = (
        call("bash", command="seq 100", description="Count"),
        {"text": "Done.", "reasoning": "one\n\ntwo thoughts"},
    )
    async with on_stage(project, *turns) as stage:
        await stage.type("count")
        await stage.rest()
        assert "│ 50" not in stage.shown
        assert "thought: two thoughts" in stage.shown
        await stage.press("ctrl+o")
        await stage.until(lambda: "│ 50\n" in stage.shown, "all lines")
        assert "  one\n" in stage.shown


async def test_an_answer_is_copied_and_the_session_exported(project: Path) -> None:
    async with on_stage(project, {"text": "The **answer**."}) as stage:
        await stage.type("go")
        await stage.rest()
        await stage.press("f5")
        await stage.until(lambda: stage.app.clipboard == "The **answer**.", "the copy")
        await stage.type("/export out.json")
        await stage.see("written to")
        assert json.loads((project / "out.json").read_text())["info"]["title"]


async def test_code_of_an_answer_and_what_a_command_printed_are_copied_alone(project: Path) -> None:
    turns = (
        call("bash", command="echo printed", description="Print"),
        {"text": "So:\n\n```python\nx = 1\ny = 2\n```\n"},
    )
    async with on_stage(project, *turns) as stage:
        await stage.type("go")
        await stage.rest()
        await stage.press("f5")
        found = await picker(stage)
        assert [" ".join(text.split()) for _, text in found.entries] == [
            "answer So:",
            "code x = 1 (python, 2 lines)",
            "output echo printed (1 line)",
            "prompt go",
        ]
        await stage.press("down", "enter")
        await stage.until(lambda: stage.app.clipboard == "x = 1\ny = 2", "the code")
        await stage.type("/copy 3")
        await stage.until(lambda: stage.app.clipboard == "printed", "the output")


async def test_words_are_looked_for_in_the_conversation(project: Path) -> None:
    answers = [{"text": f"Line {number} of the talk."} for number in range(3)]
    async with on_stage(project, *answers, size=(80, 16)) as stage:
        for number in range(3):
            await stage.type(f"prompt {number}")
            await stage.see(f"Line {number} of")
            await stage.rest()
        await stage.press("ctrl+f")
        await stage.see("type what to look for")
        await stage.press(*"LINE")
        await stage.see("3 of 3 lines")
        await stage.press("enter", "enter")
        await stage.see("1 of 3 lines")
        assert "Line 0 of" in stage.text
        marked = [
            part.text
            for strip in stage.app.screen._compositor.render_strips()
            for part in strip
            if part.style and part.style.reverse
        ]
        assert "Line" in marked
        await stage.press("down")
        await stage.see("2 of 3 lines")
        await stage.press(*" zzz")
        await stage.see("no line has these words")
        await stage.press("escape")
        await stage.until(lambda: not isinstance(stage.app.screen, FindDialog), "the prompt again")


@pytest.mark.parametrize(
    ("summary", "told"),
    [("All of it.", "── what was said before is summarised"), ("", "! What was said before could not")],
)
async def test_the_conversation_is_summarised_or_why_not_is_told(project: Path, summary: str, told: str) -> None:
    model = ScriptedModel({"text": "Long."}, compaction={"text": summary})
    async with on_stage(project, model=model) as stage:
        await stage.type("go")
        await stage.rest()
        await stage.type("/compact")
        await stage.until(lambda: told in stage.shown, "the summary")
        assert stage.shown.count("summarised") == 1


async def test_approvals_tools_servers_and_explanations_are_listed(project: Path) -> None:
    async with on_stage(project) as stage:
        for command, told in (
            ("/permissions", "nothing is approved for longer than once"),
            ("/tools", "bash"),
            ("/mcp", "none are configured"),
            ("/explain bash rm x", "rm *: ask"),
        ):
            await stage.type(command)
            await stage.until(lambda: isinstance(stage.app.screen, TextDialog), command)
            await stage.see(told)
            await stage.press("escape")


@pytest.mark.slow
async def test_a_background_command_is_listed(project: Path) -> None:
    turns = (call("bash", command=HOLD, description="Wait", background=True), {"text": "Started."})
    async with on_stage(project, *turns) as stage:
        await stage.type("go")
        await stage.rest()
        await stage.press("f9")
        await stage.see("job_1")
        (project / "go").touch()


async def test_the_bell_rings_only_for_somebody_who_looks_elsewhere(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from textual.events import AppBlur

    async with on_stage(project, {"text": "One."}, {"text": "Two."}) as stage:
        rung: list[int] = []
        monkeypatch.setattr(stage.app, "bell", lambda: rung.append(1))
        await stage.type("one")
        await stage.rest()
        assert not rung
        stage.app.post_message(AppBlur())
        await stage.pilot.pause()
        await stage.type("two")
        await stage.until(lambda: rung, "the bell")


async def test_a_session_is_gone_on_with_and_shown_from_its_end(project: Path) -> None:
    async with on_stage(project, {"text": "An earlier answer."}) as stage:
        await stage.type("go")
        await stage.rest()
        info = stage.talk.session
    async with on_stage(project, {"text": "A later answer."}, session=info) as stage:
        await stage.see("An earlier answer.")
        await stage.type("more")
        await stage.see("A later answer.")


async def test_a_session_is_found_by_what_was_said_in_it(project: Path) -> None:
    async with on_stage(project, {"text": "The pool drops idle sockets."}, {"text": "Other."}) as stage:
        await stage.type("why?")
        await stage.rest()
        first = stage.talk.session
        assert first is not None
        await stage.type("/new")
        await stage.until(lambda: stage.talk.session is None, "no session")
        await stage.press("ctrl+r")
        await picker(stage)
        await stage.press(*"sockets")
        await stage.see("drops idle sockets")
        await stage.press("enter")
        await stage.until(lambda: stage.talk.session is not None and stage.talk.session.id == first.id, "it again")
        await stage.type("/new")
        await stage.type("/sessions idle")
        await stage.see("Sessions that say idle")
