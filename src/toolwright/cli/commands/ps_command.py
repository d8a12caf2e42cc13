"""tw ps: the runs in the background, and how each of them is."""

import asyncio
import time

from toolwright.app.words import duration
from toolwright.cli.options import CommandParser, note, parser, print_json, print_table
from toolwright.cli.run.background import all_runs


def main(arguments: list[str]) -> int:
    options = _parser().parse_args(arguments)
    every = asyncio.run(all_runs())
    day_ago = (time.time() - 24 * 3600) * 1000
    listed = [one for one in every if options.all or not one["ended"] or one["ended"] > day_ago or "loop" in one]
    if options.json:
        print_json(listed)
        return 0
    print_table([(one["name"], one["state"], _taken(one), one["directory"], _words(one)) for one in listed])
    if not listed:
        note("nothing runs in the background; tw run --bg begins something")
    return 0


def _taken(run: dict[str, int]) -> str:
    return duration(((run["ended"] or time.time() * 1000) - run["began"]) / 1000)


def _words(run: dict[str, str]) -> str:
    prompt, more = " ".join(run["prompt"].split()), run.get("loop", "") or run["error"]
    return f"{prompt[:60]}{'…' if len(prompt) > 60 else ''}{' · ' + more if more else ''}"


def _parser() -> CommandParser:
    root = parser(
        "ps",
        "List what tw run --bg has begun, in all folders: working, waiting for your answer, looping, done, failed or"
        " stopped.",
        examples="  tw ps\n  tw ps --json\n  tw attach quiet-heron\n  tw stop quiet-heron",
    )
    root.add_argument("--all", action="store_true", help="those that are over for more than a day, too")
    root.add_argument("--json", action="store_true", help="machine-readable")
    return root
