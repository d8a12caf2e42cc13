"""The options that commands share, and the workspace they describe."""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

from toolwright.display import visible, visible_json
from toolwright.errors import ToolError, UsageError
from toolwright.inbox import Answerer
from toolwright.jsontext import read_json
from toolwright.workspace import Workspace


class Parser(argparse.ArgumentParser):
    """argparse that complains the way the rest of the program does."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message}. See {self.prog} --help.")


class Layout(argparse.RawDescriptionHelpFormatter):
    """Help at a fixed width: argparse asks the terminal anew for every option it is told of, and that takes time."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=100)


def parser(command: str, description: str, *, examples: str = "") -> Parser:
    made = Parser(
        prog=f"tw {command}",
        description=description,
        epilog=f"examples:\n{examples}" if examples else None,
        formatter_class=Layout,
    )
    add_common(made)
    return made


def add_common(made: argparse.ArgumentParser) -> None:
    made.add_argument("--directory", metavar="DIR", default=argparse.SUPPRESS, help="work on this folder")
    made.add_argument("--trust", action="store_true", default=argparse.SUPPRESS, help="trust the project for this once")


def subcommand(group: Any, name: str, text: str) -> argparse.ArgumentParser:
    """A sub-command that takes the common options too, wherever they stand."""
    made: argparse.ArgumentParser = group.add_parser(name, help=text, description=text, formatter_class=Layout)
    add_common(made)
    return made


def open_from(options: argparse.Namespace, *, answer: Answerer | None = None, keep: bool = False) -> Workspace:
    workspace = Workspace(
        Path(getattr(options, "directory", ".")),
        answer=answer,
        trust=getattr(options, "trust", False),
        client="cli",
        keep=keep,
    )
    for warning in workspace.config.warnings:
        note(f"warning: {warning}")
    if workspace.settings.telemetry or workspace.environment.get("OTEL_EXPORTER_OTLP_ENDPOINT"):
        _trace(workspace)
    return workspace


def _trace(workspace: Workspace) -> None:
    try:
        from toolwright.telemetry import join

        join(workspace, workspace.environment)
    except ImportError:
        note("warning: traces are asked for, but OpenTelemetry is not installed: pip install 'toolwright[otel]'")


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
    """What a call's outcome means to a script."""
    from toolwright.cli.dispatch import DONE, FAILED, REFUSED, STOPPED

    kind = error.kind if error is not None else kind
    if kind is None:
        return DONE
    if kind in ("denied", "rejected"):
        return REFUSED
    return STOPPED if kind in ("aborted", "timeout") else FAILED


def print_json(value: Any) -> None:
    print(visible_json(json.dumps(value, indent=2, ensure_ascii=False)))


def print_table(rows: Sequence[tuple[str, ...]]) -> None:
    """Columns as wide as they must be, the last as it comes."""
    rows = [tuple(visible(cell, lines=False) for cell in row) for row in rows]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]) - 1)] if rows else []
    for row in rows:
        print("  ".join([*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), row[-1]]).rstrip())


def note(text: str) -> None:
    print(visible(text), file=sys.stderr)
