"""What rules and approvals make of a request. Pure: nobody is asked."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from toolwright.calls.acts import Act
from toolwright.calls.request import Request
from toolwright.definition import Action
from toolwright.permission.approvals import Approval, act_covered, covered
from toolwright.permission.rules import STRICTNESS, Decision, Policy
from toolwright.record import record


@record(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What the rules and approvals make of one request."""

    request: Request
    decision: Decision
    pattern: str
    """The pattern that decided."""
    action: Action
    act: Act | None = None
    """What the request does beyond this machine, where the rules about that decided."""


def judged(policy: Policy, request: Request, approvals: Sequence[Approval]) -> Judgement:
    """The strictest answer over all patterns. An approval turns ask into allow; it never touches a deny."""
    decision, decisive, decisive_act = None, "", None
    for one, pattern, act in _decisions(policy, request, approvals):
        if decision is None or STRICTNESS[one.action] > STRICTNESS[decision.action]:
            decision, decisive, decisive_act = one, pattern, act
    if decision is None:
        return Judgement(request=request, decision=Decision(action="ask"), pattern="", action="ask")
    if decision.action == "allow" and request.must_ask and _is_asked_about(policy, request):
        decision = replace(decision, action="ask")
    return Judgement(request=request, decision=decision, pattern=decisive, action=decision.action, act=decisive_act)


def _decisions(
    policy: Policy, request: Request, approvals: Sequence[Approval]
) -> Iterator[tuple[Decision, str, Act | None]]:
    """What the rules say of each pattern, of what is done beyond this machine, and of what may be meant besides."""
    asked = ((policy.decide(request.permission, one), one) for one in (*request.patterns, *request.implied))
    for one, pattern in asked:
        yield _approved(one, policy, request, pattern, approvals), pattern, None
    for pattern, act in request.acts.items():
        yield _act_decision(policy, request, pattern, approvals), pattern, act
    for one, pattern in _doubtful(policy, request):
        yield _approved(one, policy, request, pattern, approvals), pattern, None


def _approved(one: Decision, policy: Policy, request: Request, pattern: str, approvals: Sequence[Approval]) -> Decision:
    granted = one.action == "ask" and approvals and _covered(policy, request, pattern, approvals)
    return replace(one, action="allow") if granted else one


def _act_decision(policy: Policy, request: Request, pattern: str, approvals: Sequence[Approval]) -> Decision:
    one = policy.decide_act(request.permission, pattern, request.acts[pattern])
    granted = one.action == "ask" and approvals and act_covered(request, pattern, approvals)
    return replace(one, action="allow") if granted else one


def _covered(policy: Policy, request: Request, pattern: str, approvals: Sequence[Approval]) -> bool:
    if policy.runs_later(request.permission, pattern):
        approvals = [one for one in approvals if policy.runs_later(one.permission, one.pattern)]
    return covered(request, pattern, approvals)


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
    decision, act = judgement.decision, judgement.act
    if act is not None and act.unnamed and decision.rule is None:
        return (
            f"{judgement.request.permission} on {judgement.pattern!r} was refused: it {act.sentence}. Nothing was done."
            " The user can name it in a prompt of their own, or allow it by a rule that does: tell them what you need."
        )
    where = f" ({decision.rule.source})" if decision.rule and decision.rule.source else ""
    rule = f"the rule `{decision.rule}`{where}" if decision.rule else "no rule that allows it"
    whose = f" for the agent {decision.policy.agent}" if decision.policy and decision.policy.agent else ""
    why = f", which {act.sentence}" if act is not None else ""
    return (
        f"A rule forbids {judgement.request.permission} on {judgement.pattern!r}{why}: {rule}{whose}. Nothing was done."
        " Do not look for a way around it: go on without this, or tell the user what you would need."
    )
