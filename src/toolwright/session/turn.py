"""A turn: who works on a prompt, on which model, and what was said about it. Nothing of it changes while it runs."""

from dataclasses import field
from typing import TYPE_CHECKING

from toolwright.definition import Abort
from toolwright.record import record

if TYPE_CHECKING:
    from toolwright.agents import Agent
    from toolwright.models.model import Model
    from toolwright.session.budget import Spending


@record(frozen=True, slots=True, kw_only=True)
class Turn:
    """One prompt on its way to an answer, or a call made outside of any."""

    agent: "Agent"
    model: "Model | None" = None
    provider: str = ""
    model_id: str = ""
    """The model as the provider names it; what tools are offered depends on it."""
    abort: Abort = field(default_factory=Abort)
    withheld: frozenset[str] = frozenset()
    """Tools that are switched off for this prompt."""
    wanted: frozenset[str] | None = None
    """The only tools that are offered for this prompt; None for all the agent has."""
    mentioned: tuple[str, ...] = ()
    """The agents that the prompt names."""
    spending: "Spending | None" = None
    """What the turn has taken so far, with what its subagents take."""

    def offers(self, tool_id: str) -> bool:
        """Whether the prompt leaves a tool on."""
        return tool_id not in self.withheld and (self.wanted is None or tool_id in self.wanted)
