"""Models and providers to choose from: what a model is called, costs and can do, and whether there is a key."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from toolwright.app.history import PromptHistory
from toolwright.config.auth import ACCOUNT
from toolwright.record import record

RECENT = 10
"""Models that are remembered as chosen."""
_KNOWN_BEST = ("anthropic", "openai", "google", "openrouter", "github-copilot", "mistral", "deepseek", "xai", "groq")
"""Providers that most people look for."""


@record(frozen=True, slots=True, kw_only=True)
class ModelChoice:
    """A model that may be chosen."""

    full_name: str
    name: str = ""
    context: int = 0
    """Tokens it can take; 0 where nobody says."""
    input_price: float = 0.0
    output_price: float = 0.0
    """Dollars for a million tokens."""
    can: tuple[str, ...] = ()
    ready: bool = False
    """True if there is a key for it, or it needs none."""

    @property
    def line(self) -> str:
        """All of it in one line."""
        size = f"{self.context // 1000:,}k" if self.context else ""
        paid = self.input_price or self.output_price
        price = f"${self.input_price:g} in, ${self.output_price:g} out" if paid else "free" if self.ready else ""
        name = "" if self.full_name.endswith(self.name) else self.name
        details = [name, "" if self.ready else "no key", size, price, ", ".join(self.can)]
        return f"{self.full_name:<36} {' · '.join(filter(None, details))}"


@record(frozen=True, slots=True, kw_only=True)
class ProviderChoice:
    """A provider that a key may be stored for."""

    id: str
    name: str
    ready: bool = False
    login: bool = False
    """True if there is a way to log in, instead of pasting a key."""

    @property
    def service(self) -> str:
        """The provider itself, whatever the account."""
        return self.id.partition(ACCOUNT)[0]


@record(frozen=True, slots=True, kw_only=True)
class RecentModels:
    """The models that were chosen last, the newest first, in a file of the user's."""

    file: Path

    def names(self) -> list[str]:
        return list(dict.fromkeys(reversed(list(PromptHistory(file=self.file).prompts()))))[:RECENT]

    def remember(self, name: str) -> None:
        if self.names()[:1] != [name]:
            PromptHistory(file=self.file).remember(name)


def ordered(models: Sequence[ModelChoice], recent: Sequence[str], current: str) -> list[ModelChoice]:
    """Put the present model first, then those chosen lately, those there is a key for, and the others."""
    first = [name for name in (current, *recent) if name]
    known = {one.full_name for one in models}
    every = [*(ModelChoice(full_name=name, ready=True) for name in dict.fromkeys(first) if name not in known), *models]
    rank = {name: number for number, name in reversed(list(enumerate(first)))}
    return sorted(every, key=lambda one: (rank.get(one.full_name, len(first)), not one.ready))


def connectable(providers: Sequence[ProviderChoice], local: Sequence[str]) -> Iterator[tuple[str, str]]:
    """List what can be connected: servers that run on this machine first, then providers, those with a key first."""
    for name in local:
        yield name, f"{name:<36} runs on this machine"
    places = {name: number for number, name in enumerate(_KNOWN_BEST)}
    for provider in sorted(
        providers, key=lambda one: (not one.ready, places.get(one.id, len(places)), one.name.lower())
    ):
        missing = "paste a key or log in" if provider.login else "paste a key"
        yield provider.id, f"{provider.name:<36} {'connected' if provider.ready else missing}"
