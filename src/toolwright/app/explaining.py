"""Why a call is allowed, asked about or denied: decided once for all surfaces."""

from typing import Any

from toolwright.definition import Call
from toolwright.permission.explain import RequestExplanation, explain, lines, refusal_lines
from toolwright.permission.gate import Gate
from toolwright.policy.judging import requests_of
from toolwright.protocols.json_types import Json
from toolwright.record import record
from toolwright.text.ids import new_id
from toolwright.workspace import Workspace

__all__ = ["CallExplanation", "RequestExplanation", "explain_argument", "explain_call", "explain_waiting", "lines"]

LONGEST_NOTE = 2000


@record(frozen=True, slots=True, kw_only=True)
class CallExplanation:
    """Permissions that a call needs, and what the rules make of it."""

    tool: str
    requests: tuple[RequestExplanation, ...] = ()
    refusal: str = ""
    """The words of whoever else refuses it: a hook, a plugin or the tool itself."""

    @property
    def passages(self) -> list[list[str]]:
        """Everything in words, one passage for each request."""
        passages = [lines(one) for one in self.requests]
        passages += [refusal_lines(self.tool, self.refusal)] if self.refusal else []
        return passages or [[f"{self.tool} needs no permission for this."]]


async def explain_argument(workspace: Workspace, tool: str, argument: str, agent: str = "") -> CallExplanation:
    """Explain a call by its one argument, as a person types it."""
    session = workspace.session(agent)
    try:
        requests, refusal = await requests_of(workspace, session, tool, argument)
        approvals = workspace.gate.approvals.of((session.id,))
        explanations = tuple(explain(session.ruled_agent.policy, one, approvals) for one in requests)
        return CallExplanation(tool=tool, requests=explanations, refusal=refusal)
    finally:
        await session.close()


async def explain_call(workspace: Workspace, tool: str, arguments: Json, agent: str = "") -> CallExplanation:
    """Explain a call with all its arguments; nothing of it is done."""
    session = workspace.session(agent)
    try:
        asked: list[Any] = []
        call = Call(id=new_id("call"), tool=tool, arguments=arguments)
        result = await session.run_call(call, log=asked, gate=workspace.dry_gate())
        approvals = workspace.gate.approvals.of((session.id,))
        explanations = tuple(explain(session.ruled_agent.policy, one.judgement.request, approvals) for one in asked)
        return CallExplanation(tool=tool, requests=explanations, refusal="" if asked else result.output[:LONGEST_NOTE])
    finally:
        await session.close()


def explain_waiting(gate: Gate, question_id: str) -> list[RequestExplanation] | None:
    """Explain a question that waits; None if nobody waits for its answer any more."""
    waiting = gate.waiting(question_id)
    if waiting is None:
        return None
    asker, requests = waiting
    approvals = gate.approvals.of(asker.sessions)
    return [explain(asker.policy, request, approvals) for request in requests]
