"""Settings that hold for every turn of a workspace."""

from collections.abc import Awaitable, Callable
from dataclasses import field
from typing import TYPE_CHECKING

from toolwright.models.hooked import RequestHook
from toolwright.models.transport.retry import RetryPolicy
from toolwright.record import record
from toolwright.session.budget import Budget

if TYPE_CHECKING:
    from toolwright.session.prompt import Prompt
    from toolwright.session.result import TurnEnd

CompactionHook = Callable[[Callable[[], Awaitable[None]], str], Awaitable[None]]
"""Around the making of a summary: `await proceed()`. The id is the session's."""
PromptHook = Callable[[Callable[["Prompt"], Awaitable["TurnEnd"]], "Prompt", str], Awaitable["TurnEnd"]]
"""Around one prompt: `await proceed(prompt)`, with the prompt as it should be. The id is the session's."""


@record(frozen=True, slots=True, kw_only=True)
class CompactionSettings:
    """Settings for when a conversation is shortened."""

    auto: bool = True
    """True if a summary may take the place of the conversation when it is full."""
    prune: bool = True
    """True if old results are cleared after a turn."""
    reserved: int | None = None
    """Tokens kept free; as many as the longest reply if not said."""


@record(frozen=True, slots=True, kw_only=True)
class TurnSettings:
    """Settings that hold for every turn of a workspace."""

    default_model: str = ""
    mentionable: tuple[str, ...] = ()
    """The agents a prompt may mention."""
    budget: Budget = field(default_factory=Budget)
    bounds: Budget = field(default_factory=Budget)
    """The administrator's, whatever budget a prompt has of its own."""
    retry: RetryPolicy = field(default_factory=RetryPolicy)
    compaction: CompactionSettings = field(default_factory=CompactionSettings)
    go_on_after_reject: bool = False
    prompt_hooks: tuple[PromptHook, ...] = ()
    request_hooks: tuple[RequestHook, ...] = ()
    compaction_hooks: tuple[CompactionHook, ...] = ()
