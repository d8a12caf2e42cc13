"""tw gc: what is kept, how much room it takes, and old things removed."""

import argparse
import asyncio
import os
from pathlib import Path

from toolwright.calls.truncate import KEPT_DAYS
from toolwright.cli.options import note, open_from, parser, print_json, print_table
from toolwright.errors import UsageError
from toolwright.text.ids import now
from toolwright.workspace import Workspace

DAYS = 90
"""Age at which a session is removed that nobody goes back to."""
_DAY = 24 * 3600 * 1000


def main(arguments: list[str]) -> int:
    options = _parser().parse_args(arguments)
    if options.days < 1:
        raise UsageError("--days must be 1 or more.")
    return asyncio.run(_run(options))


def _parser() -> argparse.ArgumentParser:
    root = parser(
        "gc",
        f"Removes sessions that were not used for {DAYS} days, long outputs older than {KEPT_DAYS} days, and what undo"
        " keeps beyond its cap; then tells how much room is taken.",
        examples="  tw gc --dry-run\n  tw gc --days 30",
    )
    root.add_argument("--days", type=int, default=DAYS, help="how old a session may be")
    root.add_argument("--dry-run", action="store_true", help="only tell")
    root.add_argument("--json", action="store_true", help="machine-readable")
    return root


async def _run(options: argparse.Namespace) -> int:
    workspace = open_from(options, keep=True, warn=False)
    try:
        removed = 0 if options.dry_run else await _clean(workspace, options.days)
        sizes = await _sizes(workspace)
    finally:
        await workspace.close()
    if options.json:
        print_json({"sessionsRemoved": removed, "bytes": sizes})
    else:
        print_table([(name, f"{size / 1_000_000:.1f} MB") for name, size in sizes.items()])
        note("nothing was removed" if options.dry_run else f"{removed} sessions removed")
    return 0


async def _clean(workspace: Workspace, days: int) -> int:
    removed = await workspace.sessions.collect(now() - days * _DAY)
    workspace.files.journal.sweep()
    workspace.files.journal.prune()
    workspace.truncator.remove_old()
    return len(removed)


async def _sizes(workspace: Workspace) -> dict[str, int]:
    data = workspace.folders.data
    return {
        "sessions": await workspace.store.size(),
        "long outputs": _size(workspace.folders.tool_output),
        "undo": _size(data / "undo"),
        "all": _size(data),
    }


def _size(folder: Path) -> int:
    total = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            try:
                total += Path(parent, name).lstat().st_size
            except FileNotFoundError:
                continue
    return total
