"""Plots as inline pictures: a bar for each row, or of many rows how many lie where."""

from collections.abc import Callable, Sequence
from html import escape

MOST_BARS = 40
"""Rows that have a bar each; of more, nobody would read them all."""
BINS = 10
_WIDTH, _BAR, _LABEL, _GAP = 720, 18, 220, 4
_LETTERS = 34
"""Of a label, that have room before its bar."""

Row = tuple[str, float, str]
"""A label, a value, and the value in words."""


def plot(title: str, rows: Sequence[Row], show: Callable[[float], str], most: float = 0.0) -> str:
    """The rows as bars; of many, how many of them lie between which values."""
    if len(rows) <= MOST_BARS:
        return bars(title, rows, most)
    return bars(f"{title}: number of tasks", _bins([value for _, value, _ in rows], show, most))


def bars(title: str, rows: Sequence[Row], most: float = 0.0) -> str:
    most = most or max((value for _, value, _ in rows), default=0.0) or 1.0
    drawn = "".join(_bar(index * (_BAR + _GAP), row, most) for index, row in enumerate(rows))
    height = max(1, len(rows)) * (_BAR + _GAP)
    return (
        f'<h2>{escape(title)}</h2>\n<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{escape(title)}"'
        f' viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}">{drawn}</svg>'
    )


def _bar(top: int, row: Row, most: float) -> str:
    label, value, text = row
    width = (_WIDTH - _LABEL - 90) * value / most
    words = label if len(label) <= _LETTERS else f"{label[: _LETTERS - 1]}…"
    return (
        f'<text x="{_LABEL - 6}" y="{top + 13}" text-anchor="end">{escape(words)}<title>{escape(label)}</title></text>'
        f'<rect x="{_LABEL}" y="{top}" width="{width:.1f}" height="{_BAR}"/>'
        f'<text x="{_LABEL + width + 6:.1f}" y="{top + 13}">{escape(text)}</text>'
    )


def _bins(values: Sequence[float], show: Callable[[float], str], most: float) -> list[Row]:
    low, high = (0.0, most) if most else (min(values), max(values))
    if low == high:
        return [(show(low), len(values), str(len(values)))]
    counts = [0] * BINS
    for value in values:
        counts[min(BINS - 1, int(BINS * (value - low) / (high - low)))] += 1
    edges = [low + (high - low) * index / BINS for index in range(BINS + 1)]
    return [
        (f"{show(edges[index])} to {show(edges[index + 1])}", count, str(count)) for index, count in enumerate(counts)
    ]
