"""What the full screen costs before anything is asked of it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("textual", reason="the full screen needs textual: pip install 'toolwright[tui]'")

from toolwright import server
from toolwright.tui.keys import KEYS, chosen
from toolwright.tui.page import DrawnPage, fitted


def test_the_first_frame_needs_nothing_of_models_or_the_project() -> None:
    code = (
        "import sys, toolwright.cli.commands.chat_command, toolwright.cli.conversation.full_screen; print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    heavy = {"toolwright.workspace", "toolwright.app.project", "sqlite3", "httpx2", "pygments", "yaml"}
    assert not heavy & set(done.stdout.split())
    assert "toolwright.models" not in done.stdout


def test_keys_are_chosen_by_our_names_or_opencodes_alone_or_behind_a_leader() -> None:
    said = {
        "leader": "Ctrl+G",
        "session_list": "<leader>s,f12",
        "next_mode": "ctrl+n",
        "theme_list": "none",
        "app_exit": "ctrl+c,ctrl+q",
        "input_newline": "shift+return",
    }
    keys = chosen(said)
    assert keys.keys == {
        "lead": "ctrl+g",
        "command('sessions')": "f12",
        "next_mode": "ctrl+n",
        "command('theme')": "none",
        "leave": "ctrl+q",
    }
    assert keys.after_leader["s"] == "command('sessions')"
    assert keys.after_leader["m"] == "command('model')", "what is not said is as usual"
    assert not {"l", "t", "q"} & keys.after_leader.keys()
    assert (*keys.send, *keys.newline) == ("enter", "shift+enter")


def test_no_two_actions_have_one_key() -> None:
    alone = [key.keys for key in KEYS if key.keys != "none"]
    behind = [key.after_leader for key in KEYS if key.after_leader]
    assert len(set(alone)) == len(alone)
    assert len(set(behind)) == len(behind)


def test_the_keys_behind_the_leader_are_opencodes() -> None:
    theirs = json.loads((Path(server.__file__).parent / "keybinds.json").read_text("utf-8"))
    ours = {key.setting: key.after_leader for key in KEYS if key.after_leader}
    assert {name: f"<leader>{one}" for name, one in ours.items() if f"<leader>{one}" not in theirs[name]} == {}


def test_a_line_that_is_too_long_is_broken_without_losing_a_letter() -> None:
    text = "漢字" * 50 + "x" * 50
    lines = fitted([("start ", ""), (text, "31"), (" end", "")], 20)
    assert "".join(piece for line in lines for piece, _ in line) == f"start {text} end"
    page = DrawnPage.blank(10)
    page.line(text)
    assert len(page.lines) > 10
