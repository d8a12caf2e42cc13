"""Shortlist of the servers' tools for a model: all, or if they are too many, those it has searched for."""

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import field, replace
from functools import partial
from math import log
from typing import Annotated

from toolwright.definition import Offer, Result, Tool, ToolContext, tool
from toolwright.record import record
from toolwright.registry import Registry, ready

SHARE = 10
"""The tools of all servers together may take one part in so many of what a model can take in."""
USUAL = 200_000
"""Tokens that a model can take in, where that is not known."""
SEARCH = "mcp_search"
FOUND = 8
"""Tools that one search offers."""
SUMMARY = 200
_WORD = re.compile(r"[A-Za-z0-9]+")


@record(slots=True, kw_only=True)
class Shortlist:
    """The tools of all servers, what they cost, and which were found."""

    registry: Registry
    context: Callable[[str, str], int]
    """Returns how many tokens a model can take in, by provider and model; 0 if that is not known."""
    _tools: dict[str, Tool] = field(default_factory=dict[str, Tool])
    _sizes: dict[str, int] = field(default_factory=dict[str, int])
    _found: dict[str, None] = field(default_factory=dict[str, None])
    _total: int = 0
    _needed: dict[tuple[str, str], bool] = field(default_factory=dict[tuple[str, str], bool])

    def join(self) -> None:
        """Offer the search where it is needed."""
        self.registry.add([ready(replace(_search(self), offered=self.is_needed), "MCP servers")])

    def put(self, origin: str, tools: Iterable[Tool]) -> None:
        """Put the tools of a server in the place of those it had."""
        registry = self.registry
        outdated = [one for one in registry.ids() if registry.origin(one) == origin]
        for tool_id in outdated:
            self._tools.pop(tool_id, None)
            self._sizes.pop(tool_id, None)
        registry.remove(outdated)
        for item in tools:
            registry.add([ready(replace(item, offered=partial(self._offers, item.id)), origin)])
            if registry.origin(item.id) == origin:
                self._tools[item.id] = item
                self._sizes[item.id] = (len(item.description) + len(json.dumps(item.parameters))) // 4
        self._total = sum(self._sizes.values())
        self._needed.clear()

    def is_needed(self, offer: Offer) -> bool:
        """Tell whether all tools together would take too much of what this model can take in."""
        model = (offer.provider, offer.model)
        if model not in self._needed:
            self._needed[model] = self._total > 0 and self._total * SHARE > (self.context(*model) or USUAL)
        return self._needed[model]

    def _offers(self, tool_id: str, offer: Offer) -> bool:
        return tool_id in self._found or not self.is_needed(offer)

    def find(self, query: str, may_see: Callable[[Tool], bool]) -> list[Tool]:
        """The tools that fit best, which are offered from now on."""
        ranked = best(query, [one for one in self._tools.values() if may_see(one)])[:FOUND]
        self._found |= {one.id: None for one in ranked}
        self.registry.add(())  # what is remembered of the tools no longer holds
        return ranked

    @property
    def count(self) -> int:
        return len(self._tools)


def best(query: str, tools: list[Tool]) -> list[Tool]:
    """Those that have words of the query, rare words before common ones, and in the name before the description."""
    wanted = set(_words(query))
    names = {one.id: set(_words(one.id)) for one in tools}
    texts = {one.id: set(_words(one.description)) | set(map(str.lower, one.parameters["properties"])) for one in tools}
    having = {word: sum(word in names[one.id] or word in texts[one.id] for one in tools) for word in wanted}

    def score(item: Tool) -> float:
        worth = ((word, 1 + log(len(tools) / having[word])) for word in wanted if having[word])
        return sum(value * (3 * (word in names[item.id]) + (word in texts[item.id])) for word, value in worth)

    scored = [(score(one), one) for one in tools]
    return [one for value, one in sorted(scored, key=lambda pair: -pair[0]) if value > 0]


def _words(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text))]


def _search(shortlist: Shortlist) -> Tool:
    @tool(id=SEARCH)
    async def search(
        ctx: ToolContext, query: Annotated[str, "What you want to do, in a few words, or a part of a tool's name"]
    ) -> Result:
        """Finds tools of the connected MCP servers, which are too many to be listed all at once.

        What it finds can be called from your next step on.
        """
        matches = shortlist.find(query, lambda item: not ctx.hides(item.permission))
        if not matches:
            return Result(f"None of the {shortlist.count} tools fits {query!r}. Try other words.", title=query)
        lines = [f"- {one.id}: {_summary(one)}" for one in matches]
        return Result(
            "\n".join(["You can call these from your next step on:", *lines]), title=f"{query}: {len(matches)}"
        )

    return search


def _summary(item: Tool) -> str:
    line = item.description.strip().partition("\n")[0]
    return line if len(line) <= SUMMARY else f"{line[:SUMMARY]}…"
