"""The terms of a call: who makes it, on which model, with which tools left on, and what it may take."""

from dataclasses import field
from typing import TYPE_CHECKING

from toolwright.agents import HAND_OVER
from toolwright.definition import Abort
from toolwright.record import record

if TYPE_CHECKING:
    from toolwright.agents import Agent
    from toolwright.session.budget import Spending


@record(slots=True, kw_only=True)
class CallTerms:
    """Under what a call is made. A turn is the terms of the calls in it; a call outside of any has its own."""

    agent: "Agent"
    provider: str = ""
    model_id: str = ""
    """The model as the provider names it; what tools are offered depends on it."""
    abort: Abort = field(default_factory=Abort)
    withheld: frozenset[str] = frozenset()
    """Tools that are switched off."""
    wanted: frozenset[str] | None = None
    """The only tools that are offered; None for all the agent has."""
    mentioned: tuple[str, ...] = ()
    """The agents that the prompt names."""
    spending: "Spending | None" = None
    """Spending of the turn so far, with what its subagents take."""

    def offers(self, tool_id: str) -> bool:
        """Tell whether the prompt leaves a tool on, and the agent has it."""
        only = self.agent.only_tools
        listed = only is None or tool_id in only or (tool_id == HAND_OVER and bool(self.agent.hand_over))
        return listed and tool_id not in self.withheld and (self.wanted is None or tool_id in self.wanted)
