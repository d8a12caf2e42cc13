"""tw copy: copies of the project to work in beside it: made, listed, entered, compared, kept, removed."""

import argparse
import asyncio
import os
import time
from pathlib import Path

from toolwright.cli.options import note, open_from, parser, print_json, print_table
from toolwright.cli.output import say
from toolwright.copies.life import drop_copy, make_copy
from toolwright.copies.store import Copies, Copy
from toolwright.errors import UsageError
from toolwright.process.running.child import run_at_terminal
from toolwright.protocols.json_types import Json
from toolwright.workspace import Workspace


def main(arguments: list[str]) -> int:
    options = _parser().parse_args(arguments)
    action = options.action or "list"
    if action != "list" and action != "create" and len(options.names) != 1 and action != "drop":
        raise UsageError(f"tw copy {action} takes the name of one copy; tw copy list names them.")
    return asyncio.run(_ACTIONS[action](options))


def _parser() -> argparse.ArgumentParser:
    root = parser(
        "copy",
        "Copies of the project as it is now, uncommitted, untracked and ignored files included, to work in beside it.\n"
        "The project itself is not touched before tw merge brings the work of a copy back.",
        examples="  tw copy create\n  tw run 'try another parser' --copy\n  tw copy diff quiet-heron\n"
        "  tw copy shell quiet-heron\n  tw copy keep quiet-heron --to ../parser\n  tw copy drop quiet-heron",
    )
    root.add_argument("action", nargs="?", choices=tuple(_ACTIONS), help="list, if left out")
    root.add_argument("names", nargs="*", metavar="COPY", help="which copy; the beginning of its name is enough")
    root.add_argument("--all", action="store_true", help="list: those of other projects too")
    root.add_argument("--stat", action="store_true", help="diff: which files have changed, and by how many lines")
    root.add_argument("--to", default="", metavar="DIR", help="keep: the folder that it becomes")
    root.add_argument("--force", action="store_true", help="drop: also work that is in no project")
    root.add_argument("--json", action="store_true", help="machine-readable")
    return root


async def _list(options: argparse.Namespace) -> int:
    async with open_from(options) as workspace:
        copies = Copies.of(workspace.folders).found(None if options.all else workspace.files.tree.root)
        if options.json:
            print_json([_as_json(one) for one in copies])
            return 0
        rows = [
            (one.name, _age(one), one.state, str(one.project) if options.all else "", one.purpose) for one in copies
        ]
        print_table([tuple(cell for cell in row if cell) for row in rows])
        if not copies:
            note("no copies; tw copy create makes one, and so does tw run --copy")
    return 0


async def _create(options: argparse.Namespace) -> int:
    async with open_from(options) as workspace:
        copy = await make_copy(workspace, " ".join(options.names))
        if options.json:
            print_json(_as_json(copy))
        else:
            say(copy.name)
            note(f"in {copy.folder}")
    return 0


async def _diff(options: argparse.Namespace) -> int:
    async with open_from(options) as workspace:
        copy = _named(workspace, options)
        text = await copy.diff(summary=options.stat)
        if text:
            say(text.rstrip("\n"), lines=True)
        else:
            note(f"nothing has changed in {copy.name}")
    return 0


async def _shell(options: argparse.Namespace) -> int:
    async with open_from(options) as workspace:
        copy = _named(workspace, options)
    note(f"{copy.name}, a copy of {copy.project}; exit leaves it")
    shell = os.environ.get("SHELL") or "/bin/sh"
    return run_at_terminal([shell], copy.folder, copy.variables)


async def _keep(options: argparse.Namespace) -> int:
    if not options.to:
        raise UsageError("Say which folder it becomes: tw copy keep NAME --to DIR.")
    target = Path(options.to)
    if os.path.lexists(target):
        raise UsageError(f"{target} is there already. Name a folder that is not.")
    async with open_from(options) as workspace:
        copy = _named(workspace, options)
        await Copies.of(workspace.folders).keep(copy, target)
        say(str(target))
    return 0


async def _drop(options: argparse.Namespace) -> int:
    async with open_from(options) as workspace:
        everything = Copies.of(workspace.folders)
        if not options.names:
            raise UsageError("Say which copies go; tw copy list names them.")
        copies = [everything.named(name, None if options.all else workspace.files.tree.root) for name in options.names]
        unmerged = [] if options.force else [one.name for one in copies if await one.has_unmerged_work()]
        if unmerged:
            raise UsageError(
                f"{', '.join(unmerged)}: what was done there is in no project. tw merge brings it back, tw copy diff"
                " shows it, --force removes it."
            )
        for copy in copies:
            if problem := await drop_copy(workspace, copy):
                note(f"copies.teardown: {problem}")
            note(f"{copy.name} is gone")
    return 0


def _named(workspace: Workspace, options: argparse.Namespace) -> Copy:
    return Copies.of(workspace.folders).named(options.names[0], None if options.all else workspace.files.tree.root)


def _age(copy: Copy) -> str:
    minutes = int(time.time() - copy.created / 1000) // 60
    if minutes < 60:
        return f"{minutes} min"
    return f"{minutes // 60} h" if minutes < 48 * 60 else f"{minutes // (24 * 60)} d"


def _as_json(copy: Copy) -> Json:
    known = {"name": copy.name, "project": str(copy.project), "folder": str(copy.folder), "made": copy.created}
    return known | {
        "number": copy.number,
        "state": copy.state,
        "purpose": copy.purpose,
        "variables": dict(copy.variables),
    }


_ACTIONS = {"list": _list, "create": _create, "diff": _diff, "shell": _shell, "keep": _keep, "drop": _drop}
