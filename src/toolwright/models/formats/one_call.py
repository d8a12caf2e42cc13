"""Histories for models that take one call in a message: each call followed by its result."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from toolwright.models.model import AssistantMessage, ModelCall, ModelMessage, ToolMessage


def apart(
    messages: Sequence[ModelMessage], split: Callable[[AssistantMessage], Sequence[AssistantMessage]]
) -> Iterator[ModelMessage]:
    """The messages with each call before its own result. `split` divides a message of several, see `one_call_each`."""
    place = 0
    while place < len(messages):
        message = messages[place]
        place += 1
        if not isinstance(message, AssistantMessage) or len(_calls(message)) < 2:
            yield message
            continue
        results: dict[str, ToolMessage] = {}
        while place < len(messages) and isinstance(result := messages[place], ToolMessage):
            results[result.call_id] = result
            place += 1
        for one in split(message):
            yield one
            asked = _calls(one)[0].id
            if asked in results:
                yield results.pop(asked)
        yield from results.values()


def one_call_each(message: AssistantMessage) -> Sequence[AssistantMessage]:
    """Return the message with its first call, then each of the others."""
    first, *others = _calls(message)
    words = tuple(part for part in message.content if not isinstance(part, ModelCall))
    return [replace(message, content=(*words, first)), *(replace(message, content=(call,)) for call in others)]


def _calls(message: AssistantMessage) -> list[ModelCall]:
    return [part for part in message.content if isinstance(part, ModelCall)]
