"""How tests wait: for what is to happen, however long it takes. The one limit keeps a broken test from hanging."""

import asyncio
import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from toolwright.deadline import Deadline, time_limit

PATIENCE = 120
"""Seconds after which what a test waits for is taken never to come. No result depends on it.

pyproject.toml gives a test some more."""
PAUSE = 0.005
"""Seconds between two looks at something that tells nobody when it changes."""


def patience() -> Deadline:
    """For `async with`: what is waited for inside comes or the test fails."""
    return time_limit(PATIENCE)


async def until(true: Callable[[], object]) -> None:
    """Wait for something to be so that tells nobody."""
    async with patience():
        while not true():  # noqa: ASYNC110 - what is waited for has no event of its own
            await asyncio.sleep(PAUSE)


async def read_pipe(path: Path) -> str:
    """Read a named pipe until those who write it have closed it. A thread that waits for that keeps a loop from
    closing."""
    reader = asyncio.StreamReader()
    end = os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb")
    protocol = asyncio.StreamReaderProtocol(reader)
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(lambda: protocol, end)
    with closing(transport):
        async with patience():
            return (await reader.read()).decode()


async def write_pipe(path: Path, text: str) -> None:
    """Write to a named pipe as soon as somebody reads it."""

    def written() -> bool:
        with suppress(OSError):  # nobody has opened it
            descriptor = os.open(path, os.O_WRONLY | os.O_NONBLOCK)
            with os.fdopen(descriptor, "w") as end:
                end.write(text)
            return True
        return False

    await until(written)


def wait_until(true: Callable[[], object]) -> None:
    """The same outside of a loop."""
    end = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < end, "it never came to that"
        time.sleep(PAUSE)


def patience_left() -> Callable[[], float]:
    """A function that tells how many seconds are left, for waits of the system that take a limit."""
    end = time.monotonic() + PATIENCE
    return lambda: max(0.0, end - time.monotonic())


@contextmanager
def bounded_work() -> Iterator[None]:
    """Work inside that would never end, such as one whose cost grows as a power of its input, fails the test."""

    def give_up(number: int, frame: object) -> None:
        raise AssertionError(f"it has computed for {PATIENCE} seconds")

    before = signal.signal(signal.SIGVTALRM, give_up)
    signal.setitimer(signal.ITIMER_VIRTUAL, PATIENCE)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
