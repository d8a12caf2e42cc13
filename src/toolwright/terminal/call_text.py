"""A call as the person who decides about it is shown it: the whole of it, and what it was understood to do.

What a model wrote stands behind a bar, so that none of its lines can look like one of ours.
"""

import os
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolwright.config.places import find_root
from toolwright.inbox import Question
from toolwright.text.display import visible

if TYPE_CHECKING:
    from toolwright.shell.analysis.analysis import Analysis

LONGEST = 4_000
"""Characters of one argument that are shown; a command and a difference are always shown whole."""
NARROWEST = 40
WIDEST = 120
_BAR = "  │ "
_IN_DIFF = ("content", "oldString", "newString", "edits", "patchText")
"""Arguments that the difference shows better."""


def shown_call(question: Question, directory: Path, *, diff: bool = True, columns: int = 0) -> str:
    """Return who wants to do what, with every argument, and what is asked for; the difference may be left out.

    The lines fit the terminal, unless something narrower is said.
    """
    lines = ["", *wrapped(headline_of(question, directory), "", columns)]
    difference = str(question.metadata.get("diff") or "") if diff else ""
    return "\n".join([*lines, *understood(question, directory, columns, difference)])


def understood(question: Question, directory: Path, columns: int = 0, diff: str = "") -> list[str]:
    """The call with every argument, what it was understood to do, and what to look at twice."""
    lines = call_lines(question, columns)
    if diff:
        lines += behind_bar(diff.rstrip("\n"), columns)
    for name, entries in facts(question, directory):
        lines += listed(name, entries, columns)
    return [*lines, *warnings(question, columns)]


def headline_of(question: Question, directory: Path) -> str:
    """Return in one line who wants to do what."""
    from toolwright.app.shown import wish  # not needed until something is asked

    whom = f", a subagent of the session {question.callers[0]}" if question.callers else ""
    whom = f" ({question.name}, in the background)" if question.name else whom
    return _one_line(f"{question.agent or 'The agent'}{whom} wants to {wish(question, str(directory))}")


def call_lines(question: Question, columns: int = 0, headed: str = "") -> list[str]:
    """The command, or every argument that nothing shows better: neither the difference nor the headline above it."""
    command = command_of(question)
    return list(_arguments(question, columns, headed)) if command is None else behind_bar(command, columns)


def warnings(question: Question, columns: int = 0) -> list[str]:
    """Return the lines that deserve a second look."""
    reasons = (*question.metadata.get("acts", ()), *question.metadata.get("reasons", ()))
    return [line for reason in reasons for line in wrapped(_one_line(reason), "  ! ", columns)]


def command_of(question: Question) -> str | None:
    from toolwright.app.shown import Looks

    command = question.arguments.get("command")
    is_run = Looks(directory="").look(question.tool).kind == "execute"
    return command if is_run and isinstance(command, str) else None


def facts(question: Question, directory: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield what the call does as far as it is understood, by kind: what it runs, reads, changes and reaches."""
    command = command_of(question)
    known: set[str] = set()
    if command is not None:
        for name, entries in _understood(command, question, directory):
            known.update(entries)
            yield name, entries
    for permission, patterns in ((question.permission, question.patterns), *_also(question)):
        if permission == "external_directory":
            yield "outside", [*patterns]
        elif permission == "network":
            yield "reaches", ["any host, for nothing here holds it to some" if one == "*" else one for one in patterns]
        elif permission == "edit" and command is not None:
            # What is seen only once the command is at work stands on no line of it.
            yield "changes", [one for one in patterns if one not in known]
        elif command is None and permission != question.tool and not question.metadata.get("diff"):
            yield "asks for", [f"{permission}: {', '.join(patterns)}"]


def wrapped(text: str, indent: str, columns: int = 0) -> list[str]:
    """The text in lines that fit the terminal, broken between words; what follows the first is set in deeper."""
    import shutil

    deeper = " " * (len(indent) + 2) if indent != _BAR else f"{_BAR}    "
    width = max(NARROWEST, min(WIDEST, columns or shutil.get_terminal_size((100, 24)).columns))
    lines = textwrap.wrap(
        text,
        width,
        initial_indent=indent,
        subsequent_indent=deeper,
        break_long_words=False,
        break_on_hyphens=False,
        replace_whitespace=False,
        drop_whitespace=True,
    )
    return lines or [indent.rstrip()]


def behind_bar(text: str, columns: int = 0) -> list[str]:
    return [line for part in visible(text).split("\n") for line in wrapped(part.expandtabs(4), _BAR, columns)]


def _also(question: Question) -> Iterator[tuple[str, tuple[str, ...]]]:
    for need in question.also:
        yield need.permission, need.patterns


def _one_line(text: object) -> str:
    return visible(str(text), lines=False)


def _arguments(question: Question, columns: int, headed: str) -> Iterator[str]:
    left_out = _IN_DIFF if question.metadata.get("diff") else ()
    for name, value in question.arguments.items():
        if name in left_out or (isinstance(value, str) and headed.endswith(f" {value}")):
            continue
        text = value if isinstance(value, str) else _as_json(value)
        more = f" … ({len(text) - LONGEST} more characters)" if len(text) > LONGEST else ""
        yield from behind_bar(f"{name}: {text[:LONGEST]}{more}", columns)


def _as_json(value: Any) -> str:
    import json

    return json.dumps(value, ensure_ascii=False)


def _understood(command: str, question: Question, directory: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield what the line runs, reads, writes and deletes, where it leaves the project, and if it reaches others."""
    from toolwright.shell.analysis.analysis import analyse

    workdir = question.arguments.get("workdir")
    cwd = os.path.normpath(directory / workdir) if isinstance(workdir, str) else str(directory)
    if isinstance(workdir, str):
        yield "in", [cwd]
    analysis = analyse(command, cwd=cwd, home=str(Path.home()))
    root = find_root(directory)
    yield "runs", _runs(analysis)
    touched: Mapping[str, Sequence[str]] = {
        "reads": analysis.paths("read", "take", "carry"),
        "writes": analysis.paths("write"),
        "deletes": analysis.paths("delete"),
        "goes to": analysis.paths("enter"),
    }
    for name, paths in touched.items():
        yield name, [_place(analysis.shown(path), directory, root) for path in paths]
    off = question.metadata.get("network") is False
    yield "network", ["none: the sandbox has switched it off"] if off else _reach(analysis)
    if analysis.verdict != "understood" and not question.metadata.get("reasons"):
        yield "unclear", ["not all of it could be understood"]


def _runs(analysis: "Analysis") -> list[str]:
    return list(dict.fromkeys(command.shown for command in analysis.commands))


def _reach(analysis: "Analysis") -> list[str]:
    from toolwright.shell.analysis.reach import reach_of

    reach = reach_of(analysis)
    perhaps = [*reach.possible, *(["what was not understood"] if analysis.verdict != "understood" else [])]
    return [*reach.known, *([f"{' or '.join(perhaps)} could use it"] if perhaps else [])] or ["none"]


def _place(path: str, directory: Path, root: Path) -> str:
    there = Path(os.path.realpath(path))
    if there.is_relative_to(root):
        return os.path.relpath(path, directory) if there.is_relative_to(directory) else path
    return f"{there}  (outside the project)"


def listed(name: str, entries: Sequence[str], columns: int) -> Iterator[str]:
    for number, entry in enumerate(entries):
        yield from wrapped(f"{name if number == 0 else '':<10}{_one_line(entry)}", "  ", columns)
