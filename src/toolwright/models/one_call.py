"""Histories for models that take one call in a message: each call followed by its result."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from toolwright.models.model import AssistantMessage, ModelCall, ModelMessage, ToolMessage


def apart(
    messages: Sequence[ModelMessage], split: Callable[[AssistantMessage], Sequence[AssistantMessage]]
) -> Iterator[ModelMessage]:
    """The messages with each call before its own result. `split` divides a message, see `one_call_each`."""
    place = 0
    while place < len(messages):
        message = messages[place]
        place += 1
        if not isinstance(message, AssistantMessage):
            yield message
            continue
        results: dict[str, ToolMessage] = {}
        while place < len(messages) and isinstance(result := messages[place], ToolMessage):
            results[result.call_id] = result
            place += 1
        for one in split(message):
            yield one
            asked = next((part.id for part in one.content if isinstance(part, ModelCall)), "")
            if asked in results:
                yield results.pop(asked)
        yield from results.values()


def one_call_each(message: AssistantMessage) -> Sequence[AssistantMessage]:
    """The message itself if it has one call at most; else what it says with the first call, then each of the others."""
    calls = [part for part in message.content if isinstance(part, ModelCall)]
    if len(calls) < 2:
        return (message,)
    said = tuple(part for part in message.content if not isinstance(part, ModelCall))
    return [replace(message, content=(*said, calls[0])), *(replace(message, content=(call,)) for call in calls[1:])]
