"""tw logs: what was said and done in a run in the background."""

from toolwright.app.runs import Runs
from toolwright.cli.commands import session_command
from toolwright.cli.options import CommandParser, parser
from toolwright.machine.folders import Folders


def main(arguments: list[str]) -> int:
    options = _parser().parse_args(arguments)
    run = Runs.of(Folders.of()).named(options.run)
    more = ["--last", str(options.last)] if options.last else []
    return session_command.main(["show", run.session, *more, "--directory", run.directory])


def _parser() -> CommandParser:
    root = parser(
        "logs",
        "Show what was said and done in a run in the background so far. tw attach follows it.",
        examples="  tw logs quiet-heron\n  tw logs last --last 4",
    )
    root.add_argument("run", help="its name or id, or last; the beginning is enough")
    root.add_argument("--last", type=int, default=0, metavar="N", help="only the last N messages")
    return root
