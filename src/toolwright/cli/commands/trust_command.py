"""tw trust: let a project's own rules and code take effect, see what that is, or withdraw it."""

import argparse
import asyncio
import os
from pathlib import Path

from toolwright.cli.actions.plugin_packages import look_at
from toolwright.cli.options import note, parser, print_json
from toolwright.cli.output import say
from toolwright.config.content import UNREADABLE, TrustedContent, content_of
from toolwright.config.load import check_managed
from toolwright.config.places import find_root
from toolwright.config.starts import starts_of
from toolwright.config.trust import Trust, TrustChange
from toolwright.errors import ToolwrightError, UsageError
from toolwright.extensions.imports import imported_code
from toolwright.machine.folders import Folders
from toolwright.text.diff import unified
from toolwright.workspace import Workspace

NOT_TRUSTED = 1


def main(arguments: list[str]) -> int:
    options = _parser().parse_args(arguments)
    folders = Folders.of().ready()
    check_managed(os.environ)
    trust = Trust(folders.trust)
    directory = Path(getattr(options, "directory", ".")).resolve()
    if options.list:
        return _list(trust)
    if options.remove:
        root = find_root(directory)
        note(f"{root} is no longer trusted" if trust.remove(root) else f"{root} was not trusted")
        return 0
    if not directory.is_dir():
        raise UsageError(f"{directory} is not a folder. Name the folder of the project with --directory.")
    root = find_root(directory)
    if options.check:
        return _check(trust, content_of(directory, folders, trust.imported(root)), options.json)
    _refuse_in_a_box()
    imported = [*asyncio.run(_imported(directory)), *trust.wanted(root)]
    code = _add(trust, content_of(directory, folders, imported))
    asyncio.run(_packages(directory))
    return code


async def _packages(directory: Path) -> None:
    """Say which packages the project's plugins are, and hold them to that."""
    try:
        workspace = Workspace(directory, trust=True, client="cli", pure=True)
    except ToolwrightError:
        return
    try:
        await look_at(workspace)
    finally:
        await workspace.close()


async def _imported(directory: Path) -> list[str]:
    """Return what the project's own code imports of it, which is looked at as well."""
    try:
        workspace = Workspace(directory, trust=True, client="cli", pure=True)
    except ToolwrightError as error:
        note(f"what its code imports is not known: {error}")
        return []
    try:
        imported, problems = await imported_code(workspace.config, workspace.folders, workspace.hosts)
    finally:
        await workspace.close()
    for problem in problems:
        note(f"what it imports is not known: {problem}")
    return imported


def _list(trust: Trust) -> int:
    for known in trust.roots():
        say(known, lines=True)
    if not trust.roots():
        note("no projects are trusted")
    return 0


def _check(trust: Trust, content: TrustedContent, as_json: bool) -> int:
    trusted = trust.includes(content)
    changes = trust.changes(content)
    if as_json:
        print_json({"trusted": trusted, "root": str(content.root), "changed": [change.name for change in changes]})
    elif not trusted:
        _show_changes(trust, content, changes)
        note(f"{content.root} is not trusted")
    return 0 if trusted else NOT_TRUSTED


def _add(trust: Trust, content: TrustedContent) -> int:
    unreadable = [name for name, file in content.files.items() if file.hash == UNREADABLE]
    if unreadable:
        raise UsageError(f"{content.root / unreadable[0]} cannot be read, so it cannot be trusted. Remove it first.")
    if trust.includes(content):
        note(f"{content.root} is trusted already, and nothing has changed")
        return 0
    _show_changes(trust, content, trust.changes(content))
    trust.add(content)
    note(f"{content.root} is trusted: its permission rules may allow, not only forbid, and its own code may run")
    return 0


def _refuse_in_a_box() -> None:
    if os.environ.get("TOOLWRIGHT_SANDBOX"):
        raise UsageError("A command in the sandbox cannot trust a project. Run tw trust yourself.")


def _show_changes(trust: Trust, content: TrustedContent, changes: list[TrustChange]) -> None:
    if not trust.knows(content.root):
        for name, file in content.files.items():
            kind = "imported" if name in content.imported else "active"
            say(f"{kind}  {name}  ({len(file.content)} bytes)")
            for line in starts_of(name, file.content):
                say(f"        {line}")
        if not content.files:
            say("nothing in this project needs trust so far")
        return
    for change in changes:
        kind = "new" if change.before is None else "gone" if change.after is None else "changed"
        say(f"{kind:<8}{change.name}")
        say(unified(change.name, change.before or "", change.after or ""), lines=True)


def _parser() -> argparse.ArgumentParser:
    root = parser(
        "trust",
        "A project you have not trusted may forbid things but not allow them, and none of its code is run.\n"
        "Trust is for what it brings as it is now: if that changes, tw trust shows how and you decide again.",
        examples="  tw trust\n  tw trust --check\n  tw trust --remove",
    )
    root.add_argument("--check", action="store_true", help="say whether the project is trusted as it is: exit 0 or 1")
    root.add_argument("--json", action="store_true", help="with --check: the answer as JSON")
    root.add_argument("--remove", action="store_true", help="trust it no longer")
    root.add_argument("--list", action="store_true", help="the projects you trust")
    return root
