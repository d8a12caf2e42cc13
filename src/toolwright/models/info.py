"""Facts about a model that need no request: limits, abilities, prices; and the cost of a reply."""

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from toolwright.config.auth import ACCOUNT
from toolwright.record import record

LONG = 200_000
"""Tokens of input above which some providers charge their higher prices."""


@record(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens of one reply. The five counts do not overlap, whatever the provider's own do."""

    input: int = 0
    """Read anew: neither from the cache nor written to it."""
    output: int = 0
    """Written, without the reasoning where the provider tells it apart."""
    reasoning: int = 0
    cache_read: int = 0
    cache_write: int = 0

    @property
    def total(self) -> int:
        return self.input + self.output + self.reasoning + self.cache_read + self.cache_write


@record(frozen=True, slots=True, kw_only=True)
class Prices:
    """Dollars for a million tokens."""

    input: float = 0.0
    output: float = 0.0
    cache_read: float = 0.0
    cache_write: float = 0.0
    long: "Prices | None" = None
    """Instead of these when the input is longer than `long_from`."""
    long_from: int = LONG

    def cost(self, usage: Usage) -> float:
        """Dollars for one reply. Reasoning is charged once, as output."""
        if self.long is not None and usage.input + usage.cache_read + usage.cache_write > self.long_from:
            return self.long.cost(usage)
        total = (
            usage.input * self.input
            + (usage.output + usage.reasoning) * self.output
            + usage.cache_read * self.cache_read
            + usage.cache_write * self.cache_write
        )
        return total / 1_000_000


@record(frozen=True, slots=True, kw_only=True)
class ModelLimits:
    """Tokens; 0 where nobody knows."""

    context: int = 0
    output: int = 0
    input: int = 0
    """The most that may be sent, where that is less than the context."""


@record(frozen=True, slots=True, kw_only=True)
class ModelInfo:
    """One entry of the catalogue."""

    provider: str
    id: str
    """The name people use for it: `provider/id`."""
    api_id: str = ""
    """The name the provider uses; the same unless said otherwise."""
    name: str = ""
    api: str = ""
    """The wire format: openai-chat, openai-responses, anthropic, gemini or pydantic-ai."""
    family: str = ""
    released: str = ""
    status: str = ""
    """alpha, beta or deprecated; empty for the others."""
    limits: ModelLimits = field(default_factory=ModelLimits)
    prices: Prices = field(default_factory=Prices)
    accepts: frozenset[str] = frozenset({"text"})
    """What may be sent: text, image, pdf, audio, video."""
    tools: bool = True
    reasoning: bool = False
    temperature: bool = True
    """Whether temperature and the like may be set at all."""
    reasoning_field: str = ""
    """The field in which an OpenAI-compatible server wants earlier reasoning back, if it does."""
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    variants: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])
    profile: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """What the user has configured of its profile (profiles.py)."""
    priced: bool = True
    """Whether its price is known, or at least assumed; False where costs cannot be told."""
    until: str = ""
    """The day on which the provider ends it, where that is known."""
    local: bool = False
    """Whether it runs on this machine, where often only one request is served at a time."""
    known: bool = True
    """False where the entry is an assumption from a related model, or from nothing."""
    guessed_from: str = ""
    """The related model whose limits and prices were assumed."""

    def __post_init__(self) -> None:
        if not self.api_id:
            object.__setattr__(self, "api_id", self.id)
        if not self.name:
            object.__setattr__(self, "name", self.id)

    @property
    def service(self) -> str:
        """Return the service behind it, whatever the account."""
        return self.provider.partition(ACCOUNT)[0]

    @property
    def full_name(self) -> str:
        return f"{self.provider}/{self.id}"
