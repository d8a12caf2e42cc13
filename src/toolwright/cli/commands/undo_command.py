"""tw undo: undo the changes of the last turn. The short form of `tw session revert last`."""

import argparse

from toolwright.cli.commands import session_command
from toolwright.cli.options import parser


def main(arguments: list[str]) -> int:
    _parser().parse_args(arguments)
    return session_command.main(["revert", "last", *arguments])


def _parser() -> argparse.ArgumentParser:
    root = parser(
        "undo",
        "Undoes the changes of the last turn of the last session: tw session revert last. Once more undoes"
        " the turn before. Where you have changed a file since, nothing is done. tw redo undoes it.",
        examples="  tw undo --preview\n  tw undo",
    )
    root.add_argument("--preview", action="store_true", help="only show what would happen, as a diff")
    return root
