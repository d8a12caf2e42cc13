"""tw permission: explain a decision, test, lint and simulate rules, list and revoke approvals."""

import argparse
import asyncio
from typing import Any

from toolwright.cli import policy_actions
from toolwright.cli.options import json_object, note, open_from, parser, print_json, print_table, subcommand
from toolwright.permission.explain import RequestExplanation, explain, lines
from toolwright.permission.gate import DryRunOver
from toolwright.policy.judging import dry_run
from toolwright.workspace import Workspace

Json = dict[str, Any]


def main(arguments: list[str]) -> int:
    options = _parser().parse_args(arguments)
    workspace = open_from(options)
    match options.action:
        case "explain":
            return asyncio.run(_explain(workspace, options))
        case "test":
            return asyncio.run(policy_actions.test(workspace, options))
        case "lint":
            return policy_actions.lint_rules(workspace, options)
        case "simulate":
            return asyncio.run(policy_actions.simulate_rules(workspace, options))
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
    actions = made.add_subparsers(dest="action", required=True, metavar="explain|test|lint|simulate|list|revoke")
    explaining = subcommand(
        actions, "explain", "Every permission a call needs, every rule that fits, and which one won"
    )
    explaining.add_argument("tool")
    explaining.add_argument("args", nargs="?", default="{}", help="its arguments, a JSON object")
    policy_actions.add_to(actions)
    listing = subcommand(actions, "list", "The approvals that hold in this project")
    revoking = subcommand(actions, "revoke", "Take an approval back")
    revoking.add_argument("permission")
    revoking.add_argument("pattern")
    for sub in (explaining, listing):
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


def _list(workspace: Workspace, options: argparse.Namespace) -> int:
    approvals = workspace.gate.approvals.listed()
    if options.json:
        print_json([{"scope": scope, "permission": one.permission, "pattern": one.pattern} for scope, one in approvals])
        return 0
    print_table([(scope, one.permission, one.pattern) for scope, one in approvals])
    note(f"{len(approvals)} approvals, in {workspace.folders.approvals}")
    return 0
