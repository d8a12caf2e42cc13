"""Server-sent events, whatever pieces they come in."""

from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolwright.protocols.sse import LARGEST, EventReader, ServerEvent


def read(chunks: Iterable[bytes]) -> list[ServerEvent]:
    reader = EventReader()
    events = [event for chunk in chunks for event in reader.feed(chunk)]
    return [*events, *reader.close()]


@pytest.mark.parametrize(
    ("stream", "events"),
    [
        ("data: one\n\n", [ServerEvent("one")]),
        ("data: one\r\n\r\ndata: two\r\r", [ServerEvent("one"), ServerEvent("two")]),
        ("data:one\n\n", [ServerEvent("one")]),
        ("data:  one\n\n", [ServerEvent(" one")]),
        ("data: one\ndata: two\n\n", [ServerEvent("one\ntwo")]),
        ("data\n\n", [ServerEvent("")]),
        ("event: ping\ndata: {}\n\n", [ServerEvent("{}", "ping")]),
        ("event: ping\r\ndata: one\r\ndata: two\r\n\r\n", [ServerEvent("one\ntwo", "ping")]),
        (": a comment\n\ndata: one\nid: 7\nretry: 5\n\n", [ServerEvent("one", id="7")]),
        ("event: lost\n\ndata: one\n\n", [ServerEvent("one")]),
        ("\ufeffdata: one\n\n", [ServerEvent("one")]),
        ("data: one: two\n\n", [ServerEvent("one: two")]),
        (
            "data: one\n\ndata: whole line, no empty one\n",
            [ServerEvent("one"), ServerEvent("whole line, no empty one")],
        ),
        ("data: one\n\ndata: half a li", [ServerEvent("one")]),
        ("", []),
    ],
)
def test_events_as_the_standard_has_them(stream: str, events: list[ServerEvent]) -> None:
    assert read([stream.encode()]) == events
    assert read(bytes([byte]) for byte in stream.encode()) == events


text = st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]), max_size=30)


@given(
    st.lists(st.tuples(text, text.filter(lambda name: not name.startswith(" ")))),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.data(),
)
def test_it_does_not_matter_where_the_pieces_are_cut(
    given: list[tuple[str, str]], line_end: str, data: st.DataObject
) -> None:
    stream = "".join(f"event: {name}{line_end}data: {value}{line_end}{line_end}" for value, name in given).encode()
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=10)))
    pieces = [stream[start:end] for start, end in zip([0, *cuts], [*cuts, len(stream)], strict=True)]
    assert read(pieces) == [ServerEvent(value, name) for value, name in given]


def test_bytes_that_are_no_text_do_not_end_the_stream() -> None:
    assert read([b"data: a\xffb\n\n"]) == [ServerEvent("a\ufffdb")]


def test_a_long_event_costs_no_more_in_small_pieces() -> None:
    """Half a megabyte byte by byte; copying what there is each time would take a minute."""
    payload = b"data: " + b"x" * 500_000 + b"\n\n"
    reader = EventReader()
    events = [event for place in range(len(payload)) for event in reader.feed(payload[place : place + 1])]
    assert [len(event.data) for event in events] == [500_000]


def test_an_event_without_end_is_refused() -> None:
    reader = EventReader()
    list(reader.feed(b"x" * LARGEST))
    with pytest.raises(ValueError, match="more than"):
        list(reader.feed(b"x"))


@pytest.mark.parametrize(
    ("stream", "last_id", "retry"),
    [
        ("id: 7\nretry: 500\ndata:\n\n", "7", 0.5),
        ("id: 7\n\n", "7", None),
        ("id: 7\ndata: one\n\nid: 8\ndata: ha", "7", None),
        ("id: 7\n\nid: 8\0\n\n", "7", None),
        ("id: 7\n\nid\n\n", "", None),
        ("retry: soon\nretry: -1\nretry: 10000000000\n\n", "", None),
    ],
)
def test_a_reader_knows_how_far_it_has_come_and_when_it_may_come_again(
    stream: str, last_id: str, retry: float | None
) -> None:
    reader = EventReader()
    list(reader.feed(stream.encode()))
    assert (reader.last_id, reader.retry) == (last_id, retry)
