"""Cutting a long output down to what a model should read, and keeping the whole in a file it can go to."""

import hashlib
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import field, replace
from pathlib import Path
from typing import Literal

from toolwright.definition import Result, Tool, ToolContext
from toolwright.machine.private_files import make_folder
from toolwright.record import record
from toolwright.text.ids import new_id

Direction = Literal["head", "tail", "both"]

MAX_LINES = 2000
MAX_BYTES = 50 * 1024
KEPT_DAYS = 7
CAP = 256 * 1024 * 1024
"""Bytes of long outputs that are kept; the oldest go first."""
FILE_PREFIX = "tool_"


@record(frozen=True, slots=True, kw_only=True)
class OutputLimits:
    """Limits of the output a model is shown, and from which end."""

    max_lines: int = MAX_LINES
    max_bytes: int = MAX_BYTES
    direction: Direction | None = None
    """None leaves it to the tool's own usual way, which is the head for most."""


@record(frozen=True, slots=True, kw_only=True)
class Cut:
    """A text that was too long: what is kept of its head and its tail, and how much is not shown."""

    head: str
    tail: str
    removed: int
    unit: Literal["lines", "bytes"]


def cut(text: str, limits: OutputLimits) -> Cut | None:
    """The text within the limits, in whole lines; None if it is within them already."""
    size = _size(text)
    lines = text.count("\n") + 1
    if lines <= limits.max_lines and size <= limits.max_bytes:
        return None
    head = tail = ""
    match limits.direction or "head":
        case "tail":
            tail, by_bytes = _tail(text, limits.max_lines, limits.max_bytes)
        case "both" if limits.max_lines > 1:
            head, tail, by_bytes = _both(text, limits.max_lines, limits.max_bytes)
        case _:
            head, by_bytes = _head(text, limits.max_lines, limits.max_bytes)
    by_bytes = by_bytes or lines <= limits.max_lines
    removed = size - _size(head) - _size(tail) if by_bytes else lines - limits.max_lines
    return Cut(head=head, tail=tail, removed=removed, unit="bytes" if by_bytes else "lines")


def _size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def _both(text: str, max_lines: int, max_bytes: int) -> tuple[str, str, bool]:
    head, head_by_bytes = _head(text, max_lines // 2, max_bytes // 2)
    rest = text[len(head) :].removeprefix("\n")
    tail, tail_by_bytes = _tail(rest, max_lines - max_lines // 2, max_bytes - max_bytes // 2)
    return head, tail, head_by_bytes or tail_by_bytes


def _head(text: str, max_lines: int, max_bytes: int) -> tuple[str, bool]:
    """As many whole lines from the start as fit, and whether it was the bytes that stopped it.

    Of a first line that is too long, as much of it as fits.
    """
    end = _nth_line_end(text, max_lines)
    if _size(text[:end]) <= max_bytes:
        return text[:end], False
    piece = _first_bytes(text, max_bytes)
    if text[len(piece)] == "\n":
        return piece, True
    whole = piece.rfind("\n")
    return piece[:whole] if whole >= 0 else piece, True


def _tail(text: str, max_lines: int, max_bytes: int) -> tuple[str, bool]:
    """As many whole lines from the end as fit; of a last line that is too long, as much of its end as fits."""
    start = _nth_line_start_from_end(text, max_lines)
    if _size(text[start:]) <= max_bytes:
        return text[start:], False
    piece = _last_bytes(text, max_bytes)
    if text[len(text) - len(piece) - 1] == "\n":
        return piece, True
    whole = piece.find("\n")
    return piece[whole + 1 :] if 0 <= whole < len(piece) - 1 else piece, True


def _nth_line_end(text: str, lines: int) -> int:
    end = -1
    for _ in range(lines):
        end = text.find("\n", end + 1)
        if end < 0:
            return len(text)
    return end


def _nth_line_start_from_end(text: str, lines: int) -> int:
    start = len(text)
    for _ in range(lines):
        start = text.rfind("\n", 0, start)
        if start < 0:
            return 0
    return start + 1


def _first_bytes(text: str, count: int) -> str:
    """The longest beginning within so many bytes; no character is cut."""
    data = text[:count].encode("utf-8", "surrogatepass")
    end = min(count, len(data))
    while end < len(data) and _is_inside_character(data[end]):
        end -= 1
    return data[:end].decode("utf-8", "surrogatepass")


def _last_bytes(text: str, count: int) -> str:
    data = text[-count:].encode("utf-8", "surrogatepass") if count else b""
    start = max(len(data) - count, 0)
    while start < len(data) and _is_inside_character(data[start]):
        start += 1
    return data[start:].decode("utf-8", "surrogatepass")


def _is_inside_character(byte: int) -> bool:
    return byte & 0xC0 == 0x80


@record(frozen=True, slots=True, kw_only=True)
class Truncator:
    """Cuts results and keeps the whole texts in a folder that every agent of the project may read."""

    folder: Path
    everything: Path | None = None
    """The folder around it, with those of all projects: age and room are looked at in all of them together."""
    limits: OutputLimits = OutputLimits()
    by_agent: Mapping[str, OutputLimits] = field(default_factory=dict[str, OutputLimits])
    by_tool: Mapping[str, OutputLimits] = field(default_factory=dict[str, OutputLimits])

    def limits_for(self, tool: str, agent: str, keep: Direction = "head") -> OutputLimits:
        limits = self.by_tool.get(tool) or self.by_agent.get(agent) or self.limits
        return limits if limits.direction else replace(limits, direction=keep)

    def apply(self, result: Result, tool: Tool, ctx: ToolContext) -> Result:
        """The result as the model should get it; what a tool has truncated itself is left alone."""
        if result.truncated is not None:
            if result.metadata.get("truncated") is result.truncated:
                return result
            return replace(result, metadata=result.metadata | {"truncated": result.truncated})
        piece = cut(result.output, self.limits_for(tool.id, ctx.agent, tool.keep))
        if piece is None and result.error is not None:
            return result
        if piece is None:
            return replace(result, metadata=result.metadata | {"truncated": False}, truncated=False)
        path = self.keep(result.output, ctx.session_id)
        return replace(
            result,
            output=shown(piece, path, ctx.offered, _SUCCESS if result.error is None else _FAILURE),
            metadata=result.metadata | {"truncated": True, "outputPath": str(path)},
            truncated=True,
        )

    def keep(self, text: str, session_id: str = "") -> Path:
        """Write the whole text to a new overflow file."""
        path = self.new_file(session_id)
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8", errors="surrogatepass", newline="") as file:
            file.write(text)
        return path

    def new_file(self, session_id: str = "") -> Path:
        """The name of an overflow file that does not exist yet; later ones sort after earlier ones."""
        make_folder(self.folder)
        self._make_room()
        return self.folder / f"{new_id(FILE_PREFIX.rstrip('_'))}{_mark_of(session_id)}"

    def forget(self, session_id: str) -> None:
        """Delete the overflow files of a session that was deleted."""
        for path, _ in self._outputs():
            if session_id and path.name.endswith(_mark_of(session_id)):
                path.unlink(missing_ok=True)

    def remove_old(self) -> int:
        """Delete overflow files that nobody has written for a week; the number that went."""
        oldest = time.time() - KEPT_DAYS * 24 * 3600
        removed = 0
        for path, status in self._outputs():
            if status.st_mtime < oldest:
                path.unlink(missing_ok=True)
                removed += 1
                with suppress(OSError):
                    path.parent.rmdir()
        return removed

    def _make_room(self) -> None:
        """Delete the oldest beyond the cap."""
        room = CAP
        for path, status in sorted(self._outputs(), key=lambda output: output[1].st_mtime, reverse=True):
            room -= status.st_size
            if room < 0:
                path.unlink(missing_ok=True)

    def _outputs(self) -> Iterator[tuple[Path, os.stat_result]]:
        """Yield the files of all projects, and those of versions that kept them all in one folder."""
        top = self.everything or self.folder
        folders = [top, *(Path(entry.path) for entry in _entries(top) if entry.is_dir(follow_symlinks=False))]
        for entry in (entry for folder in folders for entry in _entries(folder)):
            if entry.name.startswith(FILE_PREFIX):
                with suppress(FileNotFoundError):
                    yield Path(entry.path), entry.stat(follow_symlinks=False)


def _entries(folder: Path) -> "list[os.DirEntry[str]]":
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []


def _mark_of(session_id: str) -> str:
    """Ends the names of a session's files, so that they can go with it."""
    return hashlib.sha256(os.fsencode(session_id)).hexdigest()[:12] if session_id else ""


_SUCCESS = "The call succeeded, but its output"
_FAILURE = "The call failed, and its message"


def shown(piece: Cut, path: Path, offered: Sequence[str], what: str = _SUCCESS) -> str:
    """Return the text in place of the whole: the kept ends, how much is missing, and how to get at it."""
    saved = f"{what} was too long to show whole. All of it is in {path}."
    note = f"...{piece.removed} {piece.unit} truncated...\n\n{_hint(saved, offered)}"
    return "\n\n".join(part for part in (piece.head, note, piece.tail) if part)


def _hint(saved: str, offered: Sequence[str]) -> str:
    """The way to the rest, naming only tools this agent has."""
    if "task" in offered:
        return (
            f"{saved} Hand that file to the explore agent with the task tool, to search it and report what matters;"
            " do not read it all yourself."
        )
    ways = [way for tool, way in _WAYS.items() if tool in offered]
    return f"{saved} {' or '.join(ways).capitalize()}." if ways else saved


_WAYS = {
    "grep": "use grep on it for what you are after",
    "read": "read it piece by piece with offset and limit",
}
