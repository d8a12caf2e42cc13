"""tw stop: end runs in the background."""

import asyncio

from toolwright.app.runs import Runs
from toolwright.cli.options import CommandParser, note, parser
from toolwright.cli.run.background import stop_run
from toolwright.errors import UsageError
from toolwright.machine.folders import Folders


def main(arguments: list[str]) -> int:
    options = _parser().parse_args(arguments)
    runs = Runs.of(Folders.of())
    if options.all == bool(options.runs):
        raise UsageError("Name the runs to stop, or give --all; tw ps lists them.")
    for run in runs.unfinished() if options.all else [runs.named(name) for name in options.runs]:
        stopped = asyncio.run(stop_run(run))
        note(f"{run.name} is stopped" if stopped else f"{run.name} was over: {run.state}")
    return 0


def _parser() -> CommandParser:
    root = parser(
        "stop",
        "Stop runs in the background, with everything that they have begun. What was done stays done.",
        examples="  tw stop quiet-heron\n  tw stop --all",
    )
    root.add_argument("runs", nargs="*", metavar="RUN", help="names or ids, or last; the beginning is enough")
    root.add_argument("--all", action="store_true", help="all that are at work")
    return root
