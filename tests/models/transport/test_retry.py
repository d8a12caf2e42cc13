"""Asking again: how often, how long after, and when not."""

from contextlib import aclosing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.models.conftest import CHAT, HELLO, events_of, text_of
from tests.models.replies import Reply
from tests.models.server import Answer, Server
from toolwright.models.model import Event, Finish, Model, ModelError, ReplySettings, TextDelta, Trouble
from toolwright.models.scripted import ScriptedModel, ScriptedTurn
from toolwright.models.transport.endpoint import ERROR_BODY
from toolwright.models.transport.retry import Retry, RetryPolicy, stream_with_retries

EVEN = RetryPolicy(jitter=0.0)
BUSY: ScriptedTurn = {"error": {"message": "busy", "kind": "overload"}}


class Clock:
    """A sleep that takes no time and remembers how long it should have been."""

    def __init__(self) -> None:
        self.waits: list[float] = []

    async def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)


async def run(model: Model, clock: Clock, policy: RetryPolicy = EVEN) -> list[Event | Retry]:
    async with aclosing(
        stream_with_retries(model, HELLO, (), ReplySettings, policy=policy, sleep=clock.sleep)
    ) as events:
        return [event async for event in events]


async def test_a_reply_without_trouble_is_passed_on() -> None:
    clock = Clock()
    events = await run(ScriptedModel({"text": "Hello"}), clock)
    assert events[0] == TextDelta("Hello")
    assert isinstance(events[-1], Finish)
    assert clock.waits == []


async def test_waits_double() -> None:
    clock = Clock()
    events = await run(ScriptedModel(BUSY, BUSY, BUSY, {"text": "Hello"}), clock)
    assert clock.waits == [2, 4, 8]
    retries = [event for event in events if isinstance(event, Retry)]
    assert [(retry.attempt, retry.wait, str(retry.error)) for retry in retries] == [
        (1, 2, "busy"),
        (2, 4, "busy"),
        (3, 8, "busy"),
    ]


async def test_after_five_retries_the_error_comes_out() -> None:
    model, clock = ScriptedModel({**BUSY, "repeat": True}), Clock()
    with pytest.raises(ModelError, match="busy"):
        await run(model, clock)
    assert model.count == 6
    assert clock.waits == [2, 4, 8, 16, 30]


async def test_a_stream_that_is_always_cut_ends_too() -> None:
    model = ScriptedModel({"text": "partial answer", "cut": 1, "repeat": True})
    with pytest.raises(ModelError, match="breaks off"):
        await run(model, Clock())
    assert model.count == 6


async def test_after_a_cut_the_whole_reply_comes_again_behind_a_mark() -> None:
    turns: list[ScriptedTurn] = [{"text": "Hello, how are you?", "cut": 1}, {"text": "Hello, how are you?"}]
    events = await run(ScriptedModel(*turns), Clock())
    assert [type(event).__name__ for event in events[:3]] == ["TextDelta", "Retry", "TextDelta"]
    mark = next(place for place, event in enumerate(events) if isinstance(event, Retry))
    assert "".join(event.text for event in events[mark:] if isinstance(event, TextDelta)) == "Hello, how are you?"


@pytest.mark.parametrize("kind", ["auth", "bad_request", "context_overflow", "content_filter", "not_found", "quota"])
async def test_what_does_not_pass_is_not_tried_again(kind: Trouble) -> None:
    model, clock = ScriptedModel({"error": {"kind": kind}}, {"text": "x"}), Clock()
    with pytest.raises(ModelError):
        await run(model, clock)
    assert (model.count, clock.waits) == (1, [])


async def test_retry_after_is_honoured() -> None:
    clock = Clock()
    await run(ScriptedModel({"error": {"kind": "quota", "retryable": True, "retry_after": 0.5}}, {"text": "x"}), clock)
    assert clock.waits == [0.5]


async def test_a_provider_that_asks_for_a_day_is_not_waited_for() -> None:
    model = ScriptedModel({"error": {"kind": "quota", "retryable": True, "retry_after": 86_400}}, {"text": "x"})
    clock = Clock()
    with pytest.raises(ModelError):
        await run(model, clock)
    assert clock.waits == []
    model = ScriptedModel({"error": {"kind": "quota", "retryable": True, "retry_after": 86_400}}, {"text": "x"})
    await run(model, clock, RetryPolicy(longest_retry_after=100_000))
    assert clock.waits == [86_400]


@given(st.integers(1, 40), st.floats(0, 1))
def test_every_wait_is_bounded(attempt: int, chance: float) -> None:
    policy = RetryPolicy()
    wait = policy.wait(attempt, ModelError("busy", "overload"), chance)
    if attempt > policy.retries:
        assert wait is None
    else:
        assert wait is not None
        assert policy.first_wait <= wait <= policy.longest_wait * (1 + policy.jitter)


async def test_of_a_refusal_that_never_ends_only_the_beginning_is_read(server: Server) -> None:
    server.answer(Answer(status=400, pieces=[b"no " * ERROR_BODY, 3600.0]))
    with pytest.raises(ModelError, match="no no"):
        await events_of(CHAT.model(server))


async def test_over_http_a_429_and_an_overload_are_outlived(server: Server) -> None:
    server.answer(
        Answer(status=429, headers={"retry-after-ms": "10"}),
        Answer(status=529),
        Answer(pieces=list(CHAT.write(Reply(text="Hello, how are you?")))[:3], end="close"),
        Answer(pieces=list(CHAT.write(Reply(text="Hello")))),
    )
    model, clock = CHAT.model(server), Clock()
    events = await run(model, clock)
    assert clock.waits == [0.01, 4, 8]
    last = max(place for place, event in enumerate(events) if isinstance(event, Retry))
    after = [event for event in events[last:] if not isinstance(event, Retry)]
    assert text_of(after) == "Hello"
    await model.close()


async def test_leaving_at_the_mark_waits_for_nothing() -> None:
    clock = Clock()
    stream = stream_with_retries(ScriptedModel(BUSY, {"text": "x"}), HELLO, (), ReplySettings, sleep=clock.sleep)
    assert isinstance(await anext(stream), Retry)
    await stream.aclose()
    assert clock.waits == []


@pytest.mark.parametrize(
    ("wait", "asked", "words"),
    [
        (0.0, None, "at once; attempt 2 of 6"),
        (0.25, None, "waiting 0.25 s; attempt 2 of 6"),
        (9.94, None, "waiting 9.9 s; attempt 2 of 6"),
        (10.0, None, "waiting 10 s; attempt 2 of 6"),
        (119.0, 119.0, "waiting 119 s, as the provider asks; attempt 2 of 6"),
        (120.0, None, "waiting 2 minutes; attempt 2 of 6"),
        (0.0, 0.0, "at once; attempt 2 of 6"),
    ],
)
def test_a_wait_is_told_in_words(wait: float, asked: float | None, words: str) -> None:
    error = ModelError("busy", "overload", retry_after=asked)
    assert Retry(1, wait, error, 6).told == words


@pytest.mark.parametrize(
    ("attempt", "retryable", "asked", "wait"),
    [
        (1, True, None, 2.0),
        (4, True, None, 16.0),
        (5, True, None, 30.0),
        (6, True, None, None),
        (1, False, None, None),
        (1, True, 0.0, 0.0),
        (5, True, 120.0, 120.0),
        (1, True, 120.5, None),
    ],
)
def test_the_wait_before_each_attempt(attempt: int, retryable: bool, asked: float | None, wait: float | None) -> None:
    error = ModelError("busy", "overload", retryable=retryable, retry_after=asked)
    assert EVEN.wait(attempt, error, chance=1.0) == wait
    jittered = RetryPolicy().wait(attempt, error, chance=1.0)
    assert jittered == (wait if wait is None or asked is not None else wait * 1.25)
