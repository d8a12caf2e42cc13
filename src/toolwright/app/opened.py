"""A project opened to be talked about, and what a person should know first."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Any

from toolwright.app.history import PromptHistory
from toolwright.record import record

if TYPE_CHECKING:
    from toolwright.app.desk import Desk


async def _nothing() -> None:
    """Close nothing: whoever opened it closes it."""


@record(frozen=True, slots=True, kw_only=True)
class OpenedChat:
    """A project that is ready to be talked about, and what the command line says about the conversation."""

    desk: "Desk"
    prompt: str = ""
    """Prompt to begin with."""
    where: str = ""
    """The folder, and whose."""
    again: str = "tw"
    """The command that opens it again."""
    close: Callable[[], Awaitable[None]] = _nothing
    notes: tuple[str, ...] = ()
    """Notes that the person should know first."""
    warnings: tuple[str, ...] = ()
    """Warnings that were printed to stderr already, where a full screen hides them."""
    history: PromptHistory = field(default_factory=PromptHistory)
    theme: str = ""
    keybinds: Mapping[str, Any] = field(default_factory=dict[str, Any])
