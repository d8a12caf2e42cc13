"""tw permission: explain a decision, test a table of expectations, list and revoke approvals."""

import argparse
import asyncio
from pathlib import Path
from typing import Any

from toolwright.cli.expectations import Expectation, read_expectations
from toolwright.cli.options import json_object, note, open_from, parser, print_json, print_table, subcommand
from toolwright.errors import PermissionDenied, ToolError, UsageError
from toolwright.ids import new_id
from toolwright.permission.explain import RequestExplanation, explain, lines
from toolwright.permission.gate import Asked, DryRunOver
from toolwright.permission.rules import strictest
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
            note(f"{removed} taken back")
            return 0


def _parser() -> argparse.ArgumentParser:
    made = parser(
        "permission",
        "Permissions: why a call is allowed, asked or denied, and whether your rules do what you think.",
        examples=(
            '  tw permission explain bash \'{"command": "git push"}\' --agent plan\n'
            "  tw permission test rules.txt      # lines such as: deny build read .env\n"
            "  tw permission revoke bash 'git status *'"
        ),
    )
    actions = made.add_subparsers(dest="action", required=True, metavar="explain|test|list|revoke")
    explaining = subcommand(
        actions, "explain", "Every permission a call needs, every rule that fits, and which one won"
    )
    explaining.add_argument("tool")
    explaining.add_argument("args", nargs="?", default="{}", help="its arguments, a JSON object")
    testing = subcommand(actions, "test", "Check a file of lines: allow|ask|deny|hidden AGENT TOOL ARGUMENT")
    testing.add_argument("file")
    listing = subcommand(actions, "list", "The approvals that hold in this project")
    revoking = subcommand(actions, "revoke", "Take an approval back")
    revoking.add_argument("permission")
    revoking.add_argument("pattern")
    for sub in (explaining, listing, testing):
        sub.add_argument("--json", action="store_true", help="machine-readable")
    explaining.add_argument("--agent", default="", help="as this agent")
    return made


async def _explain(workspace: Workspace, options: argparse.Namespace) -> int:
    session = workspace.session(options.agent)
    result, log = await dry_run(workspace, session, options.tool, json_object(options.args, "The arguments"))
    if result.error is not None and not isinstance(result.error, DryRunOver):
        raise result.error
    approvals = workspace.gate.approvals.of((session.id,))
    explained = [explain(session.standing.policy, entry.judgement.request, approvals) for entry in log]
    if options.json:
        print_json([_as_json(one) for one in explained])
        return 0
    print("\n\n".join("\n".join(lines(one)) for one in explained) or f"{options.tool} asks for nothing.")
    return 0


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
    outcomes = [(one, *await _outcome(workspace, one)) for one in expectations]
    failed = [one for one, action, _ in outcomes if action != one.action]
    if options.json:
        print_json([{"line": one.line, "expected": one.action, "decision": got} for one, got, _ in outcomes])
    else:
        rows = [("ok" if got == one.action else "FAIL", str(one), _told(one, got, why)) for one, got, why in outcomes]
        print_table(rows)
        print(f"{len(outcomes) - len(failed)} passed, {len(failed)} failed")
    return 1 if failed else 0


def _told(one: Expectation, got: str, why: str) -> str:
    return "" if got == one.action else f"line {one.line}: it is {got}: {why}"


async def _outcome(workspace: Workspace, one: Expectation) -> tuple[str, str]:
    """What really happens, and the rule behind it."""
    session = workspace.session(one.agent)
    standing = session.standing
    if one.tool in workspace.registry and standing.hides(workspace.registry[one.tool].permission):
        return "hidden", f"{one.tool} is not offered to {standing.name}"
    if one.tool not in workspace.registry:
        decision = standing.policy.decide(one.tool, one.argument)
        return decision.action, f"`{decision.rule}`" if decision.rule else "no rule fits"
    result, log = await dry_run(workspace, session, one.tool, one.arguments())
    if isinstance(result.error, PermissionDenied):
        return "deny", str(result.error)
    if result.error is not None and not isinstance(result.error, DryRunOver):
        raise ToolError(f"{one}: {result.error}", result.error.kind)
    if not log:
        return "allow", "it asks for nothing"
    decision = strictest(entry.judgement.decision for entry in log)
    return decision.action, f"`{decision.rule}` {decision.rule.source}".rstrip() if decision.rule else "no rule fits"


def _list(workspace: Workspace, options: argparse.Namespace) -> int:
    approvals = workspace.gate.approvals.listed()
    if options.json:
        print_json([{"scope": scope, "permission": one.permission, "pattern": one.pattern} for scope, one in approvals])
        return 0
    print_table([(scope, one.permission, one.pattern) for scope, one in approvals])
    note(f"{len(approvals)} approvals, in {workspace.folders.approvals}")
    return 0
