"""Windows of lines, compared with the plain way of finding them."""

from io import BytesIO

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolwright.files import lines
from toolwright.files.lines import LineIndex, LineLimits, LineReader, LineWindow

TEXTS = st.lists(st.text(st.sampled_from("aäß味🍲 \r"), max_size=12), max_size=40).map("\n".join)
ROOMY = LineLimits(lines=10_000, bytes=1_000_000, width=1000)


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """So small that every line is met at every position of a chunk."""
    monkeypatch.setattr(lines, "CHUNK", 7)


def _read(text: str, limits: LineLimits, first: int = 1, column: int = 1, index: LineIndex | None = None) -> LineWindow:
    source = BytesIO(text.encode())
    return LineReader(source=source, index=index or LineIndex(), limits=limits).read(first, column)


@given(text=TEXTS, first=st.integers(1, 45), count=st.integers(0, 45))
def test_a_window_is_a_slice_of_the_lines(text: str, first: int, count: int) -> None:
    expected = text.split("\n")
    window = _read(text, LineLimits(lines=count, bytes=1_000_000, width=1000), first)
    assert window.lines == expected[first - 1 : first - 1 + count]
    more = len(expected) > first - 1 + count
    assert window.stopped_by == ("more" if more else "end")
    if not more:
        assert window.total == len(expected)


@given(text=TEXTS, column=st.integers(1, 15))
def test_a_column_is_a_slice_of_each_line(text: str, column: int) -> None:
    window = _read(text, ROOMY, column=column)
    assert window.lines == [line[column - 1 :] for line in text.split("\n")]


@given(text=TEXTS, room=st.integers(0, 120))
def test_no_more_bytes_than_allowed_are_shown_and_no_fewer(text: str, room: int) -> None:
    every = text.split("\n")
    window = _read(text, LineLimits(lines=10_000, bytes=room, width=1000))
    assert window.lines == every[: len(window.lines)]
    sizes = [len("\n".join(every[:count]).encode()) for count in range(1, len(every) + 1)]
    assert len(window.lines) == sum(size <= room for size in sizes)
    assert (window.stopped_by == "bytes") is (len(window.lines) < len(every))


@given(line=st.text(st.sampled_from("aä味🍲"), max_size=60), width=st.integers(1, 20))
def test_the_pieces_of_a_cut_line_make_up_the_whole(line: str, width: int) -> None:
    limits = LineLimits(lines=1, bytes=1_000_000, width=width + 1)
    pieces, column = "", 1
    while column:
        window = _read(f"{line}\nnext", limits, column=column)
        piece = window.lines[0].removesuffix("...") if window.cut else window.lines[0]
        assert len(piece.encode("utf-16-le")) <= 2 * (width + 1)
        pieces += piece
        column = window.cut.get(1, 0)
    assert pieces == line


@settings(max_examples=50)
@given(text=TEXTS, wanted=st.lists(st.integers(1, 45), min_size=1, max_size=5))
def test_an_index_learned_on_the_way_gives_the_same_answers(text: str, wanted: list[int]) -> None:
    index = LineIndex()
    for first in wanted:
        learned = _read(text, ROOMY, first, index=index)
        assert learned.lines == _read(text, ROOMY, first).lines
    assert LineReader(source=BytesIO(text.encode()), index=index, limits=ROOMY).count() == text.count("\n") + 1


def test_bytes_that_are_not_utf_8_are_shown_and_flagged() -> None:
    data = BytesIO(b"caf\xe9\nok")
    window = LineReader(source=data, index=LineIndex(), limits=ROOMY).read(1)
    assert (window.lines, window.damaged) == (["caf\ufffd", "ok"], True)
    known = LineReader(source=data, index=LineIndex(), limits=ROOMY, legacy="latin-1").read(1)
    assert (known.lines, known.damaged) == (["café", "ok"], False)


@given(text=st.text(st.sampled_from("aä味🍲"), min_size=20, max_size=200))
def test_no_character_is_torn_between_chunks(text: str) -> None:
    window = _read(text, LineLimits(lines=1, bytes=10_000, width=10), column=1)
    assert not window.damaged
    window = _read(text, LineLimits(lines=1, bytes=10_000, width=10), column=15)
    assert not window.damaged
