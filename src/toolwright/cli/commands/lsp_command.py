"""tw lsp: the language servers for this project, what they find in files, and how to get one."""

import argparse
import asyncio
from functools import cache
from pathlib import Path
from typing import Any

from toolwright.app.words import plural
from toolwright.cli.options import note, open_from, parser, print_json, print_table, subcommand
from toolwright.cli.output import say
from toolwright.errors import ToolError
from toolwright.lsp.diagnostics import errors, report
from toolwright.lsp.languages import Languages
from toolwright.lsp.servers import LanguageServer, ServerMatch
from toolwright.lsp.watch import PACKAGES
from toolwright.workspace import Workspace

MOST = 200
"""Files that are checked when none is named."""
_ORDER = ("waits for trust", "not here", "not for this project")
"""The states that are listed last."""


def main(arguments: list[str]) -> int:
    options = _parser().parse_args(arguments)
    match options.action:
        case "check":
            return asyncio.run(_check(options))
        case "install":
            return _install(options)
        case _:
            return asyncio.run(_list(options))


def _parser() -> argparse.ArgumentParser:
    root = parser(
        "lsp",
        "The language servers: which are known, which are here, and what they find.",
        examples="  tw lsp\n  tw lsp --start\n  tw lsp check src/main.py\n  tw lsp install ty",
    )
    root.add_argument("--start", action="store_true", help="start those that are here, and tell their state and memory")
    root.add_argument("--json", action="store_true", help="machine-readable")
    actions = root.add_subparsers(dest="action", metavar="check|install")
    checking = subcommand(actions, "check", "The errors an agent would see")
    checking.add_argument(
        "files", nargs="*", default=[], metavar="FILE", help=f"or folder; of one the newest {MOST} files are checked"
    )
    checking.add_argument("--json", action="store_true", default=argparse.SUPPRESS, help="machine-readable")
    installing = subcommand(actions, "install", "Install a server from PyPI or npm into our own folder")
    installing.add_argument("name")
    return root


async def _list(options: argparse.Namespace) -> int:
    async with open_from(options) as workspace:
        languages = workspace.languages
        rows = [await _row(languages, server, start=options.start) for server in languages.finder.servers]
        if options.json:
            print_json(rows)
            return 0
        rows.sort(key=lambda row: _ORDER.index(row["state"]) if row["state"] in _ORDER else -1)
        print_table([(row["id"], row["state"], " ".join(row["extensions"][:4]), row["told"]) for row in rows])
        if workspace.settings.lsp is False:
            note('off: set "lsp": true in your settings to have errors told after each change')
    return 0


async def _row(languages: Languages, server: LanguageServer, *, start: bool) -> dict[str, Any]:
    finder = languages.finder
    sample = finder.sample(server)
    match = finder.locate(server, sample)
    row: dict[str, Any] = {"id": server.id, "extensions": [*server.extensions, *server.names], "root": None}
    if match is None or not match.there:
        if finder.waits_for_trust(server, sample):
            return {**row, "state": "waits for trust", "told": "may run code of the project; see tw trust"}
        there = finder.root(server, sample) is not None
        lacks = finder.lacks(server, sample) or (match.missing if match else "")
        return {**row, "state": "not here" if there else "not for this project", "told": lacks if there else ""}
    instead = next((one.server.id for one in finder.for_file(sample) if one.server.id in server.after), "")
    text = f"{match.argv[0]} ({instead} is taken instead)" if instead else match.argv[0]
    row |= {"root": str(match.root), "command": list(match.argv), "state": "here", "told": text}
    return row | (await _started(languages, match) if start else {})


async def _started(languages: Languages, match: ServerMatch) -> dict[str, Any]:
    try:
        client = await languages.pool.client(match)
    except ToolError as error:
        return {"state": "failed", "told": str(error)}
    memory = client.running.memory()
    size = f"{memory / 1024**2:.0f} MB" if memory else "memory unknown"
    return {"state": "running", "memory": memory, "told": f"{size}, root {match.root}, {match.argv[0]}"}


async def _check(options: argparse.Namespace) -> int:
    failed = False
    results = dict[str, Any]()
    async with open_from(options) as workspace:
        for path in await _files(workspace, options.files):
            try:
                diagnostics, problems = await workspace.languages.check(path)
            except ToolError as error:
                diagnostics, problems = (), [str(error)]
            wrong = errors(diagnostics)
            failed = failed or bool(wrong) or bool(problems)
            name = workspace.languages.name(path)
            results[name] = {"errors": [str(one) for one in wrong], "problems": problems}
            if not options.json:
                for text in ([report(name, wrong)] if wrong else []) + problems:
                    say(text, lines=True)
    if options.json:
        print_json(results)
    elif not failed:
        note(f"no errors in {plural(len(results), 'file')}")
    return 1 if failed else 0


async def _files(workspace: Workspace, names: list[str]) -> list[Path]:
    """The files that are named, and those of named folders that there is a server for."""
    tree = workspace.files.tree
    places = [tree.place(str(Path(name).absolute())).path for name in names] or [tree.directory]
    paths_by_place = [await _within(workspace, place) if place.is_dir() else [place] for place in places]
    return list(dict.fromkeys(path for paths in paths_by_place for path in paths))


async def _within(workspace: Workspace, folder: Path) -> list[Path]:
    """The newest files of a folder that there is a server for, but for what is installed there."""
    from toolwright.files.search import find_files

    finder = workspace.languages.finder
    waiting = set[str]()

    @cache
    def is_checked(place: Path, ending: str) -> bool:
        path = place / f"any{ending}"
        waiting.update(one.id for one in finder.fitting(path.name) if finder.waits_for_trust(one, path))
        return bool(finder.for_file(path))

    def wanted(name: str) -> bool:
        path = folder / name
        if set(PACKAGES) & set(path.relative_to(folder).parts) or not finder.fitting(path.name):
            return False
        return is_checked(path.parent, path.suffix) if path.suffix else bool(finder.for_file(path))

    every = await find_files(folder, "", wanted=wanted, limit=MOST)
    if every.total > len(every.paths):
        note(f"only the newest {len(every.paths)} of {every.total} files are checked")
    if waiting:
        note(f"not asked until the project is trusted (tw trust): {', '.join(sorted(waiting))}")
    return [folder / name for name in every.paths]


def _install(options: argparse.Namespace) -> int:
    from toolwright.extensions.programs import installed_servers
    from toolwright.lsp.install import install

    workspace = open_from(options)
    say(install(options.name, installed_servers(workspace.folders.data), workspace.lookup, workspace.environment))
    return 0
