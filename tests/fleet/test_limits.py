"""Requests and tokens a minute, for the whole fleet."""

import asyncio

import pytest

from toolwright.errors import UsageError
from toolwright.fleet.limits import Limit, ProviderLimits, RequestWindow, parse_limit


def test_a_request_waits_until_the_oldest_of_its_minute_is_over() -> None:
    window = RequestWindow(Limit(requests=2))
    for now in (0.0, 10.0):
        assert window.wait(5, now) == 0
        window.grant(5, now)
    assert window.wait(5, 20.0) == 40.0
    assert window.wait(5, 60.0) == 0
    window.grant(5, 60.0)
    assert window.wait(5, 60.5) == 9.5


def test_tokens_are_counted_as_they_really_were() -> None:
    window = RequestWindow(Limit(tokens=100))
    first = window.grant(10, 0.0)
    assert window.wait(80, 1.0) == 0
    first.tokens = 60
    assert window.wait(80, 1.0) == 59.0
    assert window.wait(1000, 1.0) == 59.0
    assert window.wait(1000, 60.0) == 0


async def test_all_who_ask_share_one_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    time = 0.0
    granted: list[float] = []

    async def sleep(seconds: float) -> None:
        nonlocal time
        time += seconds

    monkeypatch.setattr("toolwright.fleet.limits.asyncio.sleep", sleep)
    shared = ProviderLimits({"scripted": Limit(requests=3)}, clock=lambda: time)

    async def ask() -> None:
        number = await shared.take("scripted", 10)
        granted.append(time)
        await shared.settle(number, 20)

    await asyncio.gather(*(ask() for _ in range(7)))
    assert granted == [0, 0, 0, 60, 60, 60, 120]
    assert await shared.take("another", 10**9) == 0


@pytest.mark.parametrize(
    ("text", "limit"),
    [("a=5", Limit(requests=5)), ("a=5/700", Limit(requests=5, tokens=700)), ("a=/700", Limit(tokens=700))],
)
def test_a_limit_is_written_in_one_word(text: str, limit: Limit) -> None:
    assert parse_limit(text) == ("a", limit)


@pytest.mark.parametrize("text", ["a", "a=", "=5", "a=x", "a=0", "a=5/-1"])
def test_what_is_no_limit_is_said(text: str) -> None:
    with pytest.raises(UsageError):
        parse_limit(text)
