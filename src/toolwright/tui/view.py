"""The transcript as one widget of lines. A block is laid out once for a width; only what is seen is drawn."""

import gc
import re
import time
from bisect import bisect_right
from itertools import accumulate, islice, takewhile

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.scrollbar import ScrollBar
from textual.selection import Selection
from textual.strip import Strip

from toolwright.tui.blocks import CallBlock, Note, TranscriptBlock
from toolwright.tui.cached_lines import Bar
from toolwright.tui.page import Line, Palette, fitted, strip_of
from toolwright.tui.story import Story

SLICE = 0.008
"""Seconds at a time that are spent on blocks that nobody sees yet."""
REMEMBERED = 1_000
"""Lines that are kept as they were drawn."""
RARELY = 1_000
"""Collections of the younger objects before one of all."""
RARELY_MEASURED = 32
"""Slices after which the height of everything is updated."""
AHEAD = 2
"""Screens that are laid out at once."""


_EMPTY: Line = []
_BLANK = Strip([])
_FOUND = Style(reverse=True, bold=True)


class BlockLayout:
    """A block with the lines it takes."""

    __slots__ = ("at", "block", "lines", "stamp", "strips")

    def __init__(self, block: TranscriptBlock, at: int) -> None:
        self.block = block
        self.at = at
        """Its number among the blocks."""
        self.strips: list[Strip] = []
        self.lines: list[Line] = []
        """The lines that the strips were made of, as long as the block may grow."""
        self.stamp: object = None


class Transcript(ScrollView, can_focus=False):
    """A story, scrolled by the keys of the prompt or the wheel; at the end it follows what comes."""

    DEFAULT_CSS = """
    Transcript { height: 1fr; padding: 0 0 0 2; scrollbar-size-vertical: 1; overflow-x: hidden; overflow-y: scroll; }
    """

    class SteppedInto(Message):
        """A call of a subagent was clicked."""

        def __init__(self, session_id: str) -> None:
            super().__init__()
            self.session_id = session_id

    def __init__(self, palette: Palette) -> None:
        super().__init__()
        self.palette = palette
        self.whole = False
        self.story = Story()
        self.follows = True
        """True while it stays at the end when more comes."""
        self._laid: list[BlockLayout] = []
        self._by_id: dict[str, BlockLayout] = {}
        self._starts: list[int] = [0]
        self._behind = 0
        """Blocks up to this one may not be laid out for the present width; they are, bit by bit, from the end."""
        self._slicing = False
        self._slices = 0
        self._laid_for = 0
        """The width that it was last laid out for."""
        self._style: Style | None = None
        self._threshold = (0, 0, 0)
        self._drawn: dict[tuple[int, int], tuple[Strip, Strip]] = {}
        """Lines as they were last drawn, with what they were made of."""
        self._wanted: re.Pattern[str] | None = None
        """The pattern that is searched for."""
        self.matching_lines: list[int] = []
        """The lines that hold it."""
        self._greeting: list[Line] = []

    @property
    def vertical_scrollbar(self) -> ScrollBar:
        if self._vertical_scrollbar is None:
            self._vertical_scrollbar = bar = Bar(vertical=True, name="vertical", thickness=self.scrollbar_size_vertical)
            bar.display = False
            self.app._start_widget(self, bar)
        return self._vertical_scrollbar

    def on_mount(self) -> None:
        self._threshold = gc.get_threshold()
        gc.set_threshold(*self._threshold[:2], RARELY)

    def on_unmount(self) -> None:
        gc.set_threshold(*self._threshold)
        gc.unfreeze()

    # What is shown.

    def show(self, story: Story) -> None:
        """Another story, from its end."""
        gc.unfreeze()
        self.story = story
        self.follows = True
        story.looked()
        self._renew()

    def look(self) -> None:
        """Show what has changed in the story."""
        removed = self.story.removed
        changed = self.story.looked()
        if removed:
            self._renew()
            return
        if not changed:
            return
        for at, block in enumerate(self.story.blocks[len(self._laid) :], len(self._laid)):
            self._laid.append(BlockLayout(block, at))
            self._by_id[block.id] = self._laid[-1]
        laid = [self._by_id[one] for one in changed if one in self._by_id]
        # What one has come to decides whether an empty line stands behind it.
        laid += [self._laid[one.at + 1] for one in laid if one.at + 1 < len(self._laid)]
        if laid:
            self._update_heights(*min((one.at, self._lay_out(one)) for one in laid))

    def greet(self, lines: list[Line]) -> None:
        """Show these in the middle as long as nobody has said anything."""
        if lines != self._greeting:
            self._greeting = lines
            self.refresh()

    def strips_of(self, block: TranscriptBlock) -> list[Strip]:
        """The lines of a block, as they stand in the transcript."""
        if block.id not in self._by_id:
            return []
        self._lay_out(self._by_id[block.id])
        return self._by_id[block.id].strips

    def set_whole(self, whole: bool) -> None:
        self.whole = whole
        self._relayout_all()

    def set_palette(self, palette: Palette) -> None:
        self.palette = palette
        self._relayout_all()

    def jump(self, block: TranscriptBlock) -> None:
        """Bring a block to the top of the screen."""
        self._finish()
        at = self.story.blocks.index(block)
        self.follows = False
        self.scroll_to(y=self._starts[at], animate=False)
        self.follows = self.is_vertical_scroll_end

    def keep_above(self, rows: int) -> None:
        """Stay above so many lines at the foot of the screen, which something covers."""
        if self.app.is_inline:
            return
        below = sum(one.outer_size.height for one in self.siblings if one.display and one.region.y > self.region.y)
        self.styles.margin = (0, 0, max(0, rows - below), 0)

    def scroll_lines(self, lines: int) -> None:
        top = max(0, min(self.scroll_offset.y + lines, self.max_scroll_y))
        self.scroll_to(y=top, animate=False)

    @property
    def page(self) -> int:
        return max(1, self.size.height - 2)

    # Searching.

    def look_for(self, words: str) -> None:
        """Mark these words wherever they stand; none marks nothing. `matching_lines` are the lines that hold them."""
        self._wanted = re.compile(re.escape(words), re.IGNORECASE) if words else None
        self.matching_lines = []
        if self._wanted is not None:
            self._finish()
            strips = (strip for laid in self._laid for strip in laid.strips)
            self.matching_lines = [line for line, strip in enumerate(strips) if self._wanted.search(strip.text)]
        self._drawn.clear()
        self.refresh()

    def show_line(self, line: int) -> None:
        """Bring a line to the middle of what is seen."""
        self.follows = False
        self.scroll_to(y=max(0, min(line - self.size.height // 2, self.max_scroll_y)), animate=False)
        self.follows = self.is_vertical_scroll_end

    # Laying out.

    @property
    def _width(self) -> int:
        # At the foot of the terminal it has no size while there is nothing to show. The last column is left empty.
        width = self.scrollable_content_region.width or self.app.size.width - self.styles.padding.width
        return max(10, width - 1)

    def _stamp(self, laid: BlockLayout) -> object:
        return (laid.block.version, self._has_gap(laid.at), self._width, self.whole, id(self.palette))

    def _lay_out(self, laid: BlockLayout) -> int:
        """Bring a block's lines up to date. How many of them are still the same, from its first."""
        stamp = self._stamp(laid)
        if laid.stamp == stamp:
            return len(laid.strips)
        lines = laid.block.lines(self._width, whole=self.whole)
        spaced = [_EMPTY, *lines] if lines and self._has_gap(laid.at) else lines
        # A line that is the same object is the same line: of an answer that grows only the end is new.
        kept = sum(1 for _ in takewhile(lambda pair: pair[0] is pair[1], zip(laid.lines, spaced, strict=False)))
        laid.strips = [*laid.strips[:kept], *(strip_of(line, self.palette) for line in spaced[kept:])]
        laid.lines = spaced if laid.block.grows else []
        laid.stamp = stamp
        return kept

    def _renew(self) -> None:
        self._laid = [BlockLayout(block, at) for at, block in enumerate(self.story.blocks)]
        self._by_id = {one.block.id: one for one in self._laid}
        self._relayout_all()

    def _has_gap(self, at: int) -> bool:
        blocks = self.story.blocks
        return at > 0 and (blocks[at].loose or blocks[at - 1].loose)

    def _relayout_all(self) -> None:
        """Everything must be laid out anew: what is seen at once, the rest from its end to its beginning."""
        for laid in self._laid:
            laid.lines = []
        if not self.is_attached or not self.size.width:
            self._starts = [0]
            return
        self._laid_for = self._width
        self._behind = len(self._laid)
        room = AHEAD * max(1, self.size.height)
        if self.follows:
            while self._behind and room > 0:
                self._behind -= 1
                self._lay_out(self._laid[self._behind])
                room -= len(self._laid[self._behind].strips)
        else:
            first = self._at(self.scroll_offset.y)
            for laid in self._laid[first:]:
                self._lay_out(laid)
                room -= len(laid.strips)
                if room <= 0:
                    break
        self._update_heights()
        self._continue()

    def _continue(self) -> None:
        if self._behind and not self._slicing:
            self._slicing = True
            self.set_timer(SLICE, self._layout_some)
        elif not self._behind:
            self.settle()

    def settle(self) -> None:
        """Nothing comes for the moment: look for garbage now, and never again in what is left.

        A long transcript is hundreds of thousands of objects. Looking through them while it grows stops the screen.
        """
        gc.collect()
        gc.freeze()

    def _layout_some(self) -> None:
        self._slicing = False
        until, before = time.perf_counter() + SLICE, self._behind
        while self._behind and time.perf_counter() < until:
            self._behind -= 1
            self._lay_out(self._laid[self._behind])
        self._slices += 1
        # To measure and draw takes as long as a slice; what is far from the screen changes nothing on it.
        top, height = self.scroll_offset.y, self.size.height
        is_near = self._behind <= self._at(top + AHEAD * height) and before >= self._at(top - AHEAD * height)
        if is_near or not self._behind or self._slices % RARELY_MEASURED == 0:
            self._update_heights()
        self._continue()

    def _finish(self) -> None:
        """Lay out all that is left at once: somebody wants to know where something is."""
        while self._behind:
            self._behind -= 1
            self._lay_out(self._laid[self._behind])
        self._update_heights()
        self._continue()

    def _update_heights(self, at: int = 0, kept: int = 0) -> None:
        """Heights have changed: keep the line at the top where it is, or stay at the end.

        What stands before a block, and so many of its lines, is as it was.
        """
        if at >= len(self._starts):
            # Those before it were never measured: there was no room to show them in.
            at, kept = len(self._starts) - 1, 0
        top = self.scroll_offset.y
        first = self._at(top)
        inside = top - self._starts[first] if self._laid else 0
        before = self._starts[-1]
        del self._starts[at + 1 :]
        self._starts += islice(
            accumulate((len(one.strips) for one in self._laid[at:]), initial=self._starts[at]), 1, None
        )
        if self._starts[-1] != before or self.virtual_size.width != self._width:
            # The bar is always there, so the room of everything stays as it is: no layout is needed for a new height.
            self.set_reactive(Transcript.virtual_size, Size(self._width, self._starts[-1]))
            self._scroll_update(self.virtual_size)
        if self.follows:
            self.scroll_to(y=self.max_scroll_y, animate=False)
        elif self._laid:
            inside = min(inside, max(0, len(self._laid[first].strips) - 1))
            if (place := self._starts[first] + inside) != top:
                self.scroll_to(y=place, animate=False)
        self._refresh_from(self._starts[at] + kept)

    def _refresh_from(self, line: int) -> None:
        """Redraw from this line on; where the lines have moved, that is known already."""
        row, height = max(0, line - self.scroll_offset.y), self.size.height
        if row < height:
            self.refresh(Region(0, row, self.size.width, height - row))

    def _at(self, y: int) -> int:
        """The block that holds a line."""
        return max(0, min(bisect_right(self._starts, y) - 1, len(self._laid) - 1))

    # Drawing.

    def on_resize(self) -> None:
        if self._laid_for == self._width:
            self._update_heights()
        else:
            self._relayout_all()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        self.follows = new_value >= self.max_scroll_y

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._drawn.clear()
        self._style = None

    def render_lines(self, crop: Region) -> list[Strip]:
        """The visible lines, finished: a line that was only scrolled is the same as before.

        In the place of what textual does for any widget, which finishes every line anew whenever one has moved.
        """
        self._style = self._style or self.rich_style
        width, top = self.scrollable_content_region.width, self.scroll_offset.y
        selected, end = self.text_selection, self._starts[-1]
        strips = [
            self._finished(y + top, width, selected) if y + top < end else self._below(y + top - end, width)
            for y in crop.line_range
        ]
        span = crop.column_span
        return strips if span == (0, self.size.width) else [strip.crop(*span) for strip in strips]

    def _finished(self, line: int, width: int, selected: Selection | None) -> Strip:
        """A line with its edges, in the colours that the terminal has."""
        at = self._at(line)
        strip = self._laid[at].strips[line - self._starts[at]]
        made_of, drawn = self._drawn.get((line, width), (None, None))
        if made_of is strip and drawn is not None and selected is None:
            return drawn
        drawn = strip.crop_extend(0, width, self._style).apply_style(self._style or Style()).apply_offsets(0, line)
        if self._wanted is not None:
            for match in self._wanted.finditer(strip.text):
                start, end = (cell_len(strip.text[:at]) for at in match.span())
                drawn = self._marked(drawn, start, end)
        if selected is not None:
            return self._edged(self._selected(drawn, line, selected))
        if len(self._drawn) > REMEMBERED:
            self._drawn.clear()
        drawn = self._edged(drawn)
        self._drawn[line, width] = (strip, drawn)
        return drawn

    def _below(self, row: int, width: int) -> Strip:
        """A line below the last: of the greeting, or bare."""
        greeting = self._greeting if all(isinstance(one, Note) for one in self.story.blocks) else []
        at = row - max(1, (self.size.height - self._starts[-1] - len(greeting)) // 2)
        if not 0 <= at < len(greeting):
            return self._bare(width)
        widest = max(cell_len("".join(text for text, _ in line)) for line in greeting)
        line: Line = [(" " * max(0, (width - widest) // 2), ""), *greeting[at]]
        strip = strip_of(fitted(line, width)[0], self.palette).crop_extend(0, width, self._style)
        return self._edged(strip.apply_style(self._style or Style()))

    def _bare(self, width: int) -> Strip:
        """A line below the last."""
        _, drawn = self._drawn.get((-1, width), (None, None))
        if drawn is None:
            drawn = self._edged(_BLANK.crop_extend(0, width, self._style))
            self._drawn[-1, width] = (_BLANK, drawn)
        return drawn

    def _edged(self, strip: Strip) -> Strip:
        drawn = Strip.join([Strip.blank(self.styles.padding.left, self._style), strip])
        for line_filter in self.app.get_line_filters():
            drawn = drawn.apply_filter(line_filter, self.background_colors[1])
        return drawn

    def _selected(self, strip: Strip, line: int, selection: Selection) -> Strip:
        span = selection.get_span(line)
        if span is None:
            return strip
        start, end = span
        style = self.screen.get_component_rich_style("screen--selection")
        return self._marked(strip, start, strip.cell_length if end == -1 else end, style)

    @staticmethod
    def _marked(strip: Strip, start: int, end: int, style: Style = _FOUND) -> Strip:
        """A line with a part of it in another style."""
        parts = strip.divide([start, end, strip.cell_length])
        middle = [Segment(one.text, (one.style or Style()) + style) for one in parts[1]] if len(parts) > 1 else []
        return Strip([*parts[0], *middle, *(one for part in parts[2:] for one in part)])

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        self._finish()
        text = "\n".join(strip.text.rstrip() for laid in self._laid for strip in laid.strips)
        return selection.extract(text), "\n"

    def selection_updated(self, selection: Selection | None) -> None:
        self.refresh()

    def on_click(self, event: "object") -> None:
        y = getattr(event, "y", 0) + self.scroll_offset.y
        if self._laid and y < self._starts[-1]:
            block = self._laid[self._at(y)].block
            if isinstance(block, CallBlock) and block.child:
                self.post_message(self.SteppedInto(block.child))
