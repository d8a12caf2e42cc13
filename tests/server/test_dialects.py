"""How texts that grow are told, without a server."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolwright.calls.parts import Span
from toolwright.events import PartUpdated
from toolwright.messages import PartKeys, TextPart
from toolwright.server.dialects import Dialect, EventEncoder
from toolwright.server.frames import Frame
from toolwright.server.listeners import EACH, HEARTBEAT, QUEUE_FRAMES, TOGETHER, Batch, Channel, Listener
from toolwright.session.events import PartDelta
from toolwright.text.ids import follow_id, new_id

KEYS: PartKeys = {"id": "prt_1", "session_id": "ses_1", "message_id": "msg_1"}


class Stage:
    def __init__(self, dialect: Dialect) -> None:
        self.told: list[dict[str, Any]] = []
        self.due: list[Callable[[], None]] = []
        self.teller = EventEncoder(dialect, lambda _d, payload, _k: self.told.append(payload), self.wait)

    def wait(self, _: float, call: Callable[[], None]) -> None:
        self.due.append(call)

    def ring(self) -> None:
        waiting, self.due = self.due, []
        for call in waiting:
            call()

    def begin(self) -> None:
        self.teller.hear("/p", PartUpdated(part=TextPart(**KEYS, text="", time=Span(start=1))))

    def grow(self, delta: str) -> None:
        ids = {"session_id": "ses_1", "message_id": "msg_1", "part_id": "prt_1"}
        self.teller.hear("/p", PartDelta(**ids, field="text", delta=delta))

    def end(self, text: str) -> None:
        self.teller.hear("/p", PartUpdated(part=TextPart(**KEYS, text=text, time=Span(start=1, end=2))))


@given(st.lists(st.tuples(st.text(min_size=1, max_size=5), st.booleans()), max_size=30))
def test_the_pieces_come_to_the_whole_however_they_are_joined(pieces: list[tuple[str, bool]]) -> None:
    for dialect in ("whole", "deltas"):
        stage = Stage(dialect)
        stage.begin()
        for text, rings in pieces:
            stage.grow(text)
            if rings:
                stage.ring()
        whole = "".join(text for text, _ in pieces)
        stage.end(whole)
        stage.ring()
        deltas = [one["properties"] for one in stage.told if not hasattr(one["properties"], "part")]
        pieces_told = [one["delta"] if isinstance(one, dict) else one.delta for one in deltas]
        assert "".join(pieces_told) == whole
        last = stage.told[-1]["properties"]
        assert (last["part"] if isinstance(last, dict) else last.part).text == whole


def test_a_long_text_costs_a_listener_little() -> None:
    stage = Stage("whole")
    stage.begin()
    for _ in range(5000):
        stage.grow("word")
        stage.ring()
    stage.end("word" * 5000)
    assert sum(len(Frame("", "/p", one).text) for one in stage.told) < 400_000


def test_a_listener_that_sleeps_keeps_the_newest_of_each_part_and_is_then_cut_off() -> None:
    listener = Listener("/p")
    for number in range(QUEUE_FRAMES * 3):
        listener.offer(Batch([Frame("", "/p", {"type": "message.part.updated", "n": number}, "prt_1")]))
    assert not listener.ended
    assert listener.waiting[-1].frames[-1].payload["n"] == QUEUE_FRAMES * 3 - 1
    for number in range(QUEUE_FRAMES * 2):
        listener.offer(Batch([Frame("", "/p", {"type": "session.updated", "n": number})]))
    assert listener.ended


@given(st.lists(st.one_of(st.none(), st.integers(0, 2**48 - 2)), max_size=40))
def test_our_ids_sort_behind_every_id_that_others_made(heads: list[int | None]) -> None:
    last = ""
    for head in heads:
        if head is not None:
            given = f"tst_{head:012x}AAAAAAAAAAAAAA"
            if given > last and follow_id(given):
                last = given
        made = new_id("tst")
        assert made > last
        last = made


@pytest.mark.parametrize("text", ["tst_zzzzzzzzzzzzzz", "tst_ffffffffffffA"])
def test_an_id_that_nothing_can_follow_is_not_followed(text: str) -> None:
    assert not follow_id(text)


def test_who_listens_alone_waits_for_nobody_and_many_are_told_together() -> None:
    pauses: list[float] = []
    channel = Channel("whole", lambda seconds, _: pauses.append(seconds))
    channel.join("/p", "")
    channel.tell("/p", {"type": "file.edited", "properties": {"file": "a"}})
    for _ in range(400):
        channel.join("/p", "")
    channel._paused()
    channel.tell("/p", {"type": "file.edited", "properties": {"file": "b"}})
    told = [one for one in pauses if one != HEARTBEAT]
    assert told == [EACH, TOGETHER]
