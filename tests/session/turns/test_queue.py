"""Work that is stopped: once, for the first reason, and never half."""

import asyncio

import pytest

from toolwright.session.turns.queue import QueuedWork, Stopped


async def test_the_first_reason_to_stop_is_the_one_that_counts() -> None:
    heard = list[str]()
    work = QueuedWork[None](on_stop=heard.append)
    steps = asyncio.create_task(work.carry_out(asyncio.Event().wait))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    work.stop("the user stopped the turn")
    work.stop("the workspace was closed")
    with pytest.raises(Stopped, match=r"^the user stopped the turn$"):
        await steps
    assert heard == ["the user stopped the turn"]


async def test_work_that_is_stopped_before_it_begins_takes_no_step() -> None:
    work, done = QueuedWork[None](), list[str]()
    work.stop("too late")

    async def step() -> None:
        done.append("step")

    with pytest.raises(Stopped, match="too late"):
        await work.carry_out(step)
    assert done == []
