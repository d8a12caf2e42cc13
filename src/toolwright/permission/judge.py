"""Judgements: what rules and approvals make of a request. Pure: nobody is asked."""

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
    """The answer of rules and approvals to one request."""

    request: Request
    decision: Decision
    pattern: str
    """The pattern that decided."""
    action: Action
    act: Act | None = None
    """The act beyond this machine, where the rules about that decided."""


def judged(policy: Policy, request: Request, approvals: Sequence[Approval]) -> Judgement:
    """The strictest answer over all patterns. An approval turns ask into allow; it never touches a deny."""
    decision, decisive, decisive_act = None, "", None
    for candidate, pattern, act in _decisions(policy, request, approvals):
        if decision is None or STRICTNESS[candidate.action] > STRICTNESS[decision.action]:
            decision, decisive, decisive_act = candidate, pattern, act
    if decision is None:
        return Judgement(request=request, decision=Decision(action="ask"), pattern="", action="ask")
    if decision.action == "allow" and request.must_ask and _is_asked_about(policy, request):
        decision = replace(decision, action="ask")
    return Judgement(request=request, decision=decision, pattern=decisive, action=decision.action, act=decisive_act)


def _decisions(
    policy: Policy, request: Request, approvals: Sequence[Approval]
) -> Iterator[tuple[Decision, str, Act | None]]:
    """Decide on each pattern, on what is done beyond this machine, and on what may be meant besides."""
    for pattern in (*request.patterns, *request.implied):
        decision = policy.decide(request.permission, pattern)
        yield _approved(decision, policy, request, pattern, approvals), pattern, None
    for pattern, act in request.acts.items():
        yield _act_decision(policy, request, pattern, approvals), pattern, act
    for decision, pattern in _doubtful(policy, request):
        yield _approved(decision, policy, request, pattern, approvals), pattern, None


def _approved(
    decision: Decision, policy: Policy, request: Request, pattern: str, approvals: Sequence[Approval]
) -> Decision:
    granted = decision.action == "ask" and approvals and _covered(policy, request, pattern, approvals)
    return replace(decision, action="allow") if granted else decision


def _act_decision(policy: Policy, request: Request, pattern: str, approvals: Sequence[Approval]) -> Decision:
    decision = policy.decide_act(request.permission, pattern, request.acts[pattern])
    granted = decision.action == "ask" and approvals and act_covered(request, pattern, approvals)
    return replace(decision, action="allow") if granted else decision


def _covered(policy: Policy, request: Request, pattern: str, approvals: Sequence[Approval]) -> bool:
    if policy.runs_later(request.permission, pattern):
        approvals = [one for one in approvals if policy.runs_later(one.permission, one.pattern)]
    return covered(request, pattern, approvals)


def _doubtful(policy: Policy, request: Request) -> Iterator[tuple[Decision, str]]:
    """Decide on what may happen, and on all that is in a folder."""
    for pattern in request.suspected:
        yield policy.decide_suspected(request.permission, pattern), pattern
    for below in request.below:
        yield policy.decide_below(request.permission, below), below.folder


def _is_asked_about(policy: Policy, request: Request) -> bool:
    """Tell whether to ask about what is not understood; where a box contains it, only if rules restrict such things."""
    return not request.contained or policy.restricts(request.permission)


def denial(judgement: Judgement) -> str:
    """Return what the model reads of a rule that forbids."""
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
