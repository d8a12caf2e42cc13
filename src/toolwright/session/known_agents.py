"""Whom an agent can hand work to."""

from toolwright.agents import Agents
from toolwright.record import record
from toolwright.services import Colleague


@record(frozen=True, slots=True)
class KnownAgents:
    """Implements Colleagues: the visible subagents that an agent's rules do not deny it."""

    agents: Agents

    def known(self, agent: str) -> list[Colleague]:
        standing = self.agents.standing(self.agents[agent])
        return [
            Colleague(name=other.name, description=other.description)
            for other in self.agents.visible()
            if other.mode != "primary" and standing.decide("task", other.name) != "deny"
        ]
