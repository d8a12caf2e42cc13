"""The conversation at the foot of the terminal: what is complete goes above it, where the terminal itself scrolls."""

from typing import TYPE_CHECKING

from rich.control import Control
from rich.segment import Segment
from textual.geometry import Offset
from textual.strip import Strip

from toolwright.tui.story import Story

if TYPE_CHECKING:
    from toolwright.tui.app import ChatApp

FIRST = 40
"""Blocks that are printed of the end of a session that is gone on with."""


class Scrollback:
    """Prints each block of the story once, when nothing more will come to it; the rest is what the screen shows."""

    def __init__(self, app: "ChatApp") -> None:
        self.app = app
        self._printed: set[str] = set()
        self._story: Story | None = None

    def pour(self, story: Story) -> None:
        """Print what is complete, in order, and leave what is not the room that it takes."""
        if story is not self._story and story.blocks:
            fresh = self._story is None or not self._printed & {block.id for block in story.blocks}
            self._story = story
            if fresh:
                self._printed |= {block.id for block in story.blocks[:-FIRST]}
        first = next((at for at, block in enumerate(story.blocks) if block.id not in self._printed), len(story.blocks))
        strips: list[Strip] = []
        for block in story.blocks[first:]:
            if not block.settled:
                break
            if block.id not in self._printed:
                strips += self.app.transcript.strips_of(block)
                self._printed.add(block.id)
        if strips:
            self._print(strips)

    def height(self, story: Story) -> int:
        """Lines of what is not printed yet."""
        rest = [block for block in story.blocks if block.id not in self._printed]
        return sum(len(self.app.transcript.strips_of(block)) for block in rest)

    def _print(self, strips: list[Strip]) -> None:
        """Write over the conversation, which is drawn again below."""
        app, driver = self.app, self.app._driver
        if driver is None:
            return
        x, y = app._previous_cursor_position
        lines = [Strip([Segment(" "), *strip]).render(app.console) for strip in strips]
        driver.write(f"{Control.move(-x, -y).segment.text}\r\x1b[J" + "".join(f"{line}\n" for line in lines))
        driver.flush()
        app._previous_cursor_position = Offset(0, 0)
        app._previous_inline_height = None
        app.screen.refresh(layout=True)
