"""tw network: what commands may reach, what holds them to it, and what went where."""

import argparse
import asyncio
from collections.abc import Iterable, Iterator
from typing import Any

from toolwright.calls.parts import Completed, ToolPart
from toolwright.cli.options import note, open_from, parser, print_json, print_table
from toolwright.messages import Message
from toolwright.network.known import KnownDestination
from toolwright.network.verdict import PERMISSION, is_by_destination
from toolwright.workspace import Workspace

SESSIONS = 20
"""Number of sessions that are looked through for what went where."""


def main(arguments: list[str]) -> int:
    return asyncio.run(_show(_parser().parse_args(arguments)))


def _parser() -> argparse.ArgumentParser:
    root = parser(
        "network",
        "What commands may reach: rules, what your own clients are set up with, what sessions sent where.\n"
        "Clients are package managers, the system's sources and git remotes. Each is asked, so a registry\n"
        "of your own is here once you have told your client of it.",
        examples="  tw network\n  tw network --session ID\n  tw network --json",
    )
    root.add_argument("--session", default="", metavar="ID", help="count what one session sent and received")
    root.add_argument("--json", action="store_true", help="machine-readable")
    return root


async def _show(options: argparse.Namespace) -> int:
    async with open_from(options) as workspace:
        known = sorted(await workspace.known_destinations.all(), key=lambda one: (one.client, str(one.destination)))
        rules = _rules(workspace)
        reached = await _reached(workspace, options.session)
        problem = await workspace.network_problem()
        if options.json:
            counted = [{"to": to, "sent": sent, "received": received} for to, sent, received in reached]
            json_rules = [{"pattern": pattern, "action": action} for pattern, action in rules]
            known_shown = [_as_json(one) for one in known]
            print_json({"problem": problem, "rules": json_rules, "known": known_shown, "reached": counted})
            return 0
        rows = [("rule", pattern, action, "") for pattern, action in rules]
        rows += [("client", str(one.destination), one.client, one.setting) for one in known]
        rows += [
            ("reached", to, f"{_size(sent)} sent", f"{_size(received)} received") for to, sent, received in reached
        ]
        print_table(rows)
        if not is_by_destination(workspace.session().ruled_agent):
            note("rules treat all destinations alike: commands reach whatever this machine does, or nothing")
        elif problem:
            note(f"nothing holds commands to these rules: {problem}")
    return 0


def _rules(workspace: Workspace) -> list[tuple[str, str]]:
    """Return what the rules of the agent in use say, the last that fits counting."""
    about = workspace.session().ruled_agent.policy.about(PERMISSION)
    return [(pattern, action) for permission, pattern, action in about if permission == PERMISSION]


async def _reached(workspace: Workspace, session_id: str) -> list[tuple[str, int, int]]:
    """Return what went where, as the results of commands have it; the most that was sent first."""
    roots = [session_id] if session_id else [info.id for info in await workspace.sessions.listed(SESSIONS)]
    totals = dict[str, tuple[int, int]]()
    for session in roots:
        for to, sent, received in _exchanges(await workspace.sessions.messages(session)):
            before = totals.get(to, (0, 0))
            totals[to] = (before[0] + sent, before[1] + received)
    return sorted(((to, *both) for to, both in totals.items()), key=lambda row: -row[1])


def _exchanges(messages: Iterable[Message]) -> Iterator[tuple[str, int, int]]:
    for message in messages:
        for part in message.parts.values():
            state = part.state if isinstance(part, ToolPart) else None
            exchanges: Any = state.metadata.get("network", ()) if isinstance(state, Completed) else ()
            for exchange in exchanges if isinstance(exchanges, list) else ():
                yield str(exchange["to"]), int(exchange["sent"]), int(exchange["received"])


def _size(count: int) -> str:
    for unit, size in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return f"{count} bytes"


def _as_json(known: KnownDestination) -> dict[str, str]:
    return {
        "destination": str(known.destination),
        "client": known.client,
        "setting": known.setting,
        "level": known.level,
    }
