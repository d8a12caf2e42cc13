"""Hostile text on the web page: the function through which it shows what others wrote."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

import toolwright
from tests.text.test_display import HOSTILE, unseen

PAGE = Path(toolwright.__file__).parent / "server" / "page"
EMOJI = "\U0001f469\u200d\U0001f4bb \u2764\ufe0f"
SCRIPT = """
import { readFileSync } from "node:fs"
import { visible } from "%s"
process.stdout.write(JSON.stringify(JSON.parse(readFileSync(0, "utf8")).map(visible)))
"""


@pytest.mark.skipif(not shutil.which("node"), reason="needs node")
def test_the_page_shows_all_of_a_hostile_string_and_leaves_emoji_alone() -> None:
    ran = subprocess.run(
        [str(shutil.which("node")), "--input-type=module", "-e", SCRIPT % (PAGE / "ui.js").as_uri()],
        input=json.dumps([*HOSTILE, EMOJI]),
        capture_output=True,
        text=True,
        check=True,
    )
    *shown, emoji = json.loads(ran.stdout)
    assert [text for text in shown if unseen(text)] == []
    assert all(one != text for one, text in zip(shown, HOSTILE, strict=True))
    assert emoji == EMOJI
