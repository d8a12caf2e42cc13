"""Hostile text on the full screen: nothing of it reaches the terminal unseen."""

import pytest

pytest.importorskip("textual", reason="the full screen needs textual: pip install 'toolwright[tui]'")

from tests.cli.test_hostile_text import tool_call
from tests.text.test_display import HOSTILE, unseen
from toolwright.tui.blocks import AnswerBlock, CallBlock, Note, Said, Shell, Thoughts, TranscriptBlock
from toolwright.tui.dialog import content_of
from toolwright.tui.page import strip_of


def test_no_block_can_leave_its_place() -> None:
    for text in HOSTILE:
        calls = [CallBlock(tool_call(text)), CallBlock(tool_call(text, failed=True))]
        blocks: list[TranscriptBlock] = [
            Said("1", text),
            AnswerBlock("2", text),
            Thoughts("3", text),
            Note("4", text),
            Shell("5", text),
        ]
        for block in [*blocks, *calls]:
            lines = block.lines(60, whole=True)
            assert unseen("".join(strip_of(line, {}).text for line in lines)) == []
            assert unseen(content_of(lines).plain) == []
