"""The manual page of tw, made of what each command says of itself."""

import argparse
from collections.abc import Iterator
from importlib import import_module

from toolwright.cli import COMMANDS, HELP
from toolwright.version import VERSION


def manual_page() -> str:
    """Return the page as troff, for man(1)."""
    about, _, rest = HELP.partition("\n\n")
    name, _, what = about.partition(": ")
    codes = rest.rpartition("exit codes: ")[2].strip()
    lines = [
        f'.TH TW 1 "" "{name} {VERSION}" "User Commands"',
        ".SH NAME",
        f"tw \\- {_plain(what)}",
        ".SH SYNOPSIS",
        ".B tw\n[\\fIPROMPT\\fR]",
        ".br",
        ".B tw\n\\fICOMMAND\\fR [\\fIOPTIONS\\fR]",
        ".SH DESCRIPTION",
        "Without a command tw talks with an agent about the folder you are in.",
        ".SH COMMANDS",
        *(f".TP\n.B tw {command}\n{_plain(text)}." for command, text in COMMANDS.items()),
    ]
    for command in COMMANDS:
        lines += _section(f"tw {command}", import_module(f"toolwright.cli.commands.{command}_command")._parser())
    lines += [".SH EXIT STATUS", _plain(codes), ".SH SEE ALSO", "tw COMMAND \\-\\-help has examples for each command."]
    return "\n".join(lines) + "\n"


def _section(name: str, own_parser: argparse.ArgumentParser) -> Iterator[str]:
    yield f'.SH "{name.upper()}"'
    yield _plain(own_parser.description or "")
    yield from _options(own_parser)
    for action in own_parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name_of_action, below in action.choices.items():
                yield f'.SS "{name} {name_of_action}"'
                yield _plain(below.description or "")
                yield from _options(below)


def _options(own_parser: argparse.ArgumentParser) -> Iterator[str]:
    """The options of a command, but for those that all have."""
    for action in own_parser._actions:
        if isinstance(action, argparse._SubParsersAction) or action.help in (None, argparse.SUPPRESS):
            continue
        if {"--help", "--directory", "--trust", "--pure"} & set(action.option_strings):
            continue
        value = "" if action.nargs == 0 else f" {action.metavar or action.dest.upper()}"
        names = (
            ", ".join(action.option_strings) + value if action.option_strings else f"{action.metavar or action.dest}"
        )
        yield f".TP\n.B {_plain(names)}\n{_plain(str(action.help).replace('%%', '%'))}"


def _plain(text: str) -> str:
    """A text in which nothing is a request to troff."""
    safe = text.replace("\\", "\\e").replace("-", "\\-")
    return "\n".join(f"\\&{line}" if line[:1] in (".", "'") else line for line in safe.splitlines())
