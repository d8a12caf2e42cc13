"""The requests of calls, worked out once and then judged under as many sets of rules as one likes."""

from toolwright.agents import Agents
from toolwright.calls.request import Request
from toolwright.definition import Call, Result
from toolwright.errors import ToolError, UsageError
from toolwright.permission.approvals import Approval
from toolwright.permission.forms import PERMISSIONS
from toolwright.permission.gate import AskedRequest, DryRunOver
from toolwright.permission.judge import judged
from toolwright.permission.rules import STRICTNESS, Decision, Rule
from toolwright.policy.expectations import arguments_for, unknown
from toolwright.protocols.json_types import Json
from toolwright.record import record
from toolwright.session.result import REFUSED
from toolwright.session.session import Session
from toolwright.text.ids import new_id
from toolwright.workspace import Workspace


@record(frozen=True, slots=True, kw_only=True)
class CallRequests:
    """A call of an agent, and what it asks permission for."""

    agent: str
    permission: str
    """The one that decides whether the tool is offered; empty for what is no tool."""
    requests: tuple[Request, ...]
    error: ToolError | None = None
    """Why it could not be found out what the call asks for."""


@record(frozen=True, slots=True, kw_only=True)
class CallVerdict:
    """The verdict of certain rules on a call, and the rules that had the last word on its patterns."""

    action: str
    """`allow`, `ask`, `deny` or `hidden`."""
    rule: Rule | None = None
    met: tuple[Rule, ...] = ()


async def dry_run(
    workspace: Workspace, session: Session, tool: str, arguments: Json
) -> tuple[Result, list[AskedRequest]]:
    """Return the requests of a call. Nothing of it is done."""
    log: list[AskedRequest] = []
    call = Call(id=new_id("call"), tool=tool, arguments=arguments)
    result = await session.run_call(call, log=log, gate=workspace.dry_gate())
    return result, log


def permissions_of(workspace: Workspace, session: Session) -> set[str]:
    """Every permission that a tool has or a rule names; a pattern of names is none."""
    rules = [rule.permission for layer in session.ruled_agent.policy.layers for rule in layer.rules]
    named = {*PERMISSIONS, *(tool.permission for tool in workspace.registry.all()), *rules}
    return {name for name in named if "*" not in name and "?" not in name}


async def wanted(workspace: Workspace, agent: str, tool: str, arguments: Json, argument: str = "") -> CallRequests:
    """Return the requests of a call; what is no tool is asked for by its own name."""
    session = workspace.session(agent)
    if tool not in workspace.registry:
        request = Request(permission=tool, patterns=(argument,))
        return CallRequests(agent=session.agent, permission="", requests=(request,))
    permission = workspace.registry[tool].permission
    result, log = await dry_run(workspace, session, tool, arguments)
    requests = tuple(entry.judgement.request for entry in log)
    error = result.error
    if isinstance(error, DryRunOver):
        error = None
    return CallRequests(agent=session.agent, permission=permission, requests=requests, error=error)


async def requests_of(workspace: Workspace, session: Session, tool: str, argument: str) -> tuple[list[Request], str]:
    """Return the requests of a call, and the words of whoever else refuses it: a hook, a plugin or the tool itself.

    A permission that is no tool is asked for by its own name.
    """
    await workspace.registry.catch_up()
    if tool not in workspace.registry:
        known = permissions_of(workspace, session)
        if tool not in known:
            message = unknown("tool or permission", tool, [*workspace.registry.ids(), *known])
            raise UsageError(f"{message[0].upper()}{message[1:]}{'' if message.endswith('?') else '.'}")
        return [Request(permission=tool, patterns=(argument or "*",))], ""
    result, log = await dry_run(workspace, session, tool, arguments_for(tool, argument))
    if result.error is not None and not isinstance(result.error, DryRunOver) and not is_refusal(result.error):
        raise result.error
    requests = [entry.judgement.request for entry in log]
    return requests, str(result.error) if is_refusal(result.error) else ""


def is_refusal(error: ToolError | None) -> bool:
    """Return whether a call was not allowed, by whomever: a hook says so as the rules do."""
    return error is not None and error.kind in REFUSED


def verdict(agents: Agents, call: CallRequests, approvals: tuple[Approval, ...] = ()) -> CallVerdict:
    """Return the verdict of these agents' rules on a call."""
    policy = agents.ruled(agents[call.agent]).policy
    hides = bool(call.permission) and policy.hides(call.permission)
    hidden = policy.decide(call.permission, "*").rule if hides else None
    if hidden is not None:
        return CallVerdict(action="hidden", rule=hidden, met=(hidden,))
    if is_refusal(call.error):
        return CallVerdict(action="deny")
    decision: Decision | None = None
    met: list[Rule] = []
    for request in call.requests:
        one = judged(policy, request, approvals).decision
        for pattern in (*request.patterns, *request.implied):
            rule = policy.decide(request.permission, pattern).rule
            met += [rule] if rule is not None else []
        for pattern, act in request.acts.items():
            rule = policy.decide_act(request.permission, pattern, act).rule
            met += [rule] if rule is not None else []
        if decision is None or STRICTNESS[one.action] > STRICTNESS[decision.action]:
            decision = one
    if decision is None:
        return CallVerdict(action="allow")
    return CallVerdict(action=decision.action, rule=decision.rule, met=tuple(met))
