"""The trees of the recorded search rows, laid out with their times, and what the search tools say of them."""

import os
import re
from pathlib import Path
from typing import Any

from tests.files.tool_case import ToolCase, lay_out
from toolwright.definition import Result
from toolwright.protocols.json_types import Json

START = 1_700_000_000


def lay_out_row(case: ToolCase, row: Json) -> None:
    """The files of a row with the times that decide their order, in a work tree without commits."""
    git = {"HEAD": "ref: refs/heads/main\n", "config": "[core]\n\trepositoryformatversion = 0\n\tbare = false\n"}
    lay_out(case.project / ".git", {**git, "objects/": None, "refs/heads/": None})
    files = row["files"]
    if "pattern" in files:
        _lay_out_numbered(case.project, files)
        return
    lay_out(case.project, files)
    for name, seconds in (row.get("mtimes") or {}).items():
        os.utime(case.project / name, (seconds, seconds))


def lay_out_dated(folder: Path, files: Json) -> None:
    """The files, each a minute newer than the one before."""
    lay_out(folder, files)
    for number, name in enumerate(files):
        os.utime(folder / name, (START + 60 * number,) * 2)


def arguments_of(row: Json, case: ToolCase) -> Json:
    return {
        name: value.replace("{project}", str(case.project)) if isinstance(value, str) else value
        for name, value in row["args"].items()
    }


def names_in(result: Result, case: ToolCase) -> list[str]:
    """The paths a glob shows, relative to the project."""
    return [os.path.relpath(line, case.project) for line in result.output.splitlines() if line.startswith("/")]


def groups_in(result: Result, case: ToolCase) -> list[list[Any]]:
    """What a grep shows: files relative to the project, each with its numbered lines."""
    groups: list[list[Any]] = []
    for line in result.output.split("\n"):
        if found := re.fullmatch(r"  Line (\d+): (.*)", line):
            groups[-1][1].append([int(found[1]), found[2]])
        elif line.startswith("/"):
            groups.append([os.path.relpath(line.removesuffix(":"), case.project), []])
    return groups


def entries_in(result: Result) -> list[list[Any]]:
    """What a list shows: depth and name."""
    tree, _, _ = result.output.partition("\n\n")
    _, *lines = tree.split("\n")
    return [[(len(line) - len(line.lstrip(" "))) // 2, line.lstrip(" ")] for line in lines]


def _lay_out_numbered(project: Path, files: Json) -> None:
    first, last = map(int, re.findall(r"\d+", files["pattern"])[:2])
    for number in range(first, last + 1):
        path = project / re.sub(r"\{.*\}", f"{number:03d}", files["pattern"])
        path.write_text(files["content"].replace("{n}", str(number)))
        os.utime(path, (START + 60 * number,) * 2)
