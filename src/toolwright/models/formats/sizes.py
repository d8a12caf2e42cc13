"""About how many tokens a message takes, without asking anybody: four characters are one."""

from collections.abc import Sequence

from toolwright.models.encode import Once
from toolwright.models.model import (
    AssistantMessage,
    ModelCall,
    ModelMessage,
    Reasoning,
    ToolMessage,
    ToolSpec,
    UserMessage,
)

_OVERHEAD = 8
"""Tokens of a message beside its words."""
_FILE = 1_500
"""Tokens of a picture or another file; the providers' own rules come out between a few hundred and this."""


def size_of(message: ModelMessage) -> int:
    match message:
        case UserMessage():
            return _OVERHEAD + sum(len(piece) // 4 if isinstance(piece, str) else _FILE for piece in message.told)
        case AssistantMessage():
            return _OVERHEAD + sum(map(_piece_size, message.content))
        case ToolMessage():
            return _OVERHEAD + len(message.output) // 4 + _FILE * len(message.attachments)
        case _:
            return len(message.text) // 4


def is_cut_short(sent: int, counted: int, context: int = 0) -> bool:
    """Return whether a server has plainly read less than it was sent, which some do without a word.

    `sent` is our own count, of words alone; `counted` is the server's, 0 where it did not count; `context` is what the
    model is said to have. Far less is certain; less than we sent and just as much as a context has is as good as that.
    """
    if sent <= _WORTH_A_WORD or not counted or counted >= sent:
        return False
    return counted < sent / 2 or (counted < sent * 0.85 and _is_a_context(counted, context))


def is_without_tools(words: int, tools: int, counted: int, context: int = 0) -> bool:
    """Return whether what a server counted is about the words it was sent, and the tools beside them are missing.

    So it is where the template of a model has no place for tools. A count that is just as much as a context has is
    that of a server which drops what does not fit.
    """
    about = words * 0.6 <= counted <= words * 1.6
    return is_cut_short(words + tools, counted, context) and about and not _is_a_context(counted, context)


def _is_a_context(counted: int, context: int) -> bool:
    full = [context, *(_COMMON_CONTEXT << step for step in range(7))]
    return any(0 <= size - counted <= 8 for size in full if size)


_WORTH_A_WORD = 2_000
"""Tokens below which our own count is too rough to doubt another."""
_COMMON_CONTEXT = 2_048
"""Tokens; servers give a model this much, or twice that and so on."""


def words_size(message: ModelMessage) -> int:
    """The tokens of a message without its files, which every provider counts in its own way."""
    match message:
        case UserMessage():
            return sum(len(piece) // 4 for piece in message.told if isinstance(piece, str))
        case ToolMessage():
            return len(message.output) // 4
        case AssistantMessage():
            return sum(_piece_size(piece) for piece in message.content if not isinstance(piece, Reasoning))
        case _:
            return size_of(message)


def tools_size(tools: Sequence[ToolSpec]) -> int:
    return sum(map(_characters, tools)) // 4


def _piece_size(piece: str | Reasoning | ModelCall) -> int:
    match piece:
        case str():
            return len(piece) // 4
        case Reasoning():
            return len(piece.text) // 4
        case ModelCall():
            return _OVERHEAD + sum(len(str(value)) for value in piece.arguments.values()) // 4


def _tool_characters(tool: ToolSpec) -> int:
    return len(tool.description) + len(str(tool.schema))


_characters = Once(_tool_characters)
