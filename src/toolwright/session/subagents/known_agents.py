"""Whom an agent can hand work to."""

from toolwright.agents import Agents
from toolwright.record import record
from toolwright.services import OtherAgent


@record(frozen=True, slots=True)
class KnownAgents:
    """Implements OtherAgents: the visible subagents that an agent's rules do not deny it."""

    agents: Agents

    def known(self, agent: str) -> list[OtherAgent]:
        ruled = self.agents.ruled(self.agents[agent])
        return [
            OtherAgent(name=other.name, description=other.description)
            for other in self.agents.visible()
            if other.mode != "primary" and ruled.decide("task", other.name) != "deny"
        ]

    def name_of(self, named: str) -> str:
        agent = self.agents.find(named)
        return agent.name if agent is not None else named
