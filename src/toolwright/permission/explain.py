"""Why a decision came out as it did: every rule that fits, which one won, and what would change it."""

from collections.abc import Sequence

from toolwright.definition import Action
from toolwright.permission.approvals import Approval, covered
from toolwright.permission.judge import judged
from toolwright.permission.rules import Decision, Match, Policy
from toolwright.record import record
from toolwright.request import Request


@record(frozen=True, slots=True, kw_only=True)
class Explanation:
    """One pattern of one request, under one agent's rules."""

    permission: str
    pattern: str
    shown: bool
    """Whether the user would see the pattern, or it is only implied by one they see."""
    policy: Policy
    matches: tuple[Match, ...]
    decision: Decision

    @property
    def action(self) -> Action:
        return self.decision.action


_INSIDE = 5
"""How many names in a folder are shown that a rule forbids or asks about."""


@record(frozen=True, slots=True, kw_only=True)
class RequestExplanation:
    """A whole request: its patterns, the approvals that cover it, and what it comes to."""

    request: Request
    action: Action
    patterns: tuple[Explanation, ...]
    approvals: tuple[Approval, ...]
    advice: str


def explain(policy: Policy, request: Request, approvals: Sequence[Approval]) -> RequestExplanation:
    """The engine's own answer, taken apart. It is the engine that decides here too."""
    covering = tuple(
        approval
        for approval in approvals
        if any(covered(request, pattern, [approval]) for pattern in (*request.patterns, *request.implied))
    )
    inside = [
        name
        for below in request.below
        for name in policy.named_below(request.permission, below)
        if policy.decide(request.permission, name).action != "allow"
    ]
    explanations = tuple(
        one
        for shown, patterns in ((True, request.patterns), (False, (*request.implied, *inside[:_INSIDE])))
        for pattern in patterns
        for one in _chain(policy, request.permission, pattern, shown)
    )
    action = judged(policy, request, approvals).action
    return RequestExplanation(
        request=request,
        action=action,
        patterns=explanations,
        approvals=covering,
        advice=_advice(request, action, explanations, covering),
    )


def _chain(policy: Policy | None, permission: str, pattern: str, shown: bool) -> list[Explanation]:
    """The pattern under the agent's own rules, then under those of every agent above it."""
    found: list[Explanation] = []
    while policy is not None:
        own = Policy(policy.agent, policy.layers)
        found.append(
            Explanation(
                permission=permission,
                pattern=pattern,
                shown=shown,
                policy=policy,
                matches=tuple(own.matching(permission, pattern)),
                decision=own.decide(permission, pattern),
            )
        )
        policy = policy.parent
    return found


def _advice(
    request: Request, action: Action, explanations: Sequence[Explanation], approvals: Sequence[Approval]
) -> str:
    """What would turn the answer round."""
    deciding = next((one for one in explanations if one.action == action), None)
    match action:
        case "deny" if deciding is not None and deciding.decision.rule is not None:
            source = deciding.decision.rule.source or "the configuration"
            where = source if source == "built in" else f"from {source}"
            return (
                f"Only a later rule would change it. `{deciding.decision.rule}` is {where}, layer"
                f" {deciding.decision.layer}; no answer and no approval overrules a deny."
            )
        case "ask" if request.must_ask:
            return "It is always asked, because not all of the command could be understood."
        case "ask" if _worth_storing(explanations[0].policy, request, approvals):
            return (
                f"Answering `always` would store: {', '.join(f'{request.permission} {one}' for one in request.always)}."
            )
        case "ask":
            return "It can only be allowed once at a time."
        case "allow" if approvals:
            listed = ", ".join(f"{approval.permission} {approval.pattern}" for approval in approvals)
            return f"Allowed by approval; tw permission revoke ends it. Approvals: {listed}."
        case _:
            return (
                f'A rule such as "{request.permission}": {{"{request.patterns[0]}": "ask"}} would make it a question.'
            )


def _worth_storing(policy: Policy, request: Request, approvals: Sequence[Approval]) -> bool:
    """Whether a lasting approval would let this very request pass."""
    wanted = (Approval(request.permission, pattern) for pattern in request.always)
    return bool(request.always) and judged(policy, request, (*approvals, *wanted)).action == "allow"


def lines(explanation: RequestExplanation) -> list[str]:
    """The explanation as a person reads it."""
    text = [f"{explanation.request.permission}: {explanation.action}"]
    for one in explanation.patterns:
        text.append(f"  {one.pattern!r}{'' if one.shown else ' (implied)'} → {one.action}  [agent {one.policy.agent}]")
        text += (
            f"    {_mark(match, one)} {match.layer.name:<16} {match.rule}  {match.rule.source}".rstrip()
            for match in one.matches
        )
        if not one.matches:
            text.append("    no rule fits, so it is asked")
    text += [f"  approved: {approval.permission} {approval.pattern}" for approval in explanation.approvals]
    text.append(f"  {explanation.advice}")
    return text


def _mark(match: Match, one: Explanation) -> str:
    if match.rule is one.decision.rule and match.layer.name == one.decision.layer:
        return "*"
    return " " if match.counts else "x"
