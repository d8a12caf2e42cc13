"""tw permission: explain a decision, test, lint and simulate rules, list and revoke approvals."""

import argparse
import asyncio

from toolwright.app.explaining import RequestExplanation, explain_argument
from toolwright.app.words import plural
from toolwright.cli.actions import policy_actions
from toolwright.cli.options import note, open_from, parser, print_json, print_table, subcommand
from toolwright.cli.output import say
from toolwright.protocols.json_types import Json
from toolwright.workspace import Workspace


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
            note(f"{plural(removed, 'approval')} revoked")
            return 0


def _parser() -> argparse.ArgumentParser:
    root = parser(
        "permission",
        "Permissions: why a call is allowed, asked or denied, and whether your rules do what you think.",
        examples=(
            "  tw permission explain bash git push --agent plan\n"
            "  tw permission test rules.txt      # lines such as: deny build read .env\n"
            "  tw permission revoke bash 'git status *'"
        ),
    )
    actions = root.add_subparsers(dest="action", required=True, metavar="explain|test|lint|simulate|list|revoke")
    explaining = subcommand(
        actions, "explain", "Every permission a call needs, every rule that fits, and which one won"
    )
    explaining.add_argument("tool")
    explaining.add_argument(
        "args", nargs="*", default=[], help="its path, command or the like; or all arguments as a JSON object"
    )
    explaining.free_words = True
    policy_actions.add_to(actions)
    listing = subcommand(actions, "list", "The approvals that hold in this project")
    revoking = subcommand(actions, "revoke", "Revoke an approval")
    revoking.add_argument("permission")
    revoking.add_argument("pattern")
    for sub in (explaining, listing):
        sub.add_argument("--json", action="store_true", help="machine-readable")
    explaining.add_argument("--agent", default="", help="as this agent")
    return root


async def _explain(workspace: Workspace, options: argparse.Namespace) -> int:
    # Open, so that hooks, plugins and tools of the project have their say.
    async with workspace:
        explained = await explain_argument(workspace, options.tool, " ".join(options.args), options.agent)
    if options.json:
        refused = {"permission": options.tool, "decision": "deny", "patterns": [], "advice": explained.refusal}
        print_json([*map(_as_json, explained.requests), *([refused] if explained.refusal else [])])
        return 0
    say("\n\n".join("\n".join(passage) for passage in explained.passages), lines=True)
    return 0


def _as_json(explanation: RequestExplanation) -> Json:
    return {
        "permission": explanation.request.permission,
        "decision": explanation.action,
        "patterns": [
            {
                "pattern": pattern.pattern,
                "shown": pattern.shown,
                "agent": pattern.policy.agent,
                "act": pattern.act.line if pattern.act is not None else None,
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
            for pattern in explanation.patterns
        ],
        "advice": explanation.advice,
    }


def _list(workspace: Workspace, options: argparse.Namespace) -> int:
    approvals = workspace.gate.approvals.listed()
    if options.json:
        print_json([{"scope": scope, "permission": one.permission, "pattern": one.text} for scope, one in approvals])
        return 0
    print_table([(scope, one.permission, one.text) for scope, one in approvals])
    note(f"{plural(len(approvals), 'approval')}, in {workspace.folders.approvals}")
    return 0
