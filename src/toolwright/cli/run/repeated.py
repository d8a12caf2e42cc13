"""tw run --every: the same prompt again and again, so many times, and only where something has become so if wished."""

import argparse
import asyncio
import time
from collections.abc import Callable

from toolwright.app.words import duration
from toolwright.cli.dispatch import DONE, STOPPED, USAGE
from toolwright.cli.options import note, open_from
from toolwright.errors import UsageError
from toolwright.session.turns.loops import LoopPlan, RoundTrigger, seconds_of


def run_every(options: argparse.Namespace, run: Callable[[], int]) -> int:
    """Run, wait, and run again; Ctrl-C ends it. What runs is told each time."""
    if options.session or options.interactive or options.output:
        raise UsageError("--every begins a session each time: leave out --session, --interactive and --output.")
    plan = LoopPlan(
        seconds=seconds_of(options.every),
        times=options.times,
        if_fails=options.if_fails,
        if_output=options.if_output,
        if_changed=options.if_changed,
    )
    watch, code = RoundTrigger(plan=plan), DONE
    for number in range(1, plan.times + 1):
        if number > 1:
            note(f"next in {duration(plan.seconds)}; Ctrl-C ends it")
            time.sleep(plan.seconds)
        if plan.condition and not asyncio.run(_is_due(options, watch)):
            note(f"{number} of {plan.times}: nothing to do; it runs {plan.condition}")
            continue
        note(f"{number} of {plan.times}")
        code = run()
        if code in (STOPPED, USAGE):
            return code
    return code


async def _is_due(options: argparse.Namespace, watch: RoundTrigger) -> bool:
    """Look at what is watched, in the box of the project."""
    async with open_from(options, warn=False) as workspace:
        return await watch.is_due(workspace)
