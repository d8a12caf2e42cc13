"""tw session search, script, replay, report and evidence: looked up, as a script, played again, measured, judged."""

import argparse
import json
from pathlib import Path
from typing import Any

from toolwright.cli.options import note, positive, print_json, print_table, subcommand
from toolwright.cli.output import say
from toolwright.errors import UsageError
from toolwright.protocols.client_json import to_json
from toolwright.text.diff import unified
from toolwright.workspace import Workspace


def add_to(actions: Any) -> None:
    """The sub-commands of tw session that are here."""
    searching = subcommand(actions, "search", "Sessions in which words were said or called, the best first")
    searching.add_argument("words", nargs="+", help="all of them; the last may be the beginning of one")
    searching.add_argument("--everywhere", action="store_true", help="in all projects, not in this one alone")
    searching.add_argument("--limit", "-n", type=positive(int), default=20, metavar="N", help="how many")
    scripting = subcommand(actions, "script", "A script of what the model said, for --model scripted/FILE")
    scripting.add_argument("id", help="the session")
    scripting.add_argument("-o", "--output", default="", metavar="FILE", help="write it there instead of stdout")
    replaying = subcommand(actions, "replay", "Play its calls again in a copy; stop at the first that differs")
    replaying.add_argument("id", help="the session")
    reporting = subcommand(actions, "report", "Tools by time, tokens and failures, and what each costs when offered")
    reporting.add_argument("id", nargs="?", default="", help="one session; all of this project without it")
    judging = subcommand(actions, "evidence", "Whether what was done is shown to hold, and what speaks against it")
    judging.add_argument("id", nargs="?", default="last", help="the session; the last one without it")
    judging.add_argument("--check", action="append", default=[], metavar="CMD", help="run this now, as a goal would")
    judging.add_argument("--check-seconds", type=positive(float), metavar="N", help="how long it may take (120)")
    for sub in (searching, replaying, reporting, judging):
        sub.add_argument("--json", action="store_true", help="machine-readable")


async def run(workspace: Workspace, options: argparse.Namespace) -> int:
    match options.action:
        case "search":
            return await _search(workspace, options)
        case "script":
            return await _script(workspace, options)
        case "replay":
            return await _replay(workspace, options)
        case "evidence":
            return await _evidence(workspace, options)
        case _:
            return await _report(workspace, options)


async def _search(workspace: Workspace, options: argparse.Namespace) -> int:
    hits = await workspace.sessions.search(" ".join(options.words), everywhere=options.everywhere)
    if options.json:
        print_json([to_json(one) for one in hits[: options.limit]])
        return 0 if hits else 1
    for hit in hits[: options.limit]:
        folder = f"  {hit.info.directory}" if options.everywhere else ""
        say(f"{hit.info.id}  {hit.info.slug}  {hit.info.title}{folder}")
        say(f"    {hit.passage.text}{f'  (and {hit.count - 1} more)' if hit.count > 1 else ''}")
    if not hits:
        note("no session holds these words")
    if len(hits) > options.limit:
        note(f"{len(hits) - options.limit} more; see --limit")
    return 0 if hits else 1


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
        say(f"the same: {outcome.calls} call{'' if outcome.calls == 1 else 's'}")
    else:
        say(f"call {outcome.calls} differs: {outcome.call['tool']}  {outcome.call['id']}")
        recorded, replayed = (_render_outcome(one) for one in (outcome.recorded, outcome.replayed))
        say(unified("recorded", recorded, replayed), lines=True)
        if outcome.changed_since:
            say(f"Changed after the session, not by it: {', '.join(outcome.changed_since)}")
    for tool, why in () if options.json else dict.fromkeys((one.tool, one.why) for one in outcome.not_played):
        say(f"not played: {tool}: {why}")
    return 0 if outcome.same else 1


async def _evidence(workspace: Workspace, options: argparse.Namespace) -> int:
    from toolwright.proof.evidence import described
    from toolwright.proof.goal import goal_of
    from toolwright.session.goals.stored_evidence import judge_of

    goal = goal_of(options.check or None, seconds=options.check_seconds or 0.0)
    evidence = await (await judge_of(workspace, options.id)).evidence(goal)
    if options.json:
        print_json(evidence.as_json())
    else:
        say("\n".join(described(evidence.as_json())), lines=True)
    return 0 if evidence.verdict == "proven" else 1


def _render_outcome(outcome: Any) -> str:
    files = "".join(f"{name}: {content or 'gone'}\n" for name, content in outcome.files.items())
    return f"{outcome.status}\n{outcome.output}\n{files}"


async def _report(workspace: Workspace, options: argparse.Namespace) -> int:
    from toolwright.replay.tool_report import report

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
