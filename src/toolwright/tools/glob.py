"""The glob tool: files by name, the newest first."""

import os
from pathlib import Path
from typing import Annotated

from toolwright.calls.look import Look
from toolwright.calls.request import Request
from toolwright.definition import ANY, Result, ToolContext, tool
from toolwright.files.folder import require_folder, shown_path
from toolwright.files.globs import GlobError
from toolwright.files.paths import Place
from toolwright.files.search import LIMIT, SECONDS, FilesFound, find_files
from toolwright.files.store import Files
from toolwright.record import record
from toolwright.tools._shown_names import ShownNames


@tool(
    text="glob.md",
    known_as=("Glob",),
    in_a_word=("pattern", {}),
    unseen_changes=False,
    asks=True,
    reads=ANY,
    look=Look(verb="Find files", kind="search", subject="pattern", place="path", act="look for {files}"),
)
async def glob(
    ctx: ToolContext,
    pattern: str,
    path: Annotated[str | None, "The project folder if left out"] = None,
    ignored: bool = False,
) -> Result:
    """Ask, search, and show what was found; where nothing was, say what may have been meant."""
    tree = ctx.use(Files).tree
    place = tree.place(path or ".")
    arguments = {"pattern": pattern, "path": path}
    metadata = {name: value for name, value in arguments.items() if value is not None}
    request = Request(permission="glob", patterns=(pattern,), metadata=metadata)
    await ctx.ask_all(request, *place.external(folder=True))
    folder = require_folder(place)
    search = _Search(folder, ShownNames(ctx, tree), ignored)
    wanted = pattern.removeprefix("./")
    try:
        result = await search.files(wanted)
    except GlobError as error:
        return _result(place, _NOTHING, f"The pattern {pattern} is no glob: {error}. Escape the character with \\.")
    note = _note(result) if result.paths or not result.complete else await _hint(place, wanted, search)
    # Nothing of what was left out: whether there is a name that fits is not to be learned either.
    return _result(place, result, note)


@record(frozen=True, slots=True)
class _Search:
    """Searches in a folder for the names that may be shown."""

    folder: Path
    shown: ShownNames
    ignored: bool

    async def files(self, pattern: str) -> FilesFound:
        top = str(self.folder).rstrip("/")
        return await find_files(
            self.folder, pattern, ignored=self.ignored, shown=lambda path: self.shown(f"{top}/{path}")
        )


_NOTHING = FilesFound(paths=(), total=0, complete=True)


def _result(place: Place, result: FilesFound, note: str) -> Result:
    listed = "\n".join(shown_path(str(place.name / path)) for path in result.paths) or "No files found"
    count, truncated = len(result.paths), result.total > len(result.paths) or not result.complete
    return Result(
        f"{listed}\n\n({note})" if note else listed,
        title=place.relative,
        metadata={"count": count, "truncated": truncated, "total": result.total},
        truncated=truncated,
    )


def _note(result: FilesFound) -> str:
    if not result.complete:
        return (
            f"The search was stopped after {SECONDS} seconds, so files may be missing. Narrow the pattern or the path."
        )
    if result.total > LIMIT:
        return f"These are the newest {LIMIT} of {result.total} files. Narrow the pattern or the path to see others."
    return ""


async def _hint(place: Place, pattern: str, search: _Search) -> str:
    """Why a pattern may have found nothing although the files are there."""
    folder = place.path
    if pattern.startswith(f"{folder}/"):
        return await _relative_hint(pattern.removeprefix(f"{folder}/"), search)
    if ".." in pattern.split("/"):
        return "A pattern cannot lead out of the folder searched; set path to the folder meant."
    name = pattern.strip("/")
    if name and os.path.isdir(folder / name):  # noqa: PTH112 - of a name that cannot be one it says no
        return f"{name} is a folder; {name}/** names the files in it."
    if not search.ignored:
        return "Ignored files were left out; set ignored to true to find them."
    return ""


async def _relative_hint(pattern: str, search: _Search) -> str:
    """A leading slash means the top of the folder searched, so that a whole path in a pattern names nothing."""
    folder, result = search.folder, await search.files(pattern)
    if not result.paths:
        return f"Patterns start from {folder}; {pattern} finds nothing there either."
    files = "\n".join(f"  {shown_path(path)}" for path in result.paths)
    return f"Patterns start from {folder}. There {pattern} finds {result.total}, newest first:\n{files}"
