"""A table of expectations held against the rules: which rows fail, which rules no row meets, which flips none sees."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from toolwright.agents import Agent, Agents
from toolwright.definition import Action
from toolwright.errors import ToolwrightError
from toolwright.permission.rules import ACT, Layer, Rule
from toolwright.policy.expectations import Expectation, arguments_for, unknown
from toolwright.policy.judging import CallRequests, CallVerdict, is_refusal, permissions_of, verdict, wanted
from toolwright.policy.lint import is_written
from toolwright.record import record
from toolwright.text.wildcard import matches
from toolwright.workspace import Workspace

_FLIPPED: dict[Action, Action] = {"allow": "deny", "ask": "allow", "deny": "allow"}
_AGENT_RULES = ("rules", "user_rules", "project_rules", "managed_rules")


@record(frozen=True, slots=True, kw_only=True)
class ExpectedRow:
    """One line of the table, what its call asks for, and what it came to."""

    expected: Expectation
    call: CallRequests | None
    verdict: CallVerdict
    why: str = ""

    @property
    def passed(self) -> bool:
        return self.verdict.action == self.expected.action


async def rows_of(workspace: Workspace, table: Sequence[Expectation]) -> list[ExpectedRow]:
    """Every line judged; one that cannot be judged fails alone."""
    await workspace.registry.catch_up()
    return [await _row(workspace, one) for one in table]


async def _row(workspace: Workspace, one: Expectation) -> ExpectedRow:
    problem = one.problem
    if not problem and one.agent not in workspace.agents.by_name:
        problem = unknown("agent", one.agent, workspace.agents.by_name)
    if not problem and one.tool not in workspace.registry:
        known = permissions_of(workspace, workspace.session(one.agent))
        names = [*workspace.registry.ids(), *known]
        problem = "" if one.tool in known else unknown("tool or permission", one.tool, names)
    if problem:
        return _wrong(one, problem)
    try:
        return await _judged(workspace, one)
    except ToolwrightError as error:
        return _wrong(one, str(error))


async def _judged(workspace: Workspace, one: Expectation) -> ExpectedRow:
    if one.tool in workspace.registry:
        call = CallRequests(agent=one.agent, permission=workspace.registry[one.tool].permission, requests=())
        outcome = verdict(workspace.agents, call)
        if outcome.action == "hidden":
            return ExpectedRow(
                expected=one, call=call, verdict=outcome, why=f"{one.tool} is not offered to {one.agent}"
            )
        if one.action == "hidden" and not one.argument:
            offered = CallVerdict(action="offered")
            return ExpectedRow(expected=one, call=None, verdict=offered, why=f"{one.tool} is offered to {one.agent}")
        arguments = arguments_for(one.tool, one.argument)
    else:
        arguments = {}
    call = await wanted(workspace, one.agent, one.tool, arguments, one.argument)
    outcome = verdict(workspace.agents, call)
    if call.error is not None and not is_refusal(call.error):
        return _wrong(one, str(call.error))
    return ExpectedRow(expected=one, call=call, verdict=outcome, why=_why(outcome, call))


def _wrong(one: Expectation, why: str) -> ExpectedRow:
    return ExpectedRow(expected=one, call=None, verdict=CallVerdict(action=""), why=why)


def _why(found: CallVerdict, call: CallRequests) -> str:
    if call.error is not None:
        return str(call.error)
    if found.rule is None:
        return "no rule fits" if found.action == "ask" else "it needs no permission"
    return f"`{found.rule}` {found.rule.source}".rstrip()


def rules_of(agents: Agents, chosen: Callable[[Rule], bool] = is_written) -> list[Rule]:
    """The rules that a table should meet: those somebody has written, unless others are chosen."""
    by_pair: dict[tuple[str, str], Rule] = {}
    for layer in (agents.defaults, *agents.general, agents.protected, agents.run_later, *agents.managed):
        by_pair.update(((rule.source, str(rule)), rule) for rule in layer.rules if chosen(rule))
    for agent in agents.by_name.values():
        for name in _AGENT_RULES:
            rules: tuple[Rule, ...] = getattr(agent, name)
            by_pair.update(((rule.source, str(rule)), rule) for rule in rules if chosen(rule))
    return list(by_pair.values())


def unmet(rows: Sequence[ExpectedRow], rules: Sequence[Rule]) -> list[Rule]:
    """The rules that decide about nothing in the table."""
    met = {(rule.source, str(rule)) for row in rows for rule in row.verdict.met}
    return [rule for rule in rules if (rule.source, str(rule)) not in met]


def survivors(agents: Agents, rows: Sequence[ExpectedRow], rules: Sequence[Rule]) -> list[Rule]:
    """The rules that could say the opposite without any row failing."""
    judged = [row for row in rows if row.call is not None and row.passed]
    return [rule for rule in rules if not _is_seen(agents, rule, [row for row in judged if _concerns(rule, row)])]


def _concerns(rule: Rule, row: ExpectedRow) -> bool:
    """Return whether a rule, or its opposite, fits anything that a row asks for."""
    call, both = row.call, (rule, _flipped(rule))
    if call is None:
        return False
    decides_offer = rule.pattern == "*" or row.expected.action == "hidden"
    if decides_offer and call.permission and matches(call.permission, rule.permission):
        return True
    if rule.permission == ACT and any(one.fits(kind) for one in both for kind in _act_kinds(call)):
        return True
    return any(
        matches(request.permission, rule.permission) and any(one.fits(pattern) for one in both)
        for request in call.requests
        for pattern in (*request.patterns, *request.implied)
    )


def _act_kinds(call: CallRequests) -> set[str]:
    return {act.kind for request in call.requests for act in request.acts.values()}


def _is_seen(agents: Agents, rule: Rule, rows: Sequence[ExpectedRow]) -> bool:
    if not rows:
        return False
    flipped = _flipped(rule)
    changed = agents_with(agents, lambda one: flipped if one.source == rule.source and one == rule else one)
    return any(verdict(changed, row.call).action != row.expected.action for row in rows if row.call is not None)


def _flipped(rule: Rule) -> Rule:
    return replace(rule, action=_FLIPPED[rule.action])


def agents_with(agents: Agents, change: Callable[[Rule], Rule]) -> Agents:
    """The same agents under rules that are changed one by one."""

    def changed(layer: Layer) -> Layer:
        return replace(layer, rules=tuple(map(change, layer.rules)))

    def agent(one: Agent) -> Agent:
        changes: dict[str, Any] = {name: tuple(map(change, getattr(one, name))) for name in _AGENT_RULES}
        return replace(one, **changes)

    return replace(
        agents,
        defaults=changed(agents.defaults),
        general=tuple(map(changed, agents.general)),
        protected=changed(agents.protected),
        run_later=changed(agents.run_later),
        output=changed(agents.output),
        managed=tuple(map(changed, agents.managed)),
        by_name={name: agent(one) for name, one in agents.by_name.items()},
    )


def as_json(rules: Sequence[Rule]) -> Iterator[dict[str, Any]]:
    from toolwright.policy.lint import place

    for rule in rules:
        file, line = place(rule)
        yield {"file": file, "line": line, "rule": str(rule)}
