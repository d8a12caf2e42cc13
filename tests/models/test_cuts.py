"""A stream that is cut at any byte is a whole reply or none."""

import pytest

from tests.models.conftest import Format, events_of
from tests.models.replies import Reply
from tests.models.server import Answer, Server
from toolwright.models.model import Event, Model, ModelError

REPLY = Reply(reasoning="thinking ü", text="Hello, 😀 wörld", calls=[("c1", "read", '{"filePath": "ä"}')], size=40)


@pytest.mark.slow
@pytest.mark.parametrize("end", ["whole", "close"])
async def test_a_cut_at_every_byte(server: Server, form: Format, end: str) -> None:
    data = b"".join(form.write(REPLY))
    server.stream(data)
    model = form.model(server)
    whole = await events_of(model)
    cuts = 0
    for length in range(1, len(data)):
        server.answers.clear()
        server.answer(Answer(pieces=[data[:length]], end="whole" if end == "whole" else "close"))
        read = await _read(form.model(server))
        if isinstance(read, ModelError):
            assert (read.retryable, read.kind) in {(True, "cut"), (True, "network")}
            cuts += 1
        else:
            assert len(read) >= len(whole) - 1, f"something was lost at byte {length}"
    assert cuts > len(data) // 2


async def _read(model: Model) -> list[Event] | ModelError:
    try:
        return await events_of(model)
    except ModelError as error:
        return error
