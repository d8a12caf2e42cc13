"""tw attach: the conversation with a project on a server; with a prompt, the same as tw run --attach."""

import argparse
import os
import sys

from toolwright.cli.commands.chat_command import add_options, converse
from toolwright.cli.options import CommandParser, parser
from toolwright.errors import UsageError
from toolwright.terminal.typed import is_terminal


def main(arguments: list[str]) -> int:
    options = _parser().parse_args(arguments)
    if "://" not in options.url:
        _attach_to_run(options)
    if not options.prompt and is_terminal(sys.stdin) and is_terminal(sys.stdout):
        if options.yes or options.no:
            raise UsageError("--yes and --no answer for a prompt that is given here; in a conversation you are asked.")
        return converse(options)
    from toolwright.cli.commands import run_command

    return run_command.main([*_run_arguments(options), "--", *options.prompt])


def _attach_to_run(options: argparse.Namespace) -> None:
    """Mean the user's own server, and the session of a run there."""
    from toolwright.app.own_server import ensure
    from toolwright.app.runs import Runs
    from toolwright.machine.folders import Folders

    if options.session or options.go_on:
        raise UsageError("A run is a session already: leave out --session and --continue.")
    run = Runs.of(Folders.of()).named(options.url)
    options.url, options.session, options.directory = ensure(os.environ), run.session, run.directory


def _run_arguments(options: argparse.Namespace) -> list[str]:
    """Return the arguments of tw run that mean the same."""
    return [
        *("--attach", options.url),
        *(("--session", options.session) if options.session else ()),
        *(("--continue",) if options.go_on else ()),
        *(("--agent", options.agent) if options.agent else ()),
        *(("--model", options.model) if options.model else ()),
        *(("--directory", options.directory) if hasattr(options, "directory") else ()),
        *(("--yes",) if options.yes else ()),
        *(("--no",) if options.no else ()),
    ]


def _parser() -> CommandParser:
    root = parser(
        "attach",
        "Talk with a run in the background (tw ps), or with an agent on a server that runs elsewhere (tw serve). The "
        "secret of your own server on this machine is found by itself; else put it into the address, or into "
        "OPENCODE_SERVER_PASSWORD. With a prompt it answers that one and ends, as tw run --attach does, which has more "
        "options.",
        examples="  tw attach quiet-heron\n  tw attach http://127.0.0.1:4096\n"
        "  tw attach http://127.0.0.1:4096 'why does test_login fail?'",
    )
    root.add_argument("url", metavar="RUN|URL", help="the name of a run, or the address of a server")
    root.add_argument("prompt", nargs="*", default=[], help="what you want; what is piped in is added to it")
    add_options(root)
    root.add_argument("--yes", action="store_true", help="allow whatever is asked (what a rule denies stays denied)")
    root.add_argument("--no", action="store_true", help="refuse whatever is asked")
    return root
