"""Layout of a command's help: it fits the terminal and is the same with every version of Python."""

import argparse
import os
import textwrap
from collections.abc import Iterable
from functools import cache


class Layout(argparse.RawDescriptionHelpFormatter):
    """argparse's own layout, but for what its versions do differently."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=_width(os.environ.get("COLUMNS")))

    def _format_usage(
        self,
        usage: str | None,  # noqa: ARG002 - no command words its own
        actions: Iterable[argparse.Action],
        groups: Iterable[argparse._MutuallyExclusiveGroup],
        prefix: str | None,
    ) -> str:
        """The usage on one line, or broken between an option with its value and the next, and before the words."""
        visible_actions = [one for one in actions if one.help is not argparse.SUPPRESS]
        options = self._usage_of_options([one for one in visible_actions if one.option_strings], list(groups))
        words = [self._format_args(one, one.dest) for one in visible_actions if not one.option_strings]
        title = "usage: " if prefix is None else prefix
        begin, room = f"{title}{self._prog}", self._width - self._current_indent
        line = " ".join([begin, *options, *words])
        if len(line) <= room:
            return f"{line}\n\n"
        beside = len(begin) <= 0.75 * room
        indent = " " * (len(begin) + 1 if beside else len(title))
        lines = [*_broken(options, indent, room), *_broken(words, indent, room)]
        if beside:
            begin, lines = f"{begin} {lines[0].lstrip()}", lines[1:]
        return "\n".join([begin, *lines]) + "\n\n"

    def _usage_of_options(
        self, options: list[argparse.Action], groups: list[argparse._MutuallyExclusiveGroup]
    ) -> list[str]:
        pieces: dict[str, None] = {}
        for option in options:
            group = next((one for one in groups if option in one._group_actions), None)
            together = [option] if group is None else group._group_actions
            piece = " | ".join(map(self._usage_of_option, together))
            needed = option.required if group is None else group.required
            pieces[piece if needed else f"[{piece}]"] = None
        return list(pieces)

    def _usage_of_option(self, option: argparse.Action) -> str:
        name = option.option_strings[0]
        if option.nargs == 0:
            return option.format_usage()
        return f"{name} {self._format_args(option, self._get_default_metavar_for_optional(option))}"

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        if text.startswith("examples:"):
            return super()._fill_text(text, width, indent)
        paragraphs = (textwrap.fill(line, width) for line in text.splitlines())
        return "\n".join(paragraphs)

    def _format_action_invocation(self, action: argparse.Action) -> str:
        if not action.option_strings or action.nargs == 0:
            return super()._format_action_invocation(action)
        value = self._format_args(action, self._get_default_metavar_for_optional(action))
        return f"{', '.join(action.option_strings)} {value}"


@cache
def _width(_: str | None) -> int:
    """Asked once: argparse would ask the terminal anew for every option it is told of, and that takes time."""
    from shutil import get_terminal_size

    return min(100, get_terminal_size((100, 24)).columns)


def _broken(pieces: Iterable[str], indent: str, room: int) -> list[str]:
    """The pieces in lines, none of them in two."""
    lines: list[str] = []
    for piece in pieces:
        if lines and len(lines[-1]) + 1 + len(piece) <= room:
            lines[-1] += f" {piece}"
        else:
            lines.append(indent + piece)
    return lines
