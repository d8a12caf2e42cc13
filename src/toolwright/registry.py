"""The tools there are, by id and in order, and which of them an agent on a model is offered."""

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import field, replace
from time import perf_counter
from typing import Protocol

from toolwright.calls.builtin import INVALID
from toolwright.definition import MAX_NAME, AgentLike, Offer, Tool
from toolwright.errors import UnknownTool
from toolwright.record import record

log = logging.getLogger(__name__)


class OfferedTo(AgentLike, Protocol):
    """The agent a list of tools is for."""

    def hides(self, permission: str) -> bool: ...


@record(frozen=True, slots=True, kw_only=True)
class Source:
    """A tool that may not be loaded yet, and where it comes from."""

    id: str
    load: Callable[[], Tool]
    origin: str


def ready(tool: Tool, origin: str = "registered") -> Source:
    return Source(id=tool.id, load=lambda: tool, origin=origin)


@record(frozen=True, slots=True, kw_only=True)
class ToolClash:
    """A tool that was left out because an earlier one has its name."""

    id: str
    origin: str
    kept: str

    def __str__(self) -> str:
        return f"The tool {self.id!r} of {self.origin} is left out: {self.kept} already has that name."


@record(slots=True)
class Registry:
    """All tools of a workspace. A tool is loaded when it is first needed."""

    circumstances: Offer = field(default_factory=Offer)
    """Circumstances in which the tools are offered, before a model is chosen."""
    version: int = 0
    """Counts the changes, so that others can tell whether what they remember still holds."""
    clashes: list[ToolClash] = field(default_factory=list[ToolClash])
    finders: list[Callable[[str], Awaitable[None]]] = field(default_factory=list[Callable[[str], Awaitable[None]]])
    """Each may add a tool that is called and not known, such as one of a server that has not been started."""
    fixed: frozenset[str] = frozenset()
    """The ids that stay what they are: a call of one needs no look at what may have changed."""
    refresh: Callable[[str], Awaitable[None]] | None = None
    """Looks for tools that have come, changed or gone; awaited before a list is made (`""`) and a tool is looked up."""
    _sources: dict[str, Source] = field(default_factory=dict[str, Source])
    loaded: dict[str, Tool] = field(default_factory=dict[str, Tool])
    """Those that were needed already, by their ids."""
    owners: dict[str, set[str]] = field(default_factory=dict[str, set[str]])
    """The agents that alone have a tool, by its id; of others everybody is offered it."""
    _by_model: dict[tuple[str, str], list[Tool]] = field(default_factory=dict[tuple[str, str], list[Tool]])

    def add(self, sources: Iterable[Source]) -> None:
        """Join more tools. The earlier of two with one name stays, and the other is reported."""
        self.changed()
        for source in sources:
            kept = self._sources.setdefault(source.id, source)
            if kept is not source:
                clash = ToolClash(id=source.id, origin=source.origin, kept=kept.origin)
                if clash not in self.clashes:
                    self.clashes.append(clash)
                    log.warning("%s", clash)

    def register(self, tool: Tool) -> None:
        """Put a tool in the place of the one with its id, or at the end; holds from the next call on."""
        self._sources[tool.id] = ready(tool)
        self.loaded.pop(tool.id, None)
        self.changed()

    def give(self, tool: Tool, agent: str) -> None:
        """Add a tool that is one agent's alone, or give it to one more."""
        if tool.id not in self.owners:
            self.owners[tool.id] = set()
            self._sources[tool.id] = ready(tool)
        self.owners[tool.id].add(agent)
        self.changed()

    def has(self, agent: str, tool_id: str) -> bool:
        """Return whether a tool is not another agent's alone."""
        return tool_id not in self.owners or agent in self.owners[tool_id]

    def remove(self, tool_ids: Iterable[str]) -> None:
        """Leave tools out from the next call on."""
        for tool_id in tool_ids:
            self._sources.pop(tool_id, None)
            self.loaded.pop(tool_id, None)
        self.changed()

    async def current(self, tool_id: str) -> Tool | None:
        """Return a tool as it is by now; None if it was not needed before. Of one nobody knows, all are asked.

        ToolError if it is clear whose it is, and it cannot be had.
        """
        if self.finders and tool_id not in self._sources:
            await self.find(tool_id)
        if self.refresh is not None and tool_id not in self.fixed:
            await self.refresh(tool_id)
        return self.loaded.get(tool_id)

    async def find(self, tool_id: str) -> None:
        """Have a tool looked for that is not known. ToolError if it is clear whose it is, and it cannot be had."""
        for finder in self.finders:
            if not self._like(tool_id):
                await finder(tool_id)

    async def catch_up(self) -> None:
        """Take in the tools that have come, changed or gone."""
        if self.refresh is not None:
            await self.refresh("")

    def changed(self) -> None:
        """Forget what was remembered of the tools, and of whom they are offered to."""
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
        loaded = self.loaded.get(tool_id)
        if loaded is not None:
            return loaded
        name = self.name(tool_id)
        if name not in self.loaded:
            self.loaded[name] = self._sources[name].load()
        return self.loaded[name]

    def name(self, tool_id: str) -> str:
        """The id itself, or the only one that differs from it in nothing but case; otherwise UnknownTool."""
        if tool_id in self._sources:
            return tool_id
        name = self._like(tool_id)
        if len(name) != 1:
            raise UnknownTool(self.unknown(tool_id, self._sources))
        return name[0]

    def resolved(self, tool_id: str) -> str:
        """The same, or the name as it came where there is no such tool."""
        return tool_id if tool_id in self._sources else next(iter(self._like(tool_id)), tool_id)

    def why_alone(self, tool_id: str) -> str:
        """Why a tool cannot be called in a batch; empty if it can."""
        known = self.resolved(tool_id)
        return self[known].alone if known in self._sources else ""

    def is_pinned(self, tool_id: str) -> bool:
        """Return whether results of a tool stay when old ones are cleared."""
        return tool_id in self._sources and self[tool_id].pinned

    def _like(self, tool_id: str) -> list[str]:
        """The ids that differ from this one in nothing but case, and in letters that no id has."""
        wanted = plain_name(tool_id[: MAX_NAME + 1]).lower()
        return [known for known in self._sources if known.lower() == wanted]

    def origin(self, tool_id: str) -> str:
        return self._sources[tool_id].origin

    def offered(self, provider: str, model: str, agent: OfferedTo) -> list[str]:
        """The ids of the tools this agent on this model may see, in order."""
        tools = self._open(provider, model)
        return [tool.id for tool in tools if not agent.hides(tool.permission) and self.has(agent.name, tool.id)]

    def _open(self, provider: str, model: str) -> list[Tool]:
        """The tools this model gets, whoever asks; remembered, because every step wants to know."""
        if (provider, model) not in self._by_model:
            offer = replace(self.circumstances, provider=provider, model=model)
            self._by_model[provider, model] = [tool for tool in self.all() if not tool.offered or tool.offered(offer)]
        return self._by_model[provider, model]

    async def tools(self, provider: str, model: str, agent: OfferedTo) -> list[Tool]:
        """The tools this agent on this model is offered, each in the form made for it; all made at once."""
        await self.catch_up()
        offered = [self[tool_id] for tool_id in self.offered(provider, model, agent)]
        return list(await asyncio.gather(*(_initialised(tool, agent) for tool in offered)))

    def unknown(self, tool_id: str, known: Iterable[str]) -> str:
        """Return the words on a name that no tool has, to somebody who has these."""
        from difflib import get_close_matches

        names = [name for name in known if name != INVALID]
        label = shown_name(tool_id)
        near = get_close_matches(label.lower(), names, n=3)
        hint = f"Did you mean {' or '.join(map(repr, near))}?" if near else f"There are: {', '.join(names)}."
        return f"There is no tool {label!r}. {hint}"


def plain_name(name: str) -> str:
    """A name as every provider takes it: what is no letter, digit, _ or - is _, and a letter is first."""
    return re.sub(r"[^A-Za-z0-9_-]", "_", name).lstrip("_-0123456789")


def shown_name(tool_id: str) -> str:
    """A name as a model gave it, but not longer than any tool's can be."""
    return tool_id if len(tool_id) <= MAX_NAME else f"{tool_id[: MAX_NAME - 1]}…"


async def _initialised(tool: Tool, agent: OfferedTo) -> Tool:
    started = perf_counter()
    form = await tool.for_agent(agent)
    log.debug("%s was made ready for %s in %.1f ms", tool.id, agent.name, (perf_counter() - started) * 1000)
    return form
