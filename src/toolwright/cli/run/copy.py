"""tw run --copy: the whole run happens in a copy of the project, which stays for tw merge."""

import argparse
import asyncio
from collections.abc import Callable

from toolwright.app.words import plural
from toolwright.cli.options import note, open_from
from toolwright.copies.life import drop_copy, inside, make_copy
from toolwright.copies.store import Copy
from toolwright.errors import UsageError


def run_in_copy(options: argparse.Namespace, run: Callable[[], int]) -> int:
    """Make a copy of the project, run there, and say what has become of it. One without changes goes again."""
    if options.attach or options.session or options.go_on:
        raise UsageError("--copy begins anew in a copy on this machine: leave out --attach, --session and --continue.")
    options_for_end = {name: getattr(options, name) for name in ("directory", "trust") if name in options}
    copy = asyncio.run(_begin(options))
    note(f"in the copy {copy.name}")
    try:
        return run()
    finally:
        asyncio.run(_end(copy, argparse.Namespace(**options_for_end)))


async def _begin(options: argparse.Namespace) -> Copy:
    async with open_from(options, warn=False) as workspace:
        copy = await make_copy(workspace, " ".join(options.prompt))
        # What is trusted was copied just now; whoever opens the copy later looks at it anew.
        options.trust = workspace.trusted
        options.directory = str(inside(copy, workspace))
    return copy


async def _end(copy: Copy, options: argparse.Namespace) -> None:
    paths = await copy.changed()
    if not paths:
        async with open_from(options, warn=False) as workspace:
            if problem := await drop_copy(workspace, copy):
                note(f"copies.teardown: {problem}")
        note(f"nothing has changed in {copy.name}, and it is gone again")
        return
    note(f"{plural(len(paths), 'file')} changed in {copy.name}: tw copy diff {copy.name}, tw merge {copy.name}")
