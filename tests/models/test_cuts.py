"""A stream that is cut at any byte is a whole reply or none."""

from contextlib import aclosing

import pytest

from tests.models.conftest import HELLO, Format
from tests.models.replies import Reply
from tests.models.server import Answer, Server
from tests.rounds import rounds
from toolwright.models.formats.wire import HttpModel
from toolwright.models.model import Event, ModelError, ReplySettings

REPLY = Reply(reasoning="thinking ü", text="Hello, 😀 wörld", calls=[("c1", "read", '{"filePath": "ä"}')], size=40)


@pytest.mark.slow
@pytest.mark.parametrize("end", ["whole", "close"])
async def test_a_cut_at_any_byte(server: Server, form: Format, end: str) -> None:
    data = b"".join(form.write(REPLY))
    server.stream(data)
    model = form.model(server)
    assert isinstance(model, HttpModel)
    whole = await _read(model)
    assert not isinstance(whole, ModelError)
    lengths = range(1, len(data), rounds(5, 1))
    cuts = 0
    for length in lengths:
        server.answers.clear()
        server.answer(Answer(pieces=[data[:length]], end="whole" if end == "whole" else "close"))
        # A model of its own for each, since one learns from cuts; all over the same connections.
        read = await _read(HttpModel(model.info, model.wire, model.endpoint))
        if isinstance(read, ModelError):
            assert (read.retryable, read.kind) in {(True, "cut"), (True, "network")}
            cuts += 1
        else:
            assert len(read) >= len(whole) - 1, f"something was lost at byte {length}"
    await model.close()
    assert cuts > len(lengths) // 2


async def _read(model: HttpModel) -> list[Event] | ModelError:
    try:
        async with aclosing(model.stream(HELLO, (), ReplySettings())) as events:
            return [event async for event in events]
    except ModelError as error:
        return error
