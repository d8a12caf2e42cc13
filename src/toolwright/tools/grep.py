"""The grep tool: lines by pattern, in the newest files first."""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

from toolwright.calls.look import Look
from toolwright.calls.request import Request
from toolwright.definition import ANY, Result, ToolContext, tool
from toolwright.errors import ToolError
from toolwright.files.folder import shown_path
from toolwright.files.globs import GlobError
from toolwright.files.names import missing_file
from toolwright.files.paths import Place
from toolwright.files.query import PatternError, Query
from toolwright.files.search import LIMIT, SECONDS, FileLines, LinesFound, find_lines
from toolwright.files.store import Files
from toolwright.functions.signature import Field

LENGTH = 10_000
"""Characters that a pattern may have."""
GENERAL_LIMIT = 50 * 1024
"""Bytes of output from which on the limits for all tools apply to this one too."""
_EVERYTHING = frozenset(("", "*", "**", "**/*"))


@tool(
    text="grep.md",
    known_as=("Grep",),
    in_a_word=("pattern", {}),
    unseen_changes=False,
    asks=True,
    reads=ANY,
    look=Look(verb="Search", kind="search", subject="pattern", place="path", act="search files for {something}"),
)
async def grep(
    ctx: ToolContext,
    pattern: Annotated[str, Field(schema={"minLength": 1})],
    path: Annotated[str | None, "The project folder if left out"] = None,
    include: str | None = None,
    literal: bool = False,
    ignored: bool = False,
) -> Result:
    """Ask, search, and show the lines of files that may be read."""
    tree = ctx.use(Files).tree
    place = tree.place(path or ".")
    arguments = {"pattern": pattern, "path": path, "include": include}
    metadata = {name: value for name, value in arguments.items() if value is not None}
    request = Request(permission="grep", patterns=(pattern,), metadata=metadata)
    await ctx.ask_all(request, *place.external(folder=not place.path.is_file()))
    _check(pattern, include or "", place)
    if not place.path.exists():
        return _result(pattern, LinesFound(), _heading(LinesFound()), str(missing_file(place)))
    query = _query(place, pattern, include or "", literal=literal, ignored=ignored)

    def readable(file: str) -> bool:
        return ctx.decide("read", tree.exactly(query.base / file).pattern) == "allow"

    try:
        result = await find_lines(query, readable=readable)
    except PatternError as error:
        raise _not_understood(pattern, error) from error
    except GlobError as error:
        return _result(pattern, LinesFound(), _heading(LinesFound()), f"(The include {include} is no glob: {error}.)")
    files = "\n\n".join(_shown_file(file, query, place) for file in result.files)
    return _result(pattern, result, f"{_heading(result)}\n{files}".rstrip("\n"), "\n".join(_notes(result, place)))


def _check(pattern: str, include: str, place: Place) -> None:
    for name, text in {"pattern": pattern, "include": include}.items():
        if len(text) > LENGTH:
            raise ToolError(f"The {name} has {len(text)} characters; at most {LENGTH} can be used.", "schema")
        if re.search("[\0\ud800-\udfff]", text):
            raise ToolError(f"The {name} {text!r} holds what cannot be looked for. Leave that character out.", "schema")
    if place.path.exists() and not (place.path.is_dir() or place.path.is_file()):
        raise ToolError(f"{place.path} is a device or a pipe. Name a folder or a file.", "binary")


def _query(place: Place, pattern: str, include: str, *, literal: bool, ignored: bool) -> Query:
    """Include patterns start from the folder opened if it holds what is searched, as well as from there."""
    folder = place.path if place.path.is_dir() else place.path.parent
    base = place.tree.directory if folder.is_relative_to(place.tree.directory) else folder
    start = place.path.relative_to(base).as_posix()
    globs = tuple(_globs(include, base, start))
    return Query(
        pattern=pattern,
        base=base,
        start=start,
        include=globs,
        literal=literal,
        ignored=ignored,
    )


def _globs(include: str, base: Path, start: str) -> Iterator[str]:
    sign = "!" if include.startswith("!") else ""
    glob = include.removeprefix("!").removeprefix("./").removeprefix(f"{base}/")
    if glob in _EVERYTHING:
        return
    yield sign + glob
    if start != "." and "/" in glob.rstrip("/") and not glob.startswith("**/"):
        yield f"{sign}{start}/{glob.removeprefix('/')}"


def _result(pattern: str, result: LinesFound, text: str, notes: str) -> Result:
    """The tool cuts its own output; only lines so long that they fill the general limit are left to that."""
    output = f"{text}\n\n{notes}" if notes else text
    truncated = result.total > result.shown or not result.exact
    return Result(
        output,
        title=pattern,
        metadata={"matches": result.shown, "truncated": truncated, "total": result.total},
        truncated=None if len(output.encode()) > GENERAL_LIMIT else truncated,
    )


def _heading(result: LinesFound) -> str:
    if not result.shown:
        return "No matches found"
    noun = "match" if result.shown == 1 else "matches"
    if result.total == result.shown and result.exact:
        return f"Found {result.shown} {noun}"
    return f"Found {result.shown} {noun} of {'' if result.exact else 'more than '}{result.total}"


def _shown_file(file: FileLines, query: Query, place: Place) -> str:
    inner = os.path.join(query.base, file.path).removeprefix(str(place.path))  # noqa: PTH118 - a hundred times a call
    lines = (f"  Line {number}: {text}" for number, text in file.lines)
    return "\n".join((f"{shown_path(str(place.name) + inner)}:", *lines))


def _notes(result: LinesFound, place: Place) -> Iterator[str]:
    if result.binary:
        yield f"({place.path} is a binary file; its lines cannot be shown.)"
    if result.withheld:
        files = "1 file" if result.withheld == 1 else f"{result.withheld} files"
        yield f"(Matches in {files} were left out: reading there is forbidden, or has to be asked for with read.)"
    if result.skipped:
        yield "(Some files or folders could not be read and were passed over.)"
    if not result.complete:
        yield f"(The search was stopped after {SECONDS} seconds. Narrow the pattern, the path or include.)"
    elif result.total > result.shown:
        yield f"(At most {LIMIT} lines are shown, from the newest files. Narrow the pattern, the path or include.)"


def _not_understood(pattern: str, error: PatternError) -> ToolError:
    where = "" if error.at is None else f", at character {error.at + 1} ({pattern[error.at : error.at + 20]!r})"
    return ToolError(
        f"{pattern!r} cannot be used as a regular expression: {error}{where}. "
        "Correct it, or set literal to true to find this text as it stands.",
        "schema",
    )
