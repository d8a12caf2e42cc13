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
            return _OVERHEAD + sum(len(piece) // 4 if isinstance(piece, str) else _FILE for piece in message.content)
        case AssistantMessage():
            return _OVERHEAD + sum(map(_piece_size, message.content))
        case ToolMessage():
            return _OVERHEAD + len(message.output) // 4 + _FILE * len(message.attachments)
        case _:
            return len(message.text) // 4


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
