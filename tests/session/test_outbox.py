"""What is told, when, and in which order, while records are on their way to disk."""

import asyncio

import pytest

from toolwright.calls.parts import Part
from toolwright.events import Bus, Event, FileEdited
from toolwright.session.records.conversation import Outbox
from toolwright.session.store import StorageError


class SlowStore:
    """Says that all is safe when the test says so."""

    def __init__(self) -> None:
        self.asked: list[asyncio.Future[None]] = []

    def put_part(self, part: Part) -> None: ...

    async def settled(self) -> None:
        answer = asyncio.get_running_loop().create_future()
        self.asked.append(answer)
        await answer


class Scene:
    """An outbox, its store, and the files told of so far."""

    def __init__(self) -> None:
        self.store = SlowStore()
        self.told: list[str] = []
        bus = Bus()
        bus.subscribe(self._hear)
        self.outbox = Outbox(self.store, bus)

    def _hear(self, event: Event) -> None:
        assert isinstance(event, FileEdited)
        self.told.append(event.file)


def event(name: str) -> Event:
    return FileEdited(file=name)


async def rounds(count: int = 5) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


async def test_what_waits_for_nothing_is_told_at_once() -> None:
    scene = Scene()
    scene.outbox.tell(event("a"))
    assert scene.told == ["a"]


async def test_what_comes_later_is_not_told_before_what_waits_for_the_disk() -> None:
    scene = Scene()
    scene.outbox.tell_when_safe(event("a"))
    scene.outbox.tell(event("b"))
    await rounds()
    assert scene.told == []
    scene.store.asked[0].set_result(None)
    await rounds()
    assert scene.told == ["a", "b"]
    scene.outbox.tell(event("c"))
    assert scene.told == ["a", "b", "c"]


async def test_what_is_written_in_one_breath_is_asked_about_once() -> None:
    scene = Scene()
    scene.outbox.tell_when_safe(event("a"))
    scene.outbox.tell_when_safe(event("b"), event("c"))
    await rounds()
    assert len(scene.store.asked) == 1
    scene.store.asked[0].set_result(None)
    await rounds()
    assert scene.told == ["a", "b", "c"]


async def test_what_is_written_later_waits_for_its_own_answer() -> None:
    scene = Scene()
    scene.outbox.tell_when_safe(event("a"))
    await rounds()
    scene.outbox.tell(event("b"))
    scene.outbox.tell_when_safe(event("c"))
    await rounds()
    scene.store.asked[0].set_result(None)
    await rounds()
    assert scene.told == ["a", "b"]
    scene.store.asked[1].set_result(None)
    await rounds()
    assert scene.told == ["a", "b", "c"]


async def test_whoever_waits_for_the_disk_finds_everything_told() -> None:
    scene = Scene()
    scene.outbox.tell_when_safe(event("a"))
    waiting = asyncio.ensure_future(scene.outbox.settled())
    await rounds()
    scene.outbox.tell_when_safe(event("b"))
    await rounds()
    for answer in scene.store.asked[:2]:
        answer.set_result(None)
    await waiting
    assert scene.told == ["a"]
    scene.store.asked[2].set_result(None)
    await rounds()
    assert scene.told == ["a", "b"]


async def test_to_wait_with_nothing_held_does_not_let_out_what_comes_meanwhile() -> None:
    scene = Scene()
    waiting = asyncio.ensure_future(scene.outbox.settled())
    await rounds()
    scene.outbox.tell_when_safe(event("a"))
    await rounds()
    scene.store.asked[0].set_result(None)
    await waiting
    assert scene.told == []


@pytest.mark.parametrize("problem", [StorageError("the disk is full"), RuntimeError("the store of somebody is full")])
async def test_a_failing_store_is_told_to_whoever_waits_and_holds_nothing_back_for_ever(problem: Exception) -> None:
    scene = Scene()
    scene.outbox.tell_when_safe(event("a"))
    await rounds()
    scene.store.asked[0].set_exception(problem)
    await rounds()
    assert scene.told == ["a"]
    waiting = asyncio.ensure_future(scene.outbox.settled())
    await rounds()
    scene.store.asked[1].set_exception(problem)
    with pytest.raises(type(problem), match="full"):
        await waiting
