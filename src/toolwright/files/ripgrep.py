"""ripgrep: where its program is, how it is asked, how its answers are read."""

import os
import re
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from toolwright.errors import ToolError
from toolwright.files.query import COUNTED, LINES, Matches, PatternError, Query, SearchRun
from toolwright.process.running.child import Child

_CHUNK = 256 * 1024
_LONG_BLOCK = 1024 * 1024
_LONG_LINE = 8000
"""Bytes after which a line is cut; no less than what the 2000 characters shown of a line can take."""
_SHORT, _SHORT_ALONE = 0.005, 0.01
"""Seconds that a search of a small folder takes, with threads and without."""
_REMEMBERED = 1000
_GAP = re.compile(rb"\n\r?\n")
"""Between two files. With `--crlf` and a single thread it is a line end of that kind."""
_BINARY = b": WARNING: stopped searching binary file"


def find_ripgrep() -> str | None:
    """The program that was installed with this one. On the PATH another could lie in the project."""
    programs = (f"{folder}/rg" for folder in _installed())
    return next((program for program in programs if os.access(program, os.X_OK)), None)


def _installed() -> Iterator[str]:
    """Yield the folders of programs installed with this one. The first is mostly right, the second is slow."""
    yield os.path.dirname(sys.executable)  # noqa: PTH120 - text
    import sysconfig

    yield sysconfig.get_path("scripts")


class Ripgrep:
    """Asks ripgrep; one process for each search. To start threads takes longer than a small folder."""

    def __init__(self, program: str) -> None:
        self._program = program
        self.small: set[Path] = set()
        """Folders whose last search was so short that the next one does without threads."""

    def files(self, folder: Path, run: SearchRun, *, ignored: bool) -> Iterator[str]:
        rest = b""
        for chunk in self._output(["--files", "--null", *_scope(ignored=ignored), "./"], folder, run):
            *names, rest = (rest + chunk).split(b"\0")
            for name in names:
                yield os.fsdecode(name[2:])

    def matches(self, query: Query, run: SearchRun) -> Iterator[Matches]:
        arguments = [
            *("--heading", "--null", "--line-number", "--byte-offset", "--with-filename", "--color=never"),
            *(f"--max-count={COUNTED}", f"--max-columns={_LONG_LINE}", "--max-columns-preview"),
            *(["--crlf"] if query.crlf else []),
            *(["--fixed-strings"] if query.literal else []),
            *(f"--glob={glob}" for glob in query.include),
            *_scope(ignored=query.ignored),
            f"--regexp={query.pattern}",
            "./" if query.start == "." else f"./{query.start}",
        ]
        yield from _read_blocks(self._output(arguments, query.base, run, query.pattern))

    def _output(self, arguments: list[str], folder: Path, run: SearchRun, pattern: str = "") -> Iterator[bytes]:
        began = time.monotonic()
        process = self._start([*(["--threads=1"] if folder in self.small else []), *arguments], folder)
        with process, run.killing(process.kill):
            assert process.stdout is not None
            assert process.stderr is not None
            descriptor = process.stdout.fileno()
            while chunk := os.read(descriptor, _CHUNK):
                yield chunk
            self._note_time(folder, time.monotonic() - began)
            complaint = process.stderr.read().decode("utf-8", "replace")
            if process.wait() == 2 and not run.ended:
                if complaint:
                    raise _bad_pattern(complaint, pattern)
                run.skipped = True

    def _note_time(self, folder: Path, seconds: float) -> None:
        if seconds > (_SHORT_ALONE if folder in self.small else _SHORT):
            self.small.discard(folder)
        elif len(self.small) < _REMEMBERED:
            self.small.add(folder)

    def _start(self, arguments: list[str], folder: Path) -> Child:
        argv = [self._program, "--no-config", "--no-messages", "--no-ignore-messages", *arguments]
        try:
            return Child(argv, cwd=folder, at_once=True)
        except OSError as error:
            problem = f"Nothing can be searched: {self._program} could not be started ({error.strerror})."
            raise ToolError(f"{problem} Try again later, or use list and read.") from error


def _scope(*, ignored: bool) -> list[str]:
    """Hidden files are searched; git's own folder is not, whatever else was said."""
    return ["--hidden", *(["--no-ignore"] if ignored else []), "--glob=!.git"]


def _read_blocks(chunks: Iterable[bytes]) -> Iterator[Matches]:
    """`path NUL lines`, an empty line, the next. Only complete lines are counted and only the first ones kept."""
    path, head, counted, rest = b"", b"", 0, b""
    for chunk in chunks:
        *pieces, rest = (rest + chunk).split(b"\0")
        for piece in pieces:
            lines, following = _parted(piece) if path else (b"", piece)
            yield from _block(path, head, counted, lines)
            path, head, counted = following, b"", 0
        if path and len(rest) > _LONG_BLOCK and not _GAP.search(rest):
            lines, _, rest = rest.rpartition(b"\n")
            counted += lines.count(b"\n") + 1
            head = head or b"\n".join(lines.split(b"\n", LINES)[:LINES])
    yield from _block(path, head, counted, rest.removesuffix(b"\n"))


def _parted(piece: bytes) -> tuple[bytes, bytes]:
    """The lines of one file, and the path of the next."""
    gap = _GAP.search(piece)
    return (piece[: gap.start()], piece[gap.end() :]) if gap else (piece, b"")


def _block(path: bytes, head: bytes, counted: int, lines: bytes) -> Iterator[Matches]:
    """A file that turns out to be binary on the way is passed over like one that is so from the start."""
    if not path or lines[lines.rfind(b"\n") + 1 :].startswith(path + _BINARY):
        return
    count = counted + (lines.count(b"\n") + 1 if lines else 0)
    kept = head or lines if count <= LINES else b"\n".join((head or lines).split(b"\n", LINES)[:LINES])
    yield Matches(os.fsdecode(path[2:]), count, kept)


def _bad_pattern(complaint: str, pattern: str) -> PatternError:
    """ripgrep shows the pattern inside of `(?:` and `)`, and marks the place in the line below."""
    marked = re.search(r"^    \(\?:.*\n    ( *)\^", complaint, re.MULTILINE)
    reason = re.search(r"^error: (.*)", complaint, re.MULTILINE)
    message = reason[1] if reason else complaint.removeprefix("rg: ").strip().split("\n", 1)[0]
    at = len(marked[1]) - len("(?:") if marked else -1
    # Otherwise the mark is missing, or on the brackets that ripgrep itself has put around the pattern.
    return PatternError(message, at if 0 <= at < len(pattern) else None)
