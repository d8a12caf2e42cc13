"""What meets the eye: calls that tell, weight by colour, a panel that has something to say, keys that people expect."""

from pathlib import Path

import pytest

pytest.importorskip("textual", reason="the full screen needs textual: pip install 'toolwright[tui]'")

from textual.widgets import Input

from tests.tui.stage import call, on_stage
from toolwright.tui.blocks import SAID
from toolwright.tui.dialog import LineDialog, TextDialog
from toolwright.tui.themes import DIFF, LOOKS, usual_look

TODOS = [{"id": "1", "content": "Look", "status": "completed", "priority": "high"}]
READABLE = 4.5
"""How much lighter one of two colours must be than the other where letters are read."""


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("name", [name for name, look in LOOKS.items() if not look.theme.ansi])
def test_every_colour_of_a_theme_can_be_read(name: str) -> None:
    look = LOOKS[name]
    theme = look.theme
    assert theme.foreground is not None
    for behind in (theme.background, theme.panel):
        assert behind is not None
        letters = [theme.foreground, *(str(style.color.name) for style in look.palette.values() if style.color)]
        assert [one for one in letters if contrast(one, behind) < READABLE] == [], behind
    for code in DIFF:
        tint = look.palette[code].bgcolor
        assert tint is not None
        assert contrast(theme.foreground, tint.name) >= READABLE, code
    assert look.palette[SAID].bgcolor is not None


def test_the_usual_theme_is_one_that_the_terminal_can_show() -> None:
    assert usual_look("truecolor", is_plain=False) == usual_look("256", is_plain=False) == "dark"
    assert usual_look("standard", is_plain=False) == usual_look("truecolor", is_plain=True) == "terminal"


async def test_calls_tell_what_they_found_and_wrote(project: Path) -> None:
    (project / "a.py").write_text("one\ntwo\none\n")
    turns = (
        call("grep", pattern="one"),
        call("glob", pattern="**/*.py"),
        call("write", filePath="NOTES.md", content="# Notes\n"),
        call("todowrite", todos=TODOS),
        {"text": "Done."},
    )
    async with on_stage(project, *turns) as stage:
        await stage.type("look")
        await stage.rest()
        for told in ("grep  one  (2 matches)", "glob  **/*.py  (1 file)", "write  NOTES.md", "1 + # Notes", "(1 done)"):
            assert told in stage.shown, told


async def test_answers_stand_below_the_question_they_were_given_to(project: Path) -> None:
    options = [{"label": "Red", "description": ""}, {"label": "Blue", "description": ""}]
    asked = call("question", questions=[{"question": "Which colour?", "header": "Colour", "options": options}])
    async with on_stage(project, asked, {"text": "Thanks."}) as stage:
        await stage.type("ask me")
        await stage.asked()
        await stage.press("2")
        await stage.rest()
        assert "Which colour? → Blue" in stage.shown


async def test_an_empty_line_stands_around_what_takes_more_than_one(project: Path) -> None:
    (project / "a.py").write_text("one\n")
    turns = (
        call("glob", pattern="*.py"),
        call("grep", pattern="one"),
        call("bash", command="echo hi", description="Say"),
        call("grep", pattern="one"),
        {"text": "Done."},
    )
    async with on_stage(project, *turns) as stage:
        await stage.type("look")
        await stage.rest()
        rows = [row.strip().split("  ")[0] for row in stage.shown.splitlines()]
        assert rows[2:9] == ["• glob", "• grep", "", "• bash", "│ hi", "", "• grep"]


async def test_the_panel_is_there_when_it_has_something_to_say(project: Path) -> None:
    turns = (call("todowrite", todos=TODOS), {"text": "Done."})
    async with on_stage(project, *turns, size=(120, 30)) as stage:
        assert not stage.app.query_one("#panel").display
        await stage.type("plan")
        await stage.rest()
        await stage.until(lambda: stage.app.query_one("#panel").display, "the panel")
        await stage.see("[x] Look")
        await stage.pilot.resize_terminal(100, 30)
        await stage.until(lambda: not stage.app.query_one("#panel").display, "no panel")


async def test_a_question_mark_lists_the_keys_at_once(project: Path) -> None:
    async with on_stage(project) as stage:
        await stage.press("?")
        await stage.until(lambda: isinstance(stage.app.screen, TextDialog), "the keys")
        await stage.press("escape")
        await stage.press("a", "?")
        assert stage.app.prompt.text == "a?"


async def test_a_command_is_found_by_its_other_names_and_by_a_slip(project: Path) -> None:
    async with on_stage(project) as stage:
        await stage.type("/mod", send=False)
        await stage.see("/models the same as /model")
        stage.app.prompt.take()
        await stage.type("/sesions")
        await stage.see("There is no command /sesions. Did you mean /sessions?")


async def test_a_file_is_found_by_letters_in_their_order(project: Path) -> None:
    (project / "src").mkdir()
    for name in ("main_app.py", "my_mail_app_old.py"):
        (project / "src" / name).write_text("")
    async with on_stage(project) as stage:
        await stage.type("see @mainapp", send=False)
        await stage.see("@src/main_app.py")
        assert "my_mail" not in stage.words


async def test_a_picture_whose_name_has_a_blank_is_sent_along(project: Path) -> None:
    (project / "red dot.txt").write_text("a dot\n")
    async with on_stage(project, {"text": "Seen."}) as stage:
        await stage.type('see @"red dot.txt" please')
        await stage.rest()
        [prompt, *_] = await stage.talk.call(stage.talk.project.messages(stage.talk.story.session_id))
        assert "a dot" in " ".join(getattr(part, "text", "") for part in prompt.parts.values())


async def test_the_session_is_written_to_a_file_whose_name_is_asked_for(project: Path) -> None:
    (project / "a.py").write_text("one\n")
    async with on_stage(project, call("grep", pattern="one"), {"text": "**One** match."}) as stage:
        await stage.type("look for one")
        await stage.rest()
        await stage.type("/export")
        await stage.until(lambda: isinstance(stage.app.screen, LineDialog), "the name")
        stage.app.screen.query_one(Input).value = "talk.md"
        await stage.press("enter")
        await stage.see("written to")
        text = (project / "talk.md").read_text()
        assert "## look for one" in text
        assert "- `grep` one" in text
        assert "**One** match." in text
