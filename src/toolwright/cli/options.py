"""The options that commands share, and the workspace they describe."""

import argparse
import json
import math
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from toolwright.cli.argv import action_first, close, nearest, options_first
from toolwright.cli.help_layout import Layout
from toolwright.cli.output import say, say_json
from toolwright.errors import ToolError, UsageError
from toolwright.protocols.json_text import read_json
from toolwright.text.display import visible

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from toolwright.definition import Tool
    from toolwright.inbox import Answerer
    from toolwright.services import Delegation
    from toolwright.session.session import Session
    from toolwright.session.subagents.subagents import ElsewhereSession
    from toolwright.workspace import Workspace


Number = TypeVar("Number", int, float)


class CommandParser(argparse.ArgumentParser):
    """argparse that takes options and words in any order, and complains the way the rest of the program does."""

    free_words = False
    """True if the words are another program's, so that options we do not have are among them."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.register("action", None, _Last)
        self.register("action", "store", _Last)
        self.color = False
        """From Python 3.14 on, argparse would colour some of its words and not ours."""

    def parse_known_args(self, args: Iterable[str] | None = None, namespace: Any = None) -> tuple[Any, list[str]]:
        arguments = list(args or ())
        if self._subparsers is not None:
            return super().parse_known_args(self._with_action(arguments), namespace)
        parsed, unknown = super().parse_known_args(options_first(self, arguments, free=self.free_words), namespace)
        if unknown:
            self.error(self._no_such(unknown))
        return parsed, []

    def _with_action(self, arguments: Sequence[str]) -> list[str]:
        """Without one of its actions a command says which there are; with one it does not have, the nearest too."""
        group = next(one for one in self._actions if isinstance(one, argparse._SubParsersAction))
        known = [str(name) for name in group.choices]
        ordered = action_first(self, arguments, known)
        checked = options_first(self, ordered)
        words = checked[checked.index("--") + 1 :] if "--" in checked else []
        if words and words[0] not in known:
            near = close(words[0], known)
            advice = f"did you mean {self.prog} {near}?" if near else f"there are: {', '.join(known)}"
            self.error(f"there is no {self.prog} {words[0]}; {advice}")
        if not words and group.required and not {"-h", "--help"} & set(checked):
            self.error(f"say what to do: {', '.join(known)}, as in {self.prog} {known[0]}")
        return ordered

    def _no_such(self, unknown: Sequence[str]) -> str:
        option = next((one for one in unknown if one.startswith("-") and one != "--"), "")
        if not option:
            return f"unexpected: {' '.join(one for one in unknown if one != '--')}"
        near = nearest(self, option)
        if near:
            return f"there is no option {option}; did you mean {near}?"
        many = any(action.nargs == "*" for action in self._get_positional_actions())
        return f"there is no option {option}" + (
            "; put words that begin with - into quotes with the rest" if many else ""
        )

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message}{'' if message.endswith('?') else '.'} See {self.prog} --help.")


class _Last(argparse._StoreAction):
    """An option of which the last counts; who gives two is told."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, value: Any, name: Any = None
    ) -> None:
        earlier = getattr(namespace, self.dest, self.default)
        if name and earlier is not self.default and earlier != value:
            note(f"{name} is given twice; {value} counts, {earlier} does not")
        super().__call__(parser, namespace, value, name)


def parser(command: str, description: str, *, examples: str = "") -> CommandParser:
    root = CommandParser(
        prog=f"tw {command}",
        description=description,
        epilog=f"examples:\n{examples}" if examples else None,
        formatter_class=Layout,
    )
    add_common(root)
    return root


def add_common(root: argparse.ArgumentParser) -> None:
    root.add_argument("--directory", metavar="DIR", default=argparse.SUPPRESS, help="work on this folder")
    root.add_argument("--trust", action="store_true", default=argparse.SUPPRESS, help="trust the project for this once")
    root.add_argument("--pure", action="store_true", default=argparse.SUPPRESS, help="without plugins")


def positive(number: type[Number]) -> Callable[[str], Number]:
    """A number above nothing, for argparse."""

    def read(text: str) -> Number:
        value = number(text)
        if not 0 < value < math.inf:
            raise argparse.ArgumentTypeError(f"{text} is not above 0")
        return value

    read.__name__ = number.__name__
    return read


def port(text: str) -> int:
    """The number of a port, for argparse; 0 is any."""
    number = int(text)
    if not 0 <= number < 1 << 16:
        raise argparse.ArgumentTypeError(f"{text} is not between 0 and 65535")
    return number


def subcommand(group: Any, name: str, text: str, *, as_json: bool = False) -> CommandParser:
    """A sub-command that takes the common options too, wherever they stand, and `--json` if it has that."""
    sub: CommandParser = group.add_parser(name, help=text, description=text, formatter_class=Layout)
    add_common(sub)
    if as_json:
        sub.add_argument("--json", action="store_true", help="machine-readable")
    return sub


def open_from(
    options: argparse.Namespace,
    *,
    answer: "Answerer | None" = None,
    keep: bool = False,
    warn: bool = True,
    tools: "Sequence[Tool]" = (),
) -> "Workspace":
    """The workspace that the options describe. What is odd in the settings is told by the commands that use them."""
    from toolwright.workspace import Workspace

    workspace = Workspace(
        Path(getattr(options, "directory", ".")),
        answer=answer,
        trust=getattr(options, "trust", False),
        client="cli",
        keep=keep,
        pure=getattr(options, "pure", False),
        tools=tools,
    )
    for warning in workspace.config.warnings if warn else ():
        note(f"warning: {warning}")
    answer_plugins(workspace)
    let_copies_be_made(workspace)
    if workspace.settings.telemetry or workspace.environment.get("OTEL_EXPORTER_OTLP_ENDPOINT"):
        _trace(workspace)
    return workspace


def answer_plugins(workspace: "Workspace") -> None:
    """Have what plugins ask by their client answered. Most never do, and then nothing of the server is loaded."""

    async def first(name: str, query: Mapping[str, Any]) -> dict[str, Any]:
        try:
            from toolwright.server.inside import answers_of
        except ImportError as error:
            raise ToolError("A plugin's client needs pip install 'toolwright[server]'.", "missing") from error
        workspace.requests = answers_of(workspace)
        return await workspace.requests(name, query)

    workspace.requests = first


def let_copies_be_made(workspace: "Workspace") -> None:
    """Let agents hand work to others in copies. Most never do, and then nothing of that is loaded."""

    def first(parent: "Session", task: "Delegation") -> "AbstractAsyncContextManager[ElsewhereSession]":
        from toolwright.copies.handing import CopyWork

        workspace.elsewhere = CopyWork(workspace).begin
        return workspace.elsewhere(parent, task)

    workspace.elsewhere = first


def _trace(workspace: "Workspace") -> None:
    try:
        from toolwright.telemetry import join

        join(workspace, workspace.environment)
    except ImportError:
        note("warning: traces are asked for, but OpenTelemetry is not installed: pip install 'toolwright[otel]'")


def add_tunnel(to: argparse.ArgumentParser) -> None:
    """Add the option for ports that are reached by way of another machine."""
    to.add_argument(
        "--tunnel",
        action="store_true",
        help="let in programs that cannot be looked into, such as a tunnel of ssh, if they bring the secret",
    )


def split_model(text: str) -> tuple[str, str]:
    """`provider/model` in two; the model's own name may hold further slashes."""
    provider, slash, model = text.partition("/")
    if text and not (slash and provider and model):
        raise UsageError(f"--model takes provider/model, not {text!r}.")
    return provider, model


def json_object(text: str, what: str) -> dict[str, Any]:
    try:
        value = read_json(text)
    except ValueError as error:
        raise UsageError(f"{what} must be a JSON object in quotes, but: {error}.") from error
    if not isinstance(value, dict):
        raise UsageError(f"{what} must be a JSON object, not {text[:60]!r}.")
    return value


def exit_code(error: ToolError | None, kind: str | None = None) -> int:
    """Return the exit code that tells a script of a call's outcome."""
    from toolwright.cli.dispatch import DONE, FAILED, REFUSED, STOPPED

    kind = error.kind if error is not None else kind
    if kind is None:
        return DONE
    if kind in ("denied", "rejected"):
        return REFUSED
    return STOPPED if kind in ("aborted", "timeout") else FAILED


def server_address(text: str) -> str:
    """The address of a server as it was given, if it is one."""
    if not text.startswith(("http://", "https://")):
        raise UsageError(f"{text!r} is no address of a server: it must begin with http:// or https://.")
    return text


def print_json(value: Any) -> None:
    say_json(json.dumps(value, indent=2, ensure_ascii=False))


def print_table(rows: Sequence[tuple[str, ...]]) -> None:
    """Columns as wide as they must be, the last as it comes."""
    rows = [tuple(visible(cell, lines=False) for cell in row) for row in rows]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]) - 1)] if rows else []
    for row in rows:
        say("  ".join([*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), row[-1]]).rstrip())


def note(text: str) -> None:
    say(text, lines=True, to=sys.stderr)
