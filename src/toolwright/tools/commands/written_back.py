"""Hidden files that git has written anew: it wrote that they are hidden, and writes what it has once nobody looks."""

import shlex
from collections.abc import Iterable, Iterator
from pathlib import Path

from toolwright.definition import ToolContext
from toolwright.files.captured import Captured
from toolwright.files.paths import Tree
from toolwright.machine.plain_files import read_plain
from toolwright.process.box.access import Access
from toolwright.process.box.decoys import WORDS
from toolwright.process.jobs.jobs import Jobs
from toolwright.tools.commands.access import is_hidden_by

PATIENCE = 20.0
"""Seconds that git may take for it."""
MOST = 200
"""Files that are written back after one command."""


async def write_back(ctx: ToolContext, tree: Tree, captured: Captured) -> None:
    """Have git write the hidden files of the project that a command has made it write without their contents."""
    jobs = ctx.use(Jobs)
    if not jobs.sandbox.has_repository:
        return
    # Only by the project's own repository: the settings of another may be the command's, and name programs to run.
    paths = (path for path in _words_only(captured.places()) if path.is_relative_to(tree.root))
    hidden = [str(path.relative_to(tree.root)) for path in paths if is_hidden_by(ctx, tree, path)][:MOST]
    if not hidden:
        return
    command = shlex.join(["git", "checkout-index", "-f", "-u", "--", *hidden])
    box = await jobs.sandbox.box(Access(network=False, caches=False))
    job = await jobs.start(command, cwd=tree.root, box=box)
    try:
        await job.wait(PATIENCE)
    finally:
        await job.stop()


def _words_only(places: Iterable[Path]) -> Iterator[Path]:
    for place in places:
        try:
            if place.lstat().st_size == len(WORDS) and read_plain(place, len(WORDS)) == WORDS:
                yield place
        except OSError:
            continue
