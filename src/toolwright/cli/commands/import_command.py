"""tw import: the permissions of another program as rules of ours, with what of them means something else here."""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolwright.app.words import plural
from toolwright.cli.actions.settings_file import settings_file, write_setting
from toolwright.cli.options import note, open_from, parser, print_json
from toolwright.cli.output import say_json
from toolwright.config.places import between
from toolwright.errors import UsageError
from toolwright.text.display import visible

if TYPE_CHECKING:
    from toolwright.config.foreign.converted import Converted
    from toolwright.workspace import Workspace

PROGRAMS = ("claude", "codex", "gemini")


def main(arguments: list[str]) -> int:
    import asyncio

    return asyncio.run(_run(_parser().parse_args(arguments)))


def _parser() -> argparse.ArgumentParser:
    root = parser(
        "import",
        "The permissions of another program, yours and this project's, as rules of ours on stdout, and what of them"
        " means something else here on stderr.",
        examples="  tw import claude\n  tw import codex --write\n  tw import gemini --write --user",
    )
    root.add_argument("program", choices=PROGRAMS, help="whose: claude, codex or gemini")
    root.add_argument("--write", action="store_true", help="write them into the project's settings, under permission")
    root.add_argument("--user", action="store_true", help="only yours, not the project's; with --write into yours")
    root.add_argument("--json", action="store_true", help="rules and notes as one object")
    return root


async def _run(options: argparse.Namespace) -> int:
    workspace = open_from(options, warn=False)
    try:
        files, converted = _converted(workspace, options)
    finally:
        await workspace.close()
    if not files:
        raise UsageError(f"There are no permissions of {options.program} here, nor in your home.")
    rules = list(converted.rules)
    if options.json:
        notes = [{"piece": one.piece, "change": one.change, "reason": one.reason} for one in converted.notes]
        print_json({"files": list(map(str, files)), "permission": rules, "notes": notes})
        return 0
    if options.write:
        file = settings_file(workspace, user=options.user)
        write_setting(file, "permission", lambda present: _laid_over(rules, present), "Write them by hand.")
        note(f"{plural(len(rules), 'rule')} of {plural(len(files), 'file')} written to {file}")
    else:
        lines = ",\n".join(f"    {json.dumps(one, ensure_ascii=False)}" for one in rules)
        say_json(f'{{\n  "permission": [\n{lines}\n  ]\n}}')
    for change in converted.notes:
        note(visible(f"{change}", lines=False))
    if not converted.notes:
        note("every rule means the same here")
    return 0


def _converted(workspace: "Workspace", options: argparse.Namespace) -> "tuple[Sequence[Path], Converted]":
    from toolwright.config.foreign.permissions import SETUPS

    setup, home = SETUPS[options.program], workspace.folders.home
    user = setup.files(home, home=True)
    folders = [] if options.user else between(workspace.config.root, workspace.directory)
    project = [file for folder in folders if folder != home for file in setup.files(folder, home=False)]
    return (*user, *project), setup.convert(user, project, sorted(workspace.settings.mcp), True)


def _laid_over(rules: list[Any], present: Any) -> Any:
    """The rules that are there stay the stronger."""
    if present is None:
        return rules
    if isinstance(present, list):
        return [*rules, *present]
    if not isinstance(present, dict):
        raise ValueError("its permission is one word for everything")
    own = [
        {"action": permission, "resource": pattern, "effect": effect}
        for permission, said in present.items()
        for pattern, effect in (said.items() if isinstance(said, dict) else [("*", said)])
    ]
    return [*rules, *own]
