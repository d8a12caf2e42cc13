"""tw permission: explain a decision, test a table of expectations, list and revoke approvals."""

import argparse
import asyncio
from pathlib import Path
from typing import Any

from toolwright.cli.expectations import Expectation, arguments_for, read_expectations, unknown
from toolwright.cli.options import note, open_from, parser, plural, print_json, print_table, subcommand
from toolwright.config.warn import PERMISSIONS
from toolwright.display import visible
from toolwright.errors import PermissionDenied, ToolwrightError, UsageError
from toolwright.ids import new_id
from toolwright.permission.explain import RequestExplanation, explain, lines
from toolwright.permission.gate import Asked, DryRunOver
from toolwright.permission.rules import Decision, strictest
from toolwright.record import record
from toolwright.request import Request
from toolwright.session.session import Session
from toolwright.tool import Call, Result
from toolwright.workspace import Workspace

Json = dict[str, Any]


def main(arguments: list[str]) -> int:
    options = _parser().parse_args(arguments)
    workspace = open_from(options)
    match options.action:
        case "explain":
            return asyncio.run(_explain(workspace, options))
        case "test":
            return asyncio.run(_test(workspace, options))
        case "list":
            return _list(workspace, options)
        case _:
            removed = workspace.gate.approvals.revoke(options.permission, options.pattern)
            note(f"{plural(removed, 'approval')} revoked")
            return 0


def _parser() -> argparse.ArgumentParser:
    made = parser(
        "permission",
        "Permissions: why a call is allowed, asked or denied, and whether your rules do what you think.",
        examples=(
            "  tw permission explain bash git push --agent plan\n"
            "  tw permission test rules.txt      # lines such as: deny build read .env\n"
            "  tw permission revoke bash 'git status *'"
        ),
    )
    actions = made.add_subparsers(dest="action", required=True, metavar="explain|test|list|revoke")
    explaining = subcommand(
        actions, "explain", "Every permission a call needs, every rule that fits, and which one won"
    )
    explaining.add_argument("tool")
    explaining.add_argument("args", nargs="*", help="its path, command or the like; or all arguments as a JSON object")
    testing = subcommand(actions, "test", "Check a file of lines: allow|ask|deny|hidden AGENT TOOL ARGUMENT")
    testing.add_argument("file")
    listing = subcommand(actions, "list", "The approvals that hold in this project")
    revoking = subcommand(actions, "revoke", "Revoke an approval")
    revoking.add_argument("permission")
    revoking.add_argument("pattern")
    for sub in (explaining, listing, testing):
        sub.add_argument("--json", action="store_true", help="machine-readable")
    explaining.add_argument("--agent", default="", help="as this agent")
    return made


async def _explain(workspace: Workspace, options: argparse.Namespace) -> int:
    session = workspace.session(options.agent)
    argument = " ".join(options.args)
    requests = await _requests(workspace, session, options.tool, argument)
    approvals = workspace.gate.approvals.of((session.id,))
    explained = [explain(session.standing.policy, request, approvals) for request in requests]
    if options.json:
        print_json([_as_json(one) for one in explained])
        return 0
    text = "\n\n".join("\n".join(lines(one)) for one in explained)
    print(visible(text) if text else f"{options.tool} needs no permission for this.")
    return 0


async def _requests(workspace: Workspace, session: Session, tool: str, argument: str) -> list[Request]:
    """What a call would ask for; a permission that is no tool is asked for by its own name."""
    if tool not in workspace.registry:
        known = _permissions(workspace, session)
        if tool not in known:
            raise UsageError(f"{unknown('tool or permission', tool, [*workspace.registry.ids(), *known])}.")
        return [Request(permission=tool, patterns=(argument or "*",))]
    result, log = await dry_run(workspace, session, tool, arguments_for(tool, argument))
    if result.error is not None and not isinstance(result.error, DryRunOver):
        raise result.error
    return [entry.judgement.request for entry in log]


def _permissions(workspace: Workspace, session: Session) -> set[str]:
    """Every permission that a tool has or a rule names; a pattern of names is none."""
    rules = [rule.permission for layer in session.standing.policy.layers for rule in layer.rules]
    named = {*PERMISSIONS, *(tool.permission for tool in workspace.registry.all()), *rules}
    return {name for name in named if "*" not in name and "?" not in name}


async def dry_run(workspace: Workspace, session: Session, tool: str, arguments: Json) -> tuple[Result, list[Asked]]:
    """What a call would ask for. Nothing of it is done."""
    log: list[Asked] = []
    call = Call(id=new_id("call"), tool=tool, arguments=arguments)
    result = await session.run_call(call, log=log, gate=workspace.dry_gate())
    return result, log


def _as_json(one: RequestExplanation) -> Json:
    return {
        "permission": one.request.permission,
        "decision": one.action,
        "patterns": [
            {
                "pattern": pattern.pattern,
                "shown": pattern.shown,
                "agent": pattern.policy.agent,
                "decision": pattern.action,
                "winner": str(pattern.decision.rule) if pattern.decision.rule else None,
                "layer": pattern.decision.layer,
                "source": pattern.decision.rule.source if pattern.decision.rule else None,
                "matches": [
                    {
                        "layer": match.layer.name,
                        "rule": str(match.rule),
                        "source": match.rule.source,
                        "counts": match.counts,
                    }
                    for match in pattern.matches
                ],
            }
            for pattern in one.patterns
        ],
        "advice": one.advice,
    }


def _read(file: str) -> str:
    try:
        return Path(file).read_text("utf-8")
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror}.") from error


async def _test(workspace: Workspace, options: argparse.Namespace) -> int:
    expectations = read_expectations(_read(options.file), options.file)
    outcomes = [(one, await _outcome(workspace, one)) for one in expectations]
    failed = [one for one, came in outcomes if not came.fits(one)]
    if options.json:
        print_json([_outcome_as_json(one, came) for one, came in outcomes])
    else:
        print_table([_row(one, came, options.file) for one, came in outcomes])
        print(f"{len(outcomes) - len(failed)} passed, {len(failed)} failed")
    return 1 if failed else 0


@record(frozen=True, slots=True)
class Outcome:
    """What a line of the table really comes to, and the rule or the mistake behind it."""

    action: str
    why: str = ""

    def fits(self, one: Expectation) -> bool:
        return self.action == one.action


def _row(one: Expectation, came: Outcome, file: str) -> tuple[str, ...]:
    if came.fits(one):
        return "ok", one.text, ""
    told = f"it is {came.action}: {came.why}" if came.action else came.why
    return "FAIL", one.text, f"{file}:{one.line}: {told}"


def _outcome_as_json(one: Expectation, came: Outcome) -> Json:
    told: Json = {"line": one.line, "expected": one.action, "decision": came.action or None}
    return told | ({"problem": came.why} if not came.action else {})


async def _outcome(workspace: Workspace, one: Expectation) -> Outcome:
    if one.problem:
        return Outcome("", one.problem)
    if one.agent not in workspace.agents.by_name:
        return Outcome("", unknown("agent", one.agent, workspace.agents.by_name))
    try:
        return await _judged(workspace, workspace.session(one.agent), one)
    except ToolwrightError as error:
        return Outcome("", str(error))


async def _judged(workspace: Workspace, session: Session, one: Expectation) -> Outcome:
    standing = session.standing
    if one.tool not in workspace.registry:
        known = _permissions(workspace, session)
        if one.tool not in known:
            return Outcome("", unknown("tool or permission", one.tool, [*workspace.registry.ids(), *known]))
        return _told(standing.policy.decide(one.tool, one.argument))
    if standing.hides(workspace.registry[one.tool].permission):
        return Outcome("hidden", f"{one.tool} is not offered to {standing.name}")
    if one.action == "hidden" and not one.argument:
        return Outcome("offered", f"{one.tool} is offered to {standing.name}")
    result, log = await dry_run(workspace, session, one.tool, arguments_for(one.tool, one.argument))
    if isinstance(result.error, PermissionDenied):
        return Outcome("deny", str(result.error))
    if result.error is not None and not isinstance(result.error, DryRunOver):
        return Outcome("", str(result.error))
    if not log:
        return Outcome("allow", "it needs no permission")
    return _told(strictest(entry.judgement.decision for entry in log))


def _told(decision: Decision) -> Outcome:
    rule = decision.rule
    return Outcome(decision.action, f"`{rule}` {rule.source}".rstrip() if rule else "no rule fits")


def _list(workspace: Workspace, options: argparse.Namespace) -> int:
    approvals = workspace.gate.approvals.listed()
    if options.json:
        print_json([{"scope": scope, "permission": one.permission, "pattern": one.pattern} for scope, one in approvals])
        return 0
    print_table([(scope, one.permission, one.pattern) for scope, one in approvals])
    note(f"{plural(len(approvals), 'approval')}, in {workspace.folders.approvals}")
    return 0
