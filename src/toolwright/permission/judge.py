"""What rules and approvals make of a request. Pure: nobody is asked."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from toolwright.definition import Action
from toolwright.permission.approvals import Approval, covered
from toolwright.permission.rules import STRICTNESS, Decision, Policy
from toolwright.record import record
from toolwright.request import Request


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
        if one.action == "ask" and approvals and covered(request, pattern, approvals):
            one = replace(one, action="allow")
        if decision is None or STRICTNESS[one.action] > STRICTNESS[decision.action]:
            decision, decisive = one, pattern
    for one, pattern in _doubtful(policy, request) if request.suspected or request.below else ():
        if one.action == "ask" and approvals and covered(request, pattern, approvals):
            one = replace(one, action="allow")
        if decision is None or STRICTNESS[one.action] > STRICTNESS[decision.action]:
            decision, decisive = one, pattern
    if decision is None:
        return Judgement(request=request, decision=Decision(action="ask"), pattern="", action="ask")
    if decision.action == "allow" and request.must_ask and _is_asked_about(policy, request):
        decision = replace(decision, action="ask")
    return Judgement(request=request, decision=decision, pattern=decisive, action=decision.action)


def _doubtful(policy: Policy, request: Request) -> Iterator[tuple[Decision, str]]:
    """What the rules say of what may happen, and of all that is in a folder."""
    for pattern in request.suspected:
        yield policy.decide_suspected(request.permission, pattern), pattern
    for below in request.below:
        yield policy.decide_below(request.permission, below), below.folder


def _is_asked_about(policy: Policy, request: Request) -> bool:
    """What is not understood is asked about; where a box contains it, only if rules restrict such things at all."""
    return not request.contained or policy.restricts(request.permission)


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
