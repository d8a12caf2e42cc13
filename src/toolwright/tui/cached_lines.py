"""Widgets that keep what they have drawn until they change: textual asks all of them for every frame."""

from math import ceil

from textual.containers import Horizontal, Vertical
from textual.geometry import Region
from textual.screen import Screen
from textual.scrollbar import ScrollBar
from textual.strip import Strip
from textual.widget import Widget

EIGHTHS = 8
"""Steps of a line in which the bar moves."""


class CachedLines(Widget):
    """A widget drawn anew only when it asks for it, not whenever something beside it is.

    Mix in last: Textual takes the CSS name of the first base.
    """

    _kept: tuple[Region, list[Strip]] | None = None

    def render_lines(self, crop: Region) -> list[Strip]:
        if self._kept is None or self._kept[0] != crop:
            self._kept = (crop, super().render_lines(crop))
        return self._kept[1]

    def refresh(
        self, *regions: Region, repaint: bool = True, layout: bool = False, recompose: bool = False
    ) -> "CachedLines":
        self._kept = None
        super().refresh(*regions, repaint=repaint, layout=layout, recompose=recompose)
        return self

    def notify_style_update(self) -> None:
        self._kept = None
        super().notify_style_update()


class BaseScreen(Screen[None], CachedLines):
    """Base screen, behind everything."""


class CachedRow(Horizontal, CachedLines):
    """Widgets beside each other."""


class CachedColumn(Vertical, CachedLines):
    """Widgets below each other."""


class Bar(ScrollBar, CachedLines):
    """Shows the place in a transcript. Beside a long one, a new line rarely moves it."""

    _picture: object = None
    """The state that was last drawn."""

    def render_lines(self, crop: Region) -> list[Strip]:
        picture = self._thumb()
        if picture != self._picture:
            self._kept, self._picture = None, picture
        return super().render_lines(crop)

    def refresh(self, *regions: Region, repaint: bool = True, layout: bool = False, recompose: bool = False) -> "Bar":
        if layout or recompose or self._kept is None or self._thumb() != self._picture:
            # By what it shows, not by who asks: the height and the place in it are told one after the other.
            super(CachedLines, self).refresh(*regions, repaint=repaint, layout=layout, recompose=recompose)
        return self

    def _thumb(self) -> object:
        """Return where it begins and how long it is, as it is drawn."""
        height, lines, seen = self.size.height, self.window_virtual_size, self.window_size
        state = (height, self.mouse_over, self.grabbed is not None)
        if not height or not seen or lines <= seen:
            return state
        length = max(1.0, seen * height / lines)
        start = (height - length) * self.position / (lines - seen)
        return (*state, int(start * EIGHTHS), ceil(length * EIGHTHS))
