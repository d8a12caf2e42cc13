"""tw session script, replay and report: a session as a script, played again, and measured."""

import argparse
import json
from pathlib import Path
from typing import Any

from toolwright.cli.options import note, print_json, print_table, subcommand
from toolwright.diff import unified
from toolwright.display import visible
from toolwright.errors import UsageError
from toolwright.workspace import Workspace

ACTIONS = ("script", "replay", "report")


def add_to(actions: Any) -> None:
    """The sub-commands of tw session that are here."""
    scripting = subcommand(actions, "script", "A script of what the model said, for --model scripted/FILE")
    scripting.add_argument("id", help="the session")
    scripting.add_argument("-o", "--output", default="", metavar="FILE", help="write it there instead of stdout")
    replaying = subcommand(actions, "replay", "Play its calls again in a copy; stop at the first that differs")
    replaying.add_argument("id", help="the session")
    reporting = subcommand(actions, "report", "Tools by time, tokens and failures, and what each costs when offered")
    reporting.add_argument("id", nargs="?", default="", help="one session; all of this project without it")
    for sub in (replaying, reporting):
        sub.add_argument("--json", action="store_true", help="machine-readable")


async def run(workspace: Workspace, options: argparse.Namespace) -> int:
    match options.action:
        case "script":
            return await _script(workspace, options)
        case "replay":
            return await _replay(workspace, options)
        case _:
            return await _report(workspace, options)


async def _script(workspace: Workspace, options: argparse.Namespace) -> int:
    from toolwright.replay import children_of, script_of

    below = await children_of(workspace, options.id)
    script = script_of(await workspace.sessions.messages(options.id), lambda child: below.get(child, ()))
    if not options.output:
        print_json(script)
        return 0
    try:
        Path(options.output).write_text(json.dumps(script, indent=2, ensure_ascii=False) + "\n", "utf-8")
    except OSError as error:
        raise UsageError(f"{options.output} cannot be written: {error.strerror}.") from error
    note(f"{len(script['turns'])} replies in {options.output}")
    return 0


async def _replay(workspace: Workspace, options: argparse.Namespace) -> int:
    from toolwright.replay import replay

    outcome = await replay(workspace, options.id)
    if options.json:
        print_json(outcome.as_json())
    elif outcome.call is None or outcome.recorded is None or outcome.replayed is None:
        print(f"the same: {outcome.calls} call{'' if outcome.calls == 1 else 's'}")
    else:
        print(visible(f"call {outcome.calls} differs: {outcome.call['tool']}  {outcome.call['id']}", lines=False))
        recorded, replayed = (_shown(one) for one in (outcome.recorded, outcome.replayed))
        print(visible(unified("recorded", recorded, replayed)))
        if outcome.changed_since:
            print(visible(f"Changed after the session, not by it: {', '.join(outcome.changed_since)}", lines=False))
    for tool, why in () if options.json else dict.fromkeys((one.tool, one.why) for one in outcome.not_played):
        print(visible(f"not played: {tool}: {why}", lines=False))
    return 0 if outcome.same else 1


def _shown(outcome: Any) -> str:
    files = "".join(f"{name}: {content or 'gone'}\n" for name, content in outcome.files.items())
    return f"{outcome.status}\n{outcome.output}\n{files}"


async def _report(workspace: Workspace, options: argparse.Namespace) -> int:
    from toolwright.tool_report import report

    uses = await report(workspace, options.id)
    if options.json:
        print_json({"tools": [use.as_json() for use in uses]})
        return 0
    head = ("tool", "calls", "failed", "seconds", "tokens", "schema")
    rows = [
        (one.tool, str(one.calls), str(one.failures), f"{one.seconds:.1f}", str(one.tokens), str(one.schema_tokens))
        for one in uses
    ]
    print_table([head, *rows])
    return 0
