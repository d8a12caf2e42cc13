"""tw stats: what the sessions of this project have taken, by model and by tool."""

import argparse
import asyncio
import time

from toolwright.app.words import money
from toolwright.cli.options import open_from, parser, positive, print_json, print_table
from toolwright.cli.output import say
from toolwright.session.records.stats import DAY, Stats
from toolwright.workspace import Workspace

MOST_SESSIONS = 100_000


def main(arguments: list[str]) -> int:
    options = _parser().parse_args(arguments)
    return asyncio.run(_run(options))


def _parser() -> argparse.ArgumentParser:
    root = parser(
        "stats",
        "What the sessions of this project have taken: messages, tokens, money, by model and by tool.",
        examples="  tw stats --days 7\n  tw stats --models --tools 5\n  tw stats --json",
    )
    root.add_argument("--days", type=positive(float), metavar="N", help="only the last so many days")
    root.add_argument("--tools", type=positive(int), metavar="N", help="only the tools called most")
    root.add_argument("--models", type=int, nargs="?", const=0, metavar="N", help="by model, the dearest first")
    root.add_argument("--json", action="store_true", help="machine-readable")
    return root


async def _run(options: argparse.Namespace) -> int:
    async with open_from(options, keep=True, warn=False) as workspace:
        stats = await _counted(workspace, options.days)
    if options.json:
        print_json(stats.as_json())
        return 0
    _tell(stats, options)
    return 0


async def _counted(workspace: Workspace, days: float | None) -> Stats:
    since = int(time.time() * 1000 - days * DAY) if days else 0
    stats = Stats()
    for info in await workspace.sessions.listed(MOST_SESSIONS):
        if (info.time.updated or info.time.created) >= since:
            stats.add(await workspace.store.messages(info.id), since)
    return stats


def _tell(stats: Stats, options: argparse.Namespace) -> None:
    spent, days = stats.spent, len(stats.days)
    mean, middle = stats.tokens_per_session
    print_table(
        [
            ("sessions", f"{stats.sessions:,}"),
            ("messages", f"{stats.messages:,}"),
            ("days", f"{days:,}"),
            ("cost", f"{money(spent.cost)}, {money(spent.cost / max(days, 1))} a day"),
            ("tokens", f"{spent.input:,} in, {spent.output:,} out"),
            ("cache", f"{spent.cache_read:,} read, {spent.cache_write:,} written"),
            ("a session", f"{mean:,} tokens, {middle:,} in the middle"),
        ]
    )
    if options.models is not None:
        by_cost = sorted(stats.models.items(), key=lambda item: (-item[1].cost, -item[1].output, item[0]))
        rows = [
            (name, f"{one.replies:,}", f"{one.input:,}", f"{one.output:,}", money(one.cost))
            for name, one in by_cost[: options.models or None]
        ]
        say("")
        print_table([("model", "replies", "in", "out", "cost"), *rows])
    if stats.tools:
        calls = sum(stats.tools.values())
        by_count = stats.tools.most_common(options.tools)
        say("")
        print_table(
            [("tool", "calls", ""), *((name, f"{count:,}", f"{count / calls:.1%}") for name, count in by_count)]
        )
