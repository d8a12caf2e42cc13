"""tw chat, and tw alone on a terminal: the conversation with an agent."""

import argparse
import os
import sys
from importlib.util import find_spec

from toolwright.cli.options import parser
from toolwright.errors import UsageError
from toolwright.terminal.typed import is_terminal


def main(arguments: list[str]) -> int:
    return converse(_parser().parse_args(arguments))


def converse(options: argparse.Namespace) -> int:
    """Talk until the person leaves, in lines or on the full screen."""
    if not (is_terminal(sys.stdin) and is_terminal(sys.stdout)):
        raise UsageError("The conversation needs a terminal. Use tw run 'prompt' in scripts and pipes.")
    if options.session and options.go_on:
        raise UsageError("--session and --continue both say which session; give one of them.")
    if options.plain or not _can_draw():
        from toolwright.cli.conversation.line_chat import talk_in_lines

        return talk_in_lines(options)
    from toolwright.cli.conversation.full_screen import talk_on_full_screen

    return talk_on_full_screen(options)


def _can_draw() -> bool:
    """Tell if there is a terminal that can be drawn on, and the library that draws."""
    return os.environ.get("TERM", "") not in ("dumb", "") and find_spec("textual") is not None


def _parser() -> argparse.ArgumentParser:
    root = parser(
        "chat",
        "Talk with an agent about this folder. tw alone opens it too, and tw 'prompt' begins with a prompt.",
        examples=(
            "  tw\n"
            "  tw 'why does test_login fail?'\n"
            "  tw --continue\n"
            "  tw --session last --agent plan --model anthropic/claude-sonnet-5-5"
        ),
    )
    root.add_argument("prompt", nargs="*", default=[], help="what to begin with")
    add_options(root)
    return root


def add_options(root: argparse.ArgumentParser) -> None:
    """Add the options that every conversation takes, wherever the agent works."""
    root.add_argument("--agent", default="", help="the agent to talk with (build)")
    root.add_argument("--model", "-m", default="", metavar="P/M", help="the model to use")
    root.add_argument("--continue", "-c", dest="go_on", action="store_true", help="go on with the last session")
    root.add_argument("--session", "-s", default="", metavar="ID", help="go on with this session: id, words or last")
    root.add_argument("--inline", action="store_true", help="at the foot of the terminal, which scrolls as usual")
    root.add_argument("--plain", action="store_true", help="lines only, instead of the full screen")
