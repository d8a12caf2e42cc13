"""A limit holds whatever became of the task before; what must not be left half done is not."""

import asyncio

import pytest

from tests.waiting import patience
from toolwright.deadline import Deadline, time_limit, to_the_end


async def cancelled_and_caught(way_out: "asyncio.Future[str]") -> None:
    """Wait to be cancelled, then leave as one who closes something within a limit."""
    try:
        await asyncio.sleep(3600)
    except asyncio.CancelledError:
        try:
            async with time_limit(0):
                await asyncio.sleep(3600)
        except TimeoutError:
            way_out.set_result("the time was over")
        raise


async def test_a_limit_holds_in_a_task_that_was_cancelled_before() -> None:
    way_out = asyncio.get_running_loop().create_future()
    task = asyncio.create_task(cancelled_and_caught(way_out))
    await asyncio.sleep(0)
    task.cancel()
    async with patience():
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await way_out == "the time was over"


async def test_a_task_that_is_cancelled_within_its_limit_is_cancelled() -> None:
    async def work() -> None:
        async with time_limit(3600):
            await asyncio.sleep(3600)

    task = asyncio.create_task(work())
    await asyncio.sleep(0)
    task.cancel()
    async with patience():
        with pytest.raises(asyncio.CancelledError):
            await task


async def test_a_task_that_is_cancelled_as_its_time_is_over_is_cancelled() -> None:
    async def work() -> None:
        async with time_limit(0):
            try:
                await asyncio.sleep(3600)
            except asyncio.CancelledError:
                task.cancel()
                raise

    task = asyncio.create_task(work())
    async with patience():
        with pytest.raises(asyncio.CancelledError):
            await task


async def test_what_is_over_leaves_the_task_as_it_was() -> None:
    async with patience():
        with pytest.raises(TimeoutError):
            async with time_limit(0) as limit:
                await asyncio.sleep(3600)
        await asyncio.sleep(0)
    assert limit.expired
    task = asyncio.current_task()
    assert task is not None
    assert task.cancelling() == 0


async def test_the_inner_limit_is_told_apart_from_the_outer() -> None:
    async with patience():
        async with time_limit(3600) as outer:
            with pytest.raises(TimeoutError):
                async with time_limit(0):
                    await asyncio.sleep(3600)
        assert not outer.expired
        with pytest.raises(TimeoutError):
            async with time_limit(0), time_limit(3600) as inner:
                await asyncio.sleep(3600)
        assert not inner.expired


async def moved_to_the_past() -> None:
    async with Deadline(None) as limit:
        limit.move(0)
        await asyncio.sleep(3600)


async def test_a_limit_can_be_moved_and_lifted() -> None:
    async with patience():
        async with time_limit(0) as limit:
            limit.move(None)
            await asyncio.sleep(0)
            await asyncio.sleep(0)
        with pytest.raises(TimeoutError):
            await moved_to_the_past()


async def test_what_a_body_raises_is_not_taken_for_the_end_of_its_time() -> None:
    async def work() -> None:
        async with time_limit(0):
            try:
                await asyncio.sleep(3600)
            except asyncio.CancelledError:
                raise ValueError("mine") from None

    with pytest.raises(ValueError, match="mine"):
        await work()


async def test_work_is_done_to_its_end_however_often_its_caller_is_cancelled() -> None:
    begun, released, done = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def work() -> None:
        begun.set()
        await released.wait()
        done.set()

    task = asyncio.create_task(to_the_end(work()))
    async with patience():
        await begun.wait()
        for _ in range(3):
            task.cancel()
            await asyncio.sleep(0)
        assert not task.done()
        released.set()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert done.is_set()


async def test_what_comes_of_work_is_told() -> None:
    async def fail() -> None:
        raise ValueError("no")

    async def give() -> int:
        return 7

    assert await to_the_end(give()) == 7
    with pytest.raises(ValueError, match="no"):
        await to_the_end(fail())
