"""A call as the person who decides about it is shown it: the whole of it, and what it was understood to do.

What a model wrote stands behind a bar, so that none of its lines can look like one of ours.
"""

import os
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolwright.config.places import find_root
from toolwright.display import visible
from toolwright.inbox import Question

if TYPE_CHECKING:
    from toolwright.shell.analysis import Analysis

LONGEST = 4_000
"""Characters of one argument that are shown; a command and a difference are always shown whole."""
NARROWEST = 40
WIDEST = 120
_BAR = "  │ "
_IN_DIFF = ("content", "oldString", "newString", "edits", "patchText")
"""Arguments that the difference shows better."""


def shown_call(question: Question, directory: Path, *, diff: bool = True, columns: int = 0) -> str:
    """Who wants to do what, with every argument, and what is asked for; the difference may be shown otherwise.

    The lines fit the terminal, unless something narrower is said.
    """
    lines = ["", *wrapped(_headline(question), "", columns)]
    command = question.arguments.get("command") if question.tool == "bash" else None
    if isinstance(command, str):
        lines += [*behind_bar(command, columns), *_understood(command, question, directory, columns)]
    else:
        lines += _arguments(question, columns)
    if diff and (text := question.metadata.get("diff")):
        lines += behind_bar(str(text).rstrip("\n"), columns)
    asked = ", ".join(_one_line(pattern) for pattern in question.patterns)
    lines += wrapped(f"asks for  {question.permission}: {asked}", "  ", columns)
    for reason in question.metadata.get("reasons", ()):
        lines += wrapped(_one_line(reason), "  ! ", columns)
    return "\n".join(lines)


def wrapped(text: str, indent: str, columns: int = 0) -> list[str]:
    """The text in lines that fit the terminal, broken between words; what follows the first is set in deeper."""
    import shutil

    deeper = " " * (len(indent) + 2) if indent != _BAR else f"{_BAR}    "
    width = max(NARROWEST, min(WIDEST, columns or shutil.get_terminal_size((100, 24)).columns))
    made = textwrap.wrap(
        text,
        width,
        initial_indent=indent,
        subsequent_indent=deeper,
        break_long_words=False,
        break_on_hyphens=False,
        replace_whitespace=False,
        drop_whitespace=True,
    )
    return made or [indent.rstrip()]


def behind_bar(text: str, columns: int = 0) -> list[str]:
    return [line for part in visible(text).split("\n") for line in wrapped(part.expandtabs(4), _BAR, columns)]


def _headline(question: Question) -> str:
    tool = _one_line(question.tool or question.permission)
    agent = f" by the agent {_one_line(question.agent)}" if question.agent else ""
    whom = f", a subagent of the session {question.callers[0]}" if question.callers else ""
    return f"Call of {tool}{agent}{whom}"


def _one_line(text: object) -> str:
    return visible(str(text), lines=False)


def _arguments(question: Question, columns: int) -> Iterator[str]:
    left_out = _IN_DIFF if question.metadata.get("diff") else ()
    for name, value in question.arguments.items():
        if name in left_out:
            continue
        text = value if isinstance(value, str) else _as_json(value)
        more = f" … ({len(text) - LONGEST} more characters)" if len(text) > LONGEST else ""
        yield from behind_bar(f"{name}: {text[:LONGEST]}{more}", columns)


def _as_json(value: Any) -> str:
    import json

    return json.dumps(value, ensure_ascii=False)


def _understood(command: str, question: Question, directory: Path, columns: int) -> Iterator[str]:
    """What the line runs, reads, writes and deletes, where it leaves the project, and whether it reaches others."""
    from toolwright.shell.analysis import analyse

    workdir = question.arguments.get("workdir")
    cwd = os.path.normpath(directory / workdir) if isinstance(workdir, str) else str(directory)
    if isinstance(workdir, str):
        yield from wrapped(_one_line(f"in        {cwd}"), "  ", columns)
    analysis = analyse(command, cwd=cwd, home=str(Path.home()))
    root = find_root(directory)
    yield from _listed("runs", _runs(analysis), columns)
    touched: Mapping[str, Sequence[str]] = {
        "reads": analysis.reads,
        "writes": analysis.writes,
        "deletes": analysis.deletes,
        "goes to": analysis.enters,
    }
    for name, paths in touched.items():
        places = [_place(analysis.spellings.get(path, path), directory, root) for path in paths]
        yield from _listed(name, places, columns)
    off = question.metadata.get("network") is False
    reached = ["none: the sandbox has switched it off"] if off else _reach(analysis)
    yield from _listed("network", reached, columns)
    if analysis.verdict != "understood":
        yield from wrapped("! not all of it could be understood", "  ", columns)


def _runs(analysis: "Analysis") -> list[str]:
    return list(dict.fromkeys(command.shown for command in analysis.commands))


def _reach(analysis: "Analysis") -> list[str]:
    from toolwright.shell.reach import reach_of

    reach = reach_of(analysis)
    perhaps = ["perhaps, by what could not be understood"] if analysis.verdict != "understood" else []
    perhaps += [f"perhaps, by {', '.join(reach.possible)}"] if reach.possible else []
    return [*reach.known, *perhaps] or ["none"]


def _place(path: str, directory: Path, root: Path) -> str:
    there = Path(os.path.realpath(path))
    if there.is_relative_to(root):
        return os.path.relpath(path, directory) if there.is_relative_to(directory) else path
    return f"{there}  (outside the project)"


def _listed(name: str, entries: Sequence[str], columns: int) -> Iterator[str]:
    for number, entry in enumerate(entries):
        yield from wrapped(f"{name if number == 0 else '':<10}{_one_line(entry)}", "  ", columns)
