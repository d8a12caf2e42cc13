"""The events of a turn, read from those of the bus and kept for a program that may be slow."""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator
from contextlib import aclosing
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any

from toolwright.calls.parts import Pending, Running, ToolPart
from toolwright.events import Bus, Event, PartUpdated, PermissionAsked
from toolwright.inbox import Question
from toolwright.messages import Assistant, ReasoningPart, TextPart, called_name
from toolwright.models.formats.tagged_text import TaggedText
from toolwright.record import record
from toolwright.session.events import MessageUpdated, PartDelta, PartRemoved, QuestionAsked
from toolwright.session.result import TurnResult, result_of_call
from toolwright.session.turn_events import (
    Asked,
    Finished,
    TextDelta,
    ThinkingDelta,
    ToolFinished,
    ToolProgress,
    ToolStarted,
    TurnEvent,
)

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from typing_extensions import TypeVar

    T = TypeVar("T", default=None)

MOST_WAITING = 1000
"""Events that wait for a slow reader before those of one text, or of one call, are joined."""

Told = TextDelta | ThinkingDelta | ToolStarted | ToolProgress | ToolFinished | Asked
FindQuestion = Callable[[Event], Question | None]
"""The question that an event tells of."""


@record(slots=True)
class TurnReader:
    """Reads what the bus tells of one session into the events of its turn."""

    session_id: str
    question: FindQuestion
    _texts: dict[str, TaggedText | None] = field(default_factory=dict[str, TaggedText | None])
    """The texts that are being written, by their id; None for one that is thinking."""
    _running: dict[str, ToolPart] = field(default_factory=dict[str, ToolPart])
    _summaries: set[str] = field(default_factory=set[str])
    """The messages that sum the conversation up: they are no answer."""

    def read(self, event: Event) -> Iterator[Told]:
        match event:
            case PermissionAsked() | QuestionAsked():
                question = self.question(event)
                if question and self.session_id in (question.session_id, *question.callers):
                    yield Asked(question=question, session_id=question.session_id)
            case MessageUpdated(info=Assistant(session_id=self.session_id, summary=True, id=message)):
                self._summaries.add(message)
            case PartUpdated(part=part) if part.session_id == self.session_id:
                yield from self._part(part)
            case PartDelta(session_id=self.session_id) if event.message_id not in self._summaries:
                yield from self._delta(event)
            case PartRemoved(session_id=self.session_id, part_id=part):
                self._texts.pop(part, None)

    def _part(self, part: object) -> Iterator[Told]:
        match part:
            case TextPart(time=time) | ReasoningPart(time=time):
                if time is not None and time.end is None:
                    thinking = isinstance(part, ReasoningPart)
                    self._texts.setdefault(part.id, None if thinking else TaggedText(calls=False))
                elif tagged := self._texts.pop(part.id, None):
                    yield from self._pieces(tagged.close(), part.message_id, part.id)
            case ToolPart(state=Pending()):
                pass
            case ToolPart():
                yield from self._call(part)

    def _delta(self, event: PartDelta) -> Iterator[Told]:
        if event.part_id not in self._texts:
            return
        tagged = self._texts[event.part_id]
        pieces = [("thinking", event.delta)] if tagged is None else tagged.feed(event.delta)
        yield from self._pieces(pieces, event.message_id, event.part_id)

    def _pieces(self, pieces: Iterable[tuple[str, str]], message_id: str, part_id: str) -> Iterator[Told]:
        keys = {"session_id": self.session_id, "message_id": message_id, "part_id": part_id}
        for kind, words in pieces:
            yield ThinkingDelta(thinking=words, **keys) if kind == "thinking" else TextDelta(text=words, **keys)

    def _call(self, part: ToolPart) -> Iterator[Told]:
        before, state, tool = self._running.get(part.call_id), part.state, called_name(part)
        parent = part.parent_call_id or ""
        keys: dict[str, Any] = {"call_id": part.call_id, "tool": tool, "session_id": part.session_id}
        if before is None:
            yield ToolStarted(**keys, arguments=state.input, parent_call_id=parent)
        if isinstance(state, Running):
            self._running[part.call_id] = part
            metadata = state.metadata or {}
            if before is not None and (before.state != state):
                yield ToolProgress(
                    **keys, title=state.title or "", output=str(metadata.get("output", "")), metadata=metadata
                )
        else:
            self._running.pop(part.call_id, None)
            yield ToolFinished(**keys, arguments=state.input, result=result_of_call(part), parent_call_id=parent)


class _Waiting:
    """Events in a queue with an end. Where the reader is slow, words are joined, so that none is lost."""

    def __init__(self) -> None:
        self._events: deque[Told] = deque()
        self._news = asyncio.Event()
        self._over = False

    def put(self, event: Told) -> None:
        last = self._events[-1] if len(self._events) >= MOST_WAITING else None
        match last, event:
            case TextDelta(), TextDelta() if last.part_id == event.part_id:
                self._events[-1] = replace(event, text=last.text + event.text)
            case ThinkingDelta(), ThinkingDelta() if last.part_id == event.part_id:
                self._events[-1] = replace(event, thinking=last.thinking + event.thinking)
            case ToolProgress(), ToolProgress() if last.call_id == event.call_id:
                self._events[-1] = event
            case _:
                self._events.append(event)
        self._news.set()

    def end(self) -> None:
        self._over = True
        self._news.set()

    async def events(self) -> AsyncGenerator[Told, None]:
        while True:
            while self._events:
                yield self._events.popleft()
            if self._over:
                return
            self._news.clear()
            await self._news.wait()


async def turn_events(
    bus: Bus, reader: TurnReader, work: "Callable[[], Coroutine[Any, Any, TurnResult[T]]]"
) -> "AsyncGenerator[TurnEvent[T], None]":
    """Yield what is told of a turn while it is worked on, and last its result. Left early, it stops the turn."""
    waiting = _Waiting()

    def hear(event: Event) -> None:
        for turn_event in reader.read(event):
            waiting.put(turn_event)

    leave = bus.subscribe(hear)
    task = asyncio.create_task(work())
    task.add_done_callback(lambda _: waiting.end())
    try:
        async with aclosing(waiting.events()) as events:
            async for event in events:
                yield event
        yield Finished(result=await task, session_id=reader.session_id)
    finally:
        leave()
        if not task.done():
            task.cancel()
            await asyncio.wait([task])
