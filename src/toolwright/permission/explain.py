"""Why a decision came out as it did: every rule that fits, which one won, and what would change it."""

from collections.abc import Iterator, Mapping, Sequence

from toolwright.calls.acts import Act
from toolwright.calls.request import Request
from toolwright.definition import Action
from toolwright.permission.approvals import Approval, covered, offered
from toolwright.permission.judge import judged
from toolwright.permission.rules import ACT, Decision, Match, Policy
from toolwright.record import record


@record(frozen=True, slots=True, kw_only=True)
class Explanation:
    """One pattern of one request, under one agent's rules."""

    permission: str
    pattern: str
    shown: bool
    """True if the user would see the pattern; else it is only implied by one they see."""
    policy: Policy
    matches: tuple[Match, ...]
    decision: Decision
    act: Act | None = None
    """The act that was judged in the place of the pattern, where that is what it does beyond this machine."""

    @property
    def action(self) -> Action:
        return self.decision.action


_INSIDE = 5
"""At most this many names in a folder are shown that a rule forbids or asks about."""


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
    by_act = tuple(
        one for pattern, act in _distinct(request.acts) for one in _act_chain(policy, request.permission, pattern, act)
    )
    explanations += by_act
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
    explanations: list[Explanation] = []
    while policy is not None:
        own = Policy(policy.agent, policy.layers)
        explanations.append(
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
    return explanations


def _distinct(acts: Mapping[str, Act]) -> Iterator[tuple[str, Act]]:
    """The acts, each once, with the first of the texts that have it."""
    seen = set[tuple[str, ...]]()
    for pattern, act in acts.items():
        key = (act.kind, act.program, *act.words)
        if key not in seen:
            seen.add(key)
            yield pattern, act


def _act_chain(policy: Policy | None, permission: str, pattern: str, act: Act) -> list[Explanation]:
    """The act under the agent's own rules, then under those of every agent above it."""
    explanations: list[Explanation] = []
    while policy is not None:
        own = Policy(policy.agent, policy.layers)
        decision = own.decide_act(permission, pattern, act)
        matches = list(own.matching_act(act))
        if all(decision.rule is not match.rule for match in matches):
            matches += [match for match in own.matching(permission, pattern) if match.rule is decision.rule]
        explanations.append(
            Explanation(
                permission=ACT,
                pattern=act.kind,
                shown=True,
                policy=policy,
                matches=tuple(matches),
                decision=decision,
                act=act,
            )
        )
        policy = policy.parent
    return explanations


def _advice(
    request: Request, action: Action, explanations: Sequence[Explanation], approvals: Sequence[Approval]
) -> str:
    """Return what would turn the answer round."""
    deciding = next((one for one in explanations if one.action == action), None)
    match action:
        case "deny" if deciding is not None and deciding.decision.rule is not None:
            source = deciding.decision.rule.source or "the configuration"
            where = source if source == "built in" else f"from {source}"
            return (
                f"Only a later rule would change it. `{deciding.decision.rule}` is {where}, layer"
                f" {deciding.decision.layer}; no answer and no approval overrules a deny."
            )
        case "ask" if deciding is not None and deciding.act is not None and deciding.act.kind == "final":
            return "It is asked every time, because it cannot be taken back. Only a rule that spells it out allows it."
        case "ask" if request.must_ask:
            reasons = request.metadata.get("reasons", ()) if request.permission != "bash" else ()
            if reasons:
                return f"It is always asked: {' '.join(reasons)}"
            return "It is always asked, because not all of the command could be understood."
        case "ask" if _worth_storing(explanations[0].policy, request, approvals):
            stored = ", ".join(f"{one.permission} {one.text}" for one in offered(request))
            return f"Answering `always` would store: {stored}."
        case "ask":
            return "It can only be allowed once at a time."
        case "allow" if approvals:
            listed = ", ".join(f"{approval.permission} {approval.text}" for approval in approvals)
            return f"Allowed by approval; tw permission revoke ends it. Approvals: {listed}."
        case _:
            return (
                f'A rule such as "{request.permission}": {{"{request.patterns[0]}": "ask"}} would make it a question.'
            )


def _worth_storing(policy: Policy, request: Request, approvals: Sequence[Approval]) -> bool:
    """Tell whether a lasting approval would let this very request pass."""
    return bool(request.always) and judged(policy, request, (*approvals, *offered(request))).action == "allow"


def lines(explanation: RequestExplanation) -> list[str]:
    """The explanation as a person reads it."""
    text = [f"{explanation.request.permission}: {explanation.action}"]
    for explained in explanation.patterns:
        text.append(f"  {_judged_text(explained)} → {explained.action}  [agent {explained.policy.agent}]")
        text += (
            f"    {_mark(match, explained)} {match.layer.name:<16} {match.rule}  {match.rule.source}".rstrip()
            for match in explained.matches
        )
        if not explained.matches and explained.action == "ask":
            text.append("    no rule fits, so it is asked")
    text += [f"  approved: {approval.permission} {approval.text}" for approval in explanation.approvals]
    text.append(f"  {explanation.advice}")
    return text


def _judged_text(explained: Explanation) -> str:
    if explained.act is not None:
        return f"act {explained.pattern}: {explained.act.line}"
    return f"{explained.pattern!r}{'' if explained.shown else ' (implied)'}"


def refusal_lines(tool: str, words: str) -> list[str]:
    """The same of a call that is refused by other than rules."""
    return [
        f"{tool}: deny",
        f"  {words}",
        "  No rule says so, but a hook, a plugin or the tool itself; no other rule and no answer changes it.",
    ]


def _mark(match: Match, explained: Explanation) -> str:
    if match.rule is explained.decision.rule and match.layer.name == explained.decision.layer:
        return "*"
    return " " if match.counts else "x"
