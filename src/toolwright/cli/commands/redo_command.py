"""tw redo: undo the last undo. The short form of `tw session unrevert last`."""

import argparse

from toolwright.cli.commands import session_command
from toolwright.cli.options import parser


def main(arguments: list[str]) -> int:
    _parser().parse_args(arguments)
    return session_command.main(["unrevert", "last", *arguments])


def _parser() -> argparse.ArgumentParser:
    return parser(
        "redo",
        "Undoes the last undo of the last session: tw session unrevert last. Once more undoes the one before it.",
        examples="  tw redo",
    )
