"""What rules and approvals make of a request. Pure: nobody is asked."""

from collections.abc import Sequence
from dataclasses import replace

from toolwright.permission.approvals import Approval
from toolwright.permission.rules import STRICTNESS, Decision, Policy
from toolwright.record import record
from toolwright.request import Request
from toolwright.tool import Action


@record(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What the rules and approvals make of one request."""

    request: Request
    decision: Decision
    pattern: str
    """The pattern that decided."""
    action: Action


def judged(policy: Policy, request: Request, approvals: Sequence[Approval]) -> Judgement:
    """The strictest answer over all patterns. An approval turns ask into allow; it never touches a deny."""
    decision, decisive = None, ""
    for pattern in (*request.patterns, *request.implied):
        one = policy.decide(request.permission, pattern)
        if one.action == "ask" and approvals and _is_approved(request.permission, pattern, approvals):
            one = replace(one, action="allow")
        if decision is None or STRICTNESS[one.action] > STRICTNESS[decision.action]:
            decision, decisive = one, pattern
    if decision is None:
        return Judgement(request=request, decision=Decision(action="ask"), pattern="", action="ask")
    if decision.action == "ask" and approvals and _exactly_approved(request, approvals):
        decision = replace(decision, action="allow")
    if decision.action == "allow" and request.must_ask:
        decision = replace(decision, action="ask")
    return Judgement(request=request, decision=decision, pattern=decisive, action=decision.action)


def _is_approved(permission: str, pattern: str, approvals: Sequence[Approval]) -> bool:
    return any(approval.covers(permission, pattern) for approval in approvals)


def _exactly_approved(request: Request, approvals: Sequence[Approval]) -> bool:
    """Whether a person has approved just these words; then what they imply was approved with them."""
    exact = [approval for approval in approvals if approval.exact]
    return bool(exact) and all(
        any(approval.covers(request.permission, pattern) for approval in exact) for pattern in request.patterns
    )


def denial(judgement: Judgement) -> str:
    """What the model is told of a rule that forbids."""
    decision = judgement.decision
    where = f" ({decision.rule.source})" if decision.rule and decision.rule.source else ""
    rule = f"the rule `{decision.rule}`{where}" if decision.rule else "no rule that allows it"
    whose = f" for the agent {decision.policy.agent}" if decision.policy and decision.policy.agent else ""
    return (
        f"A rule forbids {judgement.request.permission} on {judgement.pattern!r}: {rule}{whose}. Nothing was done."
        " Do not look for a way around it: go on without this, or tell the user what you would need."
    )
