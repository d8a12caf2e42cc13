"""Prompts and answers on the full screen."""

from pathlib import Path

import pytest

pytest.importorskip("textual", reason="the full screen needs textual: pip install 'toolwright[tui]'")

from textual.widgets import OptionList

from tests.tui.stage import call, on_stage
from toolwright.session.events import SessionIdle
from toolwright.tui.dialog import Picker, TextDialog
from toolwright.tui.prompt import PromptField

HOLD = "until [ -e go ]; do sleep 0.02; done"
MARKDOWN = """# Heading

A **bold** word and `code`.

- one
- two

```python
def add(a, b):
    return "sum"
```

| a | b |
|---|---|
| 1 | 2 |
"""


async def test_markdown_streams_with_the_colours_of_its_code(project: Path) -> None:
    async with on_stage(project, {"text": MARKDOWN, "chunk": 5}) as stage:
        await stage.type("explain")
        await stage.rest()
        assert "▌ explain" in stage.shown
        assert "**" not in stage.shown
        assert "```" not in stage.shown
        assert "• one" in stage.shown
        assert "1 │ 2" in stage.shown
        strips = [strip for one in stage.app.transcript._laid for strip in one.strips]
        [line] = [strip for strip in strips if "return" in strip.text]
        colours = {segment.text.strip(): segment.style for segment in line if segment.text.strip()}
        assert colours["return"] != colours['"sum"'], "a keyword and a string look different"


async def test_what_could_not_be_attached_is_told_on_the_screen(project: Path) -> None:
    (project / ".env").write_text("KEY=secret\n")
    async with on_stage(project, {"text": "Seen."}) as stage:
        await stage.type("see @nope.txt and @.env please")
        await stage.rest()
        assert "! there is no file nope.txt; @nope.txt is sent as words" in stage.shown
        assert "! .env could not be read: " in stage.shown


async def test_a_diff_is_unified_on_a_narrow_screen_and_beside_each_other_on_a_wide_one(project: Path) -> None:
    (project / "calc.py").write_text("def add(a, b):\n    return a - b\n")
    turns = (
        call("read", filePath="calc.py"),
        call("edit", filePath="calc.py", oldString="a - b", newString="a + b"),
        {"text": "Done."},
    )
    async with on_stage(project, *turns) as stage:
        await stage.type("fix")
        await stage.rest()
        assert "   2 -     return a - b" in stage.shown
        assert "   2 +     return a + b" in stage.shown
        await stage.pilot.resize_terminal(220, 40)
        await stage.until(lambda: "│    2 +     return a + b" in stage.shown, "two columns")


async def test_a_prompt_has_several_lines_a_history_and_the_keys_of_readline(project: Path) -> None:
    async with on_stage(project, {"text": "One."}, {"text": "Two."}) as stage:
        await stage.type("first", send=False)
        await stage.press("ctrl+j")
        await stage.type("line")
        await stage.rest()
        assert "▌ first" in stage.shown
        assert "▌ line" in stage.shown
        await stage.press("up")
        assert stage.app.prompt.text == "first\nline"
        await stage.press("down")
        assert stage.app.prompt.text == ""
        await stage.type("some words", send=False)
        await stage.press("ctrl+w")
        assert stage.app.prompt.text == "some "
        await stage.press("ctrl+a", "ctrl+k")
        assert stage.app.prompt.text == ""
        await stage.type("goes on\\")
        assert stage.app.prompt.text == "goes on\n", "a backslash at the end goes on with the next line"


async def test_nothing_blinks(project: Path) -> None:
    async with on_stage(project) as stage:
        assert not stage.app.prompt.cursor_blink


async def test_commands_agents_and_files_are_completed(project: Path) -> None:
    (project / "deep").mkdir()
    (project / "deep" / "notes.md").write_text("x")
    async with on_stage(project, config={"command": {"greet": {"template": "Say hello"}}}) as stage:
        offers = stage.app.prompt.offers
        await stage.type("/gre", send=False)
        assert [word for word, _ in offers.entries] == ["/greet "]
        await stage.press("tab")
        assert stage.app.prompt.text == "/greet "
        stage.app.prompt.put("")
        await stage.type("look at @de", send=False)
        await stage.press("tab")
        assert stage.app.prompt.text == "look at @deep/"
        stage.app.prompt.put("")
        await stage.type("@notes", send=False)
        await stage.until(lambda: ("@deep/notes.md ", "") in offers.entries, "a file of a folder below")
        stage.app.prompt.put("")
        await stage.type("ask @expl", send=False)
        assert ("@explore ", "agent") in offers.entries
        await stage.press("escape")
        assert not offers.has_class("shown")


async def test_keys_faster_than_the_screen_take_the_completion_of_what_was_typed(project: Path) -> None:
    async with on_stage(project) as stage:
        prompt = stage.app.prompt
        await stage.type("/", send=False)
        assert len(prompt.offers.entries) > 1
        prompt.insert("editor")
        assert not prompt.accept(send=True), "the command is whole and may be sent"
        assert prompt.text == "/editor"
        prompt.put("")
        prompt.insert("/edi")
        assert prompt.accept(), "nothing has been shown yet"
        assert prompt.text == "/editor "


async def test_walking_through_earlier_prompts_goes_past_commands(project: Path) -> None:
    async with on_stage(project) as stage:
        for prompt in ("first", "/cost", "/model"):
            stage.app.prompt.past.remember(prompt)
        await stage.press("up", "up", "up")
        assert stage.app.prompt.text == "first"


async def test_a_command_of_the_user_is_carried_out_and_one_of_nobody_is_refused(project: Path) -> None:
    config = {"command": {"greet": {"template": "Say hello to $ARGUMENTS"}}}
    async with on_stage(project, {"text": "Hello, Ann."}, config=config) as stage:
        await stage.type("/nope")
        await stage.see("There is no command /nope")
        await stage.type("/greet Ann")
        await stage.rest()
        assert "Hello, Ann." in stage.shown


async def test_the_person_runs_a_command_and_sees_what_it_prints(project: Path) -> None:
    async with on_stage(project) as stage:
        await stage.type("!echo one; echo two; exit 3")
        await stage.see("│ two")
        await stage.see("exit 3")


async def test_prompts_wait_while_the_agent_works_and_the_last_can_be_edited(project: Path) -> None:
    turns = (call("bash", command=HOLD, description="Wait"), {"text": "First."}, {"text": "Second."})
    async with on_stage(project, *turns) as stage:
        await stage.type("one")
        await stage.see("running bash")
        await stage.type("two")
        await stage.type("three")
        await stage.see("Queued (Ctrl-Up to edit): 1. two 2. three")
        await stage.press("ctrl+up")
        assert stage.app.prompt.text == "three"
        stage.app.prompt.put("")
        (project / "go").touch()
        await stage.until(lambda: "Second." in stage.shown, "the answer to what waited")
        assert stage.shown.index("First.") < stage.shown.index("▌ two") < stage.shown.index("Second.")


async def test_the_agent_is_told_something_before_its_next_step(project: Path) -> None:
    turns = (
        call("bash", command=HOLD, description="Wait"),
        {"text": "I have heard you.", "match": "use tabs"},
        {"text": "I have not."},
    )
    async with on_stage(project, *turns) as stage:
        await stage.type("one")
        await stage.see("running bash")
        await stage.type("use tabs", send=False)
        await stage.press("ctrl+s")
        await stage.see("→ use tabs")
        (project / "go").touch()
        await stage.rest()
        assert "I have heard you." in stage.shown
        assert "▌ use tabs" in stage.shown


@pytest.mark.parametrize("keys", [("escape", "escape"), ("ctrl+c",)])
async def test_a_turn_is_stopped_and_the_session_stays_usable(project: Path, keys: tuple[str, ...]) -> None:
    turns = (call("bash", command=HOLD, description="Wait"), {"text": "Still here."})
    async with on_stage(project, *turns) as stage:
        await stage.type("one")
        await stage.see("running bash")
        await stage.type("waits")
        await stage.see("1. waits")
        await stage.press(*keys)
        await stage.rest()
        assert "Stopped." in stage.shown
        assert stage.app.prompt.text == "waits", "what waited is the person's again"
        await stage.press("enter")
        await stage.until(lambda: "Still here." in stage.shown, "an answer")


async def test_what_is_said_after_the_stop_is_sent_and_what_waited_before_comes_back(project: Path) -> None:
    # The command does not end by itself, so that the turn is still stopping when the next prompt is sent.
    stubborn = f"trap '' TERM; echo on; {HOLD}"
    turns = (call("bash", command=stubborn, description="Wait"), {"text": "Sent."}, {"text": "Too much."})
    async with on_stage(project, *turns) as stage:
        await stage.type("one")
        await stage.see("│ on")
        await stage.type("before")
        await stage.see("1. before")
        await stage.press("ctrl+c")
        assert stage.talk.stopping
        assert stage.app.prompt.text == "before"
        stage.app.prompt.put("after")
        await stage.press("enter")
        (project / "go").touch()
        await stage.until(lambda: "Sent." in stage.shown, "the answer")
        await stage.until(lambda: not stage.talk.busy, "the end")
        assert "▌ after" in stage.shown
        assert "▌ before" not in stage.shown
        assert stage.app.prompt.text == ""


async def test_a_prompt_sent_while_the_end_of_a_turn_is_told_is_the_next(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with on_stage(project, {"text": "One."}, {"text": "Two."}) as stage:
        refresh, sent = stage.talk.refresh, list[str]()

        async def refreshed() -> None:
            if not sent and not stage.talk.busy:
                sent.append("second")
                stage.app.send("second")
                await stage.pilot.pause()
            await refresh()

        monkeypatch.setattr(stage.talk, "refresh", refreshed)
        await stage.type("first")
        await stage.until(lambda: "Two." in stage.shown, "the answer")
        assert stage.shown.index("One.") < stage.shown.index("▌ second") < stage.shown.index("Two.")
        assert stage.app.prompt.text == ""


async def test_a_turn_has_not_ended_because_its_subagent_has(project: Path) -> None:
    async with on_stage(project, {"text": "Hello."}) as stage:
        await stage.type("go")
        await stage.rest()
        assert stage.talk.session is not None
        stage.talk._idle.clear()
        stage.talk.take(SessionIdle(session_id="ses_child"))
        assert not stage.talk._idle.is_set()
        stage.talk.take(SessionIdle(session_id=stage.talk.session.id))
        assert stage.talk._idle.is_set()


async def test_one_escape_stops_nothing(project: Path) -> None:
    turns = (call("bash", command=HOLD, description="Wait"), {"text": "Done."})
    async with on_stage(project, *turns) as stage:
        await stage.type("one")
        await stage.see("running bash")
        await stage.press("escape")
        (project / "go").touch()
        await stage.rest()
        assert "Done." in stage.shown


async def test_the_output_of_a_command_is_seen_while_it_runs(project: Path) -> None:
    turns = (call("bash", command=f"echo early; {HOLD}; echo late", description="Wait"), {"text": "Done."})
    async with on_stage(project, *turns) as stage:
        await stage.type("run")
        await stage.see("│ early")
        assert stage.talk.busy
        (project / "go").touch()
        await stage.rest()
        assert "│ late" in stage.shown


async def test_pasted_lines_are_a_placeholder_until_they_are_sent(project: Path) -> None:
    from textual.events import Paste

    async with on_stage(project, {"text": "Read."}) as stage:
        stage.app.prompt.post_message(Paste("".join(f"line {number}\n" for number in range(5_000))))
        await stage.until(lambda: "[pasted 5,000 lines #1]" in stage.app.prompt.text, "the placeholder")
        await stage.press("enter")
        await stage.rest()
        [message, *_] = await stage.talk.call(stage.talk.project.messages(stage.talk.story.session_id))
        assert message.text.count("\n") == 4_999
        assert "… 4990 more lines" in stage.shown


async def test_a_picture_that_is_dropped_on_the_terminal_is_sent_along(project: Path) -> None:
    from textual.events import Paste

    (project / "shot one.png").write_bytes(b"x")
    async with on_stage(project) as stage:
        stage.app.prompt.post_message(Paste("shot\\ one.png"))
        await stage.until(lambda: stage.app.prompt.text == '@"shot one.png" ', "the file")


async def test_what_a_model_writes_is_only_ever_letters(project: Path) -> None:
    evil = "\x1b]52;c;ZXZpbA==\x07\x1b[2J\x9b31m[bold red]markup[/] [@click=app.quit]x[/] 漢字 e\u0301"
    turns = (call("bash", command="printf '\\033[31m\\033]0;evil\\007[blink]x'", description=evil), {"text": evil})
    async with on_stage(project, *turns) as stage:
        await stage.type(f"echo {evil}")
        await stage.rest()
        strips = [strip for one in stage.app.transcript._laid for strip in one.strips]
        assert all(character.isprintable() or character == "\u0301" for strip in strips for character in strip.text)
        assert "[bold red]markup[/] [@click=app.quit]x[/] 漢字" in stage.shown
        assert "\\x1b]52;c" in stage.shown
        assert not any(segment.style and segment.style.meta for strip in strips for segment in strip)


async def test_a_resize_keeps_the_place_and_the_end(project: Path) -> None:
    text = "\n\n".join(f"Paragraph {number} " + "word " * 40 for number in range(60))
    async with on_stage(project, {"text": text, "chunk": 500}) as stage:
        await stage.type("write")
        await stage.rest()
        assert stage.app.transcript.follows
        await stage.pilot.resize_terminal(60, 16)
        await stage.see("1 step")
        stage.app.transcript.scroll_lines(-100)
        await stage.pilot.pause()
        top = stage.app.transcript.scroll_offset.y
        await stage.type("/help", send=False)
        assert stage.app.transcript.scroll_offset.y == top, "typing does not move what is read"


async def test_sizes_from_small_to_large_hold_the_prompt_and_the_footer(project: Path) -> None:
    async with on_stage(project, {"text": "Hi."}, size=(60, 16)) as stage:
        await stage.type("hello")
        await stage.rest()
        for size in ((60, 16), (300, 80), (20, 5), (140, 50), (30, 8), (140, 50), (2, 2), (100, 30)):
            await stage.pilot.resize_terminal(*size)
            await stage.until(lambda: stage.app.query_one(PromptField).region.height >= 1, "the prompt")
            if size[0] >= 100:
                await stage.see("build · scripted/scripted · context 0 % ·")


async def test_help_and_keys_are_listed_and_closed(project: Path) -> None:
    async with on_stage(project, config={"keybinds": {"session_list": "f12", "next_mode": "ctrl+n"}}) as stage:
        await stage.type("/help")
        await stage.until(lambda: isinstance(stage.app.screen, TextDialog), "the help")
        assert "/undo" in stage.words
        await stage.press("escape")
        await stage.type("?")
        await stage.until(lambda: isinstance(stage.app.screen, TextDialog), "the keys")
        await stage.see("F12 the sessions")
        await stage.press("enter")
        await stage.press("ctrl+n")
        await stage.see("auto-approve: edits")


async def test_a_key_behind_the_leader_does_what_settings_say(project: Path) -> None:
    async with on_stage(project, {"text": "Hi."}, config={"keybinds": {"sidebar_toggle": "<leader>w"}}) as stage:
        await stage.press("ctrl+x", "t")
        await stage.until(lambda: isinstance(stage.app.screen, Picker), "the themes, as in OpenCode")
        await stage.press("escape")
        await stage.press("ctrl+x", "w")
        await stage.see("folder")
        await stage.press("ctrl+x", "j", "j")
        assert stage.app.prompt.text == "j", "a key that means nothing there is not typed either"
        await stage.press("ctrl+b")
        assert "folder" in stage.words, "the key it had has gone"


async def test_a_theme_is_chosen_by_the_settings_or_a_picker(project: Path) -> None:
    async with on_stage(project, {"text": "Hi."}, config={"theme": "light"}) as stage:
        assert stage.app.theme == "light"
        await stage.type("/theme")
        await stage.until(lambda: isinstance(stage.app.screen, Picker), "the picker")
        assert stage.app.screen.query_one(OptionList).option_count == 4
        await stage.press("c", "o", "n", "enter")
        await stage.until(lambda: stage.app.theme == "contrast", "the theme")


async def test_without_a_model_it_opens_all_the_same_and_says_how_to_get_one(project: Path) -> None:
    async with on_stage(project) as stage:
        stage.workspace.model = ""
        await stage.app.commands.tell_no_model() if stage.app.commands else None
        await stage.see("No model yet.")
        await stage.see("/demo")
        await stage.talk.refresh()
        await stage.type("hello")
        await stage.until(lambda: isinstance(stage.app.screen, Picker), "what can be connected")
        await stage.press("escape")
        await stage.until(lambda: stage.app.prompt.text == "hello", "the prompt, which nobody has heard")
        assert stage.talk.session is None


async def test_a_failure_is_told_and_the_conversation_goes_on(project: Path) -> None:
    turns = ({"error": {"kind": "invalid_request", "message": "that is wrong"}}, {"text": "Better."})
    async with on_stage(project, *turns) as stage:
        await stage.type("one")
        await stage.see("that is wrong")
        await stage.type("two")
        await stage.until(lambda: "Better." in stage.shown, "an answer")


async def test_ctrl_c_leaves_when_it_is_pressed_twice(project: Path) -> None:
    async with on_stage(project) as stage:
        await stage.type("half a prompt", send=False)
        await stage.press("ctrl+c")
        assert stage.app.prompt.text == ""
        await stage.press("ctrl+c")
        assert stage.app.return_value is None
        await stage.press("ctrl+c")
        await stage.until(lambda: stage.app.return_value == 0, "the end")


async def test_words_to_the_agent_are_heard_before_its_next_step(project: Path) -> None:
    turns = ({"text": "Tabs it is.", "match": "use tabs"}, call("bash", command=f"touch started; {HOLD}"))
    async with on_stage(project, *turns) as stage:
        await stage.type("one")
        await stage.until(lambda: (project / "started").exists(), "the call")
        await stage.type("use tabs", send=False)
        await stage.press("ctrl+s")
        await stage.see("Told before the next step: → use tabs")
        (project / "go").touch()
        await stage.rest()
        assert stage.shown.index("▌ use tabs") < stage.shown.index("Tabs it is.")


async def test_words_to_the_agent_that_it_did_not_hear_are_the_next_prompt(project: Path) -> None:
    turns = (call("bash", command=HOLD, description="Wait"), {"text": "First."}, {"text": "Second."})
    async with on_stage(project, *turns) as stage:
        await stage.type("one")
        await stage.until(lambda: stage.talk.busy, "the turn")
        stage.talk._steered.append("never heard")
        (project / "go").touch()
        await stage.until(lambda: "Second." in stage.shown, "the answer to what was not heard")
        assert "▌ never heard" in stage.shown


async def test_words_to_the_agent_that_it_did_not_hear_come_back_after_a_stop(project: Path) -> None:
    turns = (call("bash", command=HOLD, description="Wait"), {"text": "Never."})
    async with on_stage(project, *turns) as stage:
        await stage.type("one")
        await stage.until(lambda: stage.talk.busy and stage.talk.session is not None, "the turn")
        stage.talk._steered.append("never heard")
        await stage.press("ctrl+c")
        await stage.rest()
        assert stage.app.prompt.text == "never heard"
        assert "▌ never heard" not in stage.shown


@pytest.mark.parametrize(("pasted", "shown"), [("x" * 1_000, "x"), ("x" * 1_001, "[pasted 1 lines"), ("y\n" * 5, "y")])
async def test_a_long_line_is_a_placeholder_too(project: Path, pasted: str, shown: str) -> None:
    from textual.events import Paste

    async with on_stage(project) as stage:
        stage.app.prompt.post_message(Paste(pasted))
        await stage.until(lambda: stage.app.prompt.text, "what was pasted")
        assert stage.app.prompt.text.startswith(shown)
        assert stage.app.prompt.whole().strip() == pasted.strip()
