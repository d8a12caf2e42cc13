"""tw run --every: the same prompt again and again, so many times, and only where a command fails if one is given."""

import argparse
import asyncio
import re
import time
from collections.abc import Callable

from toolwright.app.words import duration
from toolwright.cli.dispatch import DONE, STOPPED, USAGE
from toolwright.cli.options import note, open_from
from toolwright.errors import UsageError

MOST = 1000
_UNITS = {"": 1, "s": 1, "m": 60, "h": 3600}
_LONGEST = 24 * 3600


def run_every(options: argparse.Namespace, run: Callable[[], int]) -> int:
    """Run, wait, and run again; Ctrl-C ends it. What runs is told each time."""
    if options.session or options.interactive or options.output:
        raise UsageError("--every begins a session each time: leave out --session, --interactive and --output.")
    if not 0 < options.times <= MOST:
        raise UsageError(f"--times takes a number from 1 to {MOST}.")
    seconds, code = seconds_of(options.every), DONE
    for number in range(1, options.times + 1):
        if number > 1:
            note(f"next in {duration(seconds)}; Ctrl-C ends it")
            time.sleep(seconds)
        if options.if_fails and asyncio.run(_holds(options)):
            note(f"{number} of {options.times}: `{options.if_fails}` holds; nothing to do")
            continue
        note(f"{number} of {options.times}")
        code = run()
        if code in (STOPPED, USAGE):
            return code
    return code


def seconds_of(text: str) -> float:
    """Return a time such as 30s, 10m or 2h in seconds."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([smh]?)", text.strip())
    seconds = float(found[1]) * _UNITS[found[2]] if found else 0.0
    if not 0 < seconds <= _LONGEST:
        raise UsageError(f"--every takes a time up to 24h, such as 30s, 10m or 2h, not {text!r}.")
    return seconds


async def _holds(options: argparse.Namespace) -> bool:
    """Run the command that is watched, in the box of the project."""
    async with open_from(options, warn=False) as workspace:
        return (await workspace.run(options.if_fails)).exit_code == 0
