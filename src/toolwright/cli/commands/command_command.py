"""tw command: the commands there are."""

import argparse
import asyncio

from toolwright.cli.actions.with_extensions import join
from toolwright.cli.options import note, open_from, parser, print_json, print_table, subcommand
from toolwright.commands import Command
from toolwright.protocols.json_types import Json


def main(arguments: list[str]) -> int:
    return asyncio.run(_list(_parser().parse_args(arguments)))


async def _list(options: argparse.Namespace) -> int:
    workspace = open_from(options)
    commands = workspace.commands
    await join(workspace)
    all_commands = commands.all()
    if options.json:
        print_json(list(map(_as_json, all_commands)))
    else:
        print_table(
            [(one.name, one.description or one.template.strip().partition("\n")[0][:80]) for one in all_commands]
        )
    for problem in commands.problems:
        note(f"warning: a command is left out. {problem}")
    return 0


def _as_json(command: Command) -> Json:
    return {
        "name": command.name,
        "description": command.description,
        "agent": command.agent or None,
        "model": command.model or None,
        "subtask": command.subtask,
        "hints": command.hints,
        "origin": command.origin,
    }


def _parser() -> argparse.ArgumentParser:
    root = parser(
        "command",
        "Commands are prompts with a name: command/*.md beside the settings, or `command` in them.",
        examples="  tw command list\n  tw run --command review main",
    )
    group = root.add_subparsers(dest="action", required=True, metavar="list")
    subcommand(group, "list", "the commands there are", as_json=True)
    return root
