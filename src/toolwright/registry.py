"""The tools there are, by id and in order, and which of them an agent on a model is offered."""

import asyncio
import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Literal, Protocol

from toolwright.errors import UnknownTool
from toolwright.tool import MAX_NAME, AgentLike, Tool

log = logging.getLogger(__name__)

Client = Literal["cli", "app", "desktop", "acp", "api"]
_INTERACTIVE: tuple[Client, ...] = ("cli", "app", "desktop")
_SEARCH_PROVIDERS = ("toolwright", "opencode")


class Reader(AgentLike, Protocol):
    """The agent a list of tools is for."""

    def hides(self, permission: str) -> bool: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Switches:
    """What the user has turned on, and which client the tools are offered through."""

    client: Client = "cli"
    web_search: bool = False
    code_search: bool = True
    """Whether the search service knows code as well."""
    lsp: bool = False
    batch: bool = False
    plan_mode: bool = False


@dataclass(frozen=True, slots=True)
class Offer:
    """Where a tool is going to be offered: the circumstances the filters look at."""

    switches: Switches
    provider: str
    model: str

    @property
    def wants_patches(self) -> bool:
        """Some models were taught to change files by patch."""
        return "gpt-" in self.model and "oss" not in self.model and "gpt-4" not in self.model


# Tools that are offered only under a condition; all others always are.
_CONDITIONS: dict[str, Callable[[Offer], bool]] = {
    "invalid": lambda _: False,
    "question": lambda offer: offer.switches.client in _INTERACTIVE,
    "websearch": lambda offer: _searches(offer),
    "codesearch": lambda offer: _searches(offer) and offer.switches.code_search,
    "lsp": lambda offer: offer.switches.lsp,
    "batch": lambda offer: offer.switches.batch,
    "plan_enter": lambda offer: offer.switches.plan_mode and offer.switches.client == "cli",
    "plan_exit": lambda offer: offer.switches.plan_mode and offer.switches.client == "cli",
    "apply_patch": lambda offer: offer.wants_patches,
    "edit": lambda offer: not offer.wants_patches,
    "multiedit": lambda offer: not offer.wants_patches,
    "write": lambda offer: not offer.wants_patches,
}


def _always(_: Offer) -> bool:
    return True


def _searches(offer: Offer) -> bool:
    return offer.switches.web_search or offer.provider in _SEARCH_PROVIDERS


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A tool that may not be loaded yet, and where it comes from."""

    id: str
    permission: str
    load: Callable[[], Tool]
    origin: str


def ready(tool: Tool, origin: str = "registered") -> Source:
    return Source(id=tool.id, permission=tool.permission, load=lambda: tool, origin=origin)


@dataclass(frozen=True, slots=True, kw_only=True)
class Clash:
    """A tool that was left out because an earlier one has its name."""

    id: str
    origin: str
    kept: str

    def __str__(self) -> str:
        return f"The tool {self.id!r} of {self.origin} is left out: {self.kept} already has that name."


@dataclass(slots=True)
class Registry:
    """All tools of a workspace. A tool is loaded when it is first needed."""

    switches: Switches = field(default_factory=Switches)
    version: int = 0
    """Counts the changes, so that others can tell whether what they remember still holds."""
    clashes: list[Clash] = field(default_factory=list[Clash])
    _sources: dict[str, Source] = field(default_factory=dict[str, Source])
    _loaded: dict[str, Tool] = field(default_factory=dict[str, Tool])
    _by_model: dict[tuple[str, str], list[Source]] = field(default_factory=dict[tuple[str, str], list[Source]])

    def add(self, sources: Iterable[Source]) -> None:
        """Join more tools. The earlier of two with one name stays, and the other is reported."""
        self._changed()
        for source in sources:
            kept = self._sources.setdefault(source.id, source)
            if kept is not source:
                clash = Clash(id=source.id, origin=source.origin, kept=kept.origin)
                self.clashes.append(clash)
                log.warning("%s", clash)

    def register(self, tool: Tool) -> None:
        """Put a tool in the place of the one with its id, or at the end; holds from the next call on."""
        self._sources[tool.id] = ready(tool)
        self._loaded.pop(tool.id, None)
        self._changed()

    def _changed(self) -> None:
        self._by_model.clear()
        self.version += 1

    def ids(self) -> list[str]:
        return list(self._sources)

    def all(self) -> list[Tool]:
        return [self[tool_id] for tool_id in self._sources]

    def __contains__(self, tool_id: str) -> bool:
        return tool_id in self._sources

    def __getitem__(self, tool_id: str) -> Tool:
        """The tool of that name, in any case, loaded if it was not yet; otherwise UnknownTool."""
        found = self.name(tool_id)
        if found not in self._loaded:
            self._loaded[found] = self._sources[found].load()
        return self._loaded[found]

    def name(self, tool_id: str) -> str:
        """The id itself, or the only one that differs from it in nothing but case; otherwise UnknownTool."""
        if tool_id in self._sources:
            return tool_id
        found = [known for known in self._sources if known.lower() == tool_id.lower()]
        if len(found) != 1:
            raise UnknownTool(self._unknown(tool_id))
        return found[0]

    def origin(self, tool_id: str) -> str:
        return self._sources[tool_id].origin

    def offered(self, provider: str, model: str, agent: Reader) -> list[str]:
        """The ids of the tools this agent on this model may see, in order."""
        return [source.id for source in self._open(provider, model) if not agent.hides(source.permission)]

    def _open(self, provider: str, model: str) -> list[Source]:
        """The tools this model gets, whoever asks; remembered, because every call wants to know."""
        if (provider, model) not in self._by_model:
            offer = Offer(self.switches, provider, model)
            self._by_model[provider, model] = [
                source for tool_id, source in self._sources.items() if _CONDITIONS.get(tool_id, _always)(offer)
            ]
        return self._by_model[provider, model]

    async def tools(self, provider: str, model: str, agent: Reader) -> list[Tool]:
        """The tools this agent on this model is offered, each in the form made for it; all made at once."""
        offered = [self[tool_id] for tool_id in self.offered(provider, model, agent)]
        return list(await asyncio.gather(*(_initialised(tool, agent) for tool in offered)))

    def _unknown(self, tool_id: str) -> str:
        from difflib import get_close_matches

        names: Sequence[str] = [name for name in self._sources if name != "invalid"]
        shown = shown_name(tool_id)
        near = get_close_matches(shown.lower(), names, n=3)
        hint = f"Did you mean {' or '.join(map(repr, near))}?" if near else f"There are: {', '.join(names)}."
        return f"There is no tool {shown!r}. {hint}"


def shown_name(tool_id: str) -> str:
    """A name as a model gave it, but not longer than any tool's can be."""
    return tool_id if len(tool_id) <= MAX_NAME else f"{tool_id[: MAX_NAME - 1]}…"


async def _initialised(tool: Tool, agent: Reader) -> Tool:
    started = perf_counter()
    form = await tool.for_agent(agent)
    log.debug("%s was made ready for %s in %.1f ms", tool.id, agent.name, (perf_counter() - started) * 1000)
    return form
