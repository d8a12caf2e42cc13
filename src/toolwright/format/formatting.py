"""Formatting a file that was just changed: in a scope, within a time limit, with what a formatter must not change."""

import asyncio
import codecs
import os
import secrets
import stat
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import BinaryIO

from toolwright.errors import ToolError
from toolwright.files.attributes import Attributes
from toolwright.files.store import Commit
from toolwright.files.text import decode
from toolwright.format.registry import Chooser, Wanted
from toolwright.process.output import Output, OutputReader
from toolwright.process.scope import Program, Scopes
from toolwright.record import record

MARKS = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
LARGEST = 64 * 1024 * 1024
"""Bytes that a file may have once it is formatted."""
_TOLD = 600
"""Characters told of what a failing formatter printed."""


class Formatters:
    """One for each workspace."""

    def __init__(
        self, chooser: Chooser, scopes: Scopes, environment: Mapping[str, str], *, new_file: Callable[[], Path]
    ) -> None:
        """`new_file` names a file for a long output."""
        self.chooser = chooser
        self._scopes = scopes
        self._environment = environment
        self._new_file = new_file

    async def committed(self, commit: Commit) -> str | None:
        """Format a file; what became of it, if there is anything to say."""
        if not isinstance(commit.after, bytes):
            return None
        remarks = list[str]()
        for wanted in self.chooser.for_file(commit.path):
            remark = await self._format(wanted, commit.path)
            remarks += [remark] if remark else []
        return "\n".join(remarks) or None

    async def _format(self, wanted: Wanted, path: Path) -> str | None:
        name = wanted.formatter.name
        with path.open("rb") as file:
            before = await asyncio.to_thread(_state, file)
            try:
                problem = await self._run(wanted, path)
            except BaseException:
                _restore(path, before, before.data)
                raise
            problem, changed = await asyncio.to_thread(_settle, path, before, problem)
        if problem:
            return f"The formatter {name} failed, so the file is as written: {problem}"
        return f"Formatted with {name}." if changed else None

    async def _run(self, wanted: Wanted, path: Path) -> str:
        """Why it failed; empty if it did not."""
        formatter = wanted.formatter
        program = Program(
            argv=formatter.argv(wanted.program, path),
            cwd=self.chooser.directory,
            env={**self._environment, **formatter.environment},
        )
        try:
            scope = await self._scopes.start(program)
        except ToolError as error:
            return str(error)
        reader = OutputReader(scope.stdout, Output(self._new_file, cap=0))
        try:
            async with asyncio.timeout(formatter.timeout / 1000):
                end = await scope.ended()
        except TimeoutError:
            return f"it took more than {formatter.timeout / 1000:g} s and was stopped."
        finally:
            await scope.stop()
            reader.close()
            scope.release()
        if end.code == 0:
            return ""
        how = f"exit code {end.code}" if end.code is not None else f"signal {end.signal}"
        said = (reader.output.tail or reader.output.head).decode("utf-8", "replace").strip()
        return f"{how}. {said[-_TOLD:]}".strip()


def kept(before: bytes, after: bytes) -> bytes:
    """What a formatter made of a file, with the byte order mark and the line ends it had."""
    mark = next((mark for mark in MARKS if before.startswith(mark)), b"")
    if mark and not after.startswith(mark):
        after = mark + after
    if mark in MARKS[1:]:
        return after
    ends, crlf = before.count(b"\n"), before.count(b"\r\n")
    if ends and crlf == ends:
        return after.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
    return after.replace(b"\r\n", b"\n") if ends and not crlf else after


@record(frozen=True, slots=True, kw_only=True)
class State:
    """A file as it was before a formatter ran."""

    file: BinaryIO
    """Held open, so that it can be told from another in its place."""
    data: bytes
    attributes: Attributes


def _state(file: BinaryIO) -> State:
    return State(file=file, data=file.read(), attributes=Attributes.of(file.fileno()))


def _settle(path: Path, before: State, problem: str) -> tuple[str, bool]:
    """Keep what a formatter made of a file, or put back what was there: what went wrong, and whether it changed it."""
    problem = problem or _fault(path)
    after = before.data if problem else kept(before.data, path.read_bytes())
    if _is_text(before.data) and not _is_text(after):
        problem, after = "it left what is no text.", before.data
    _restore(path, before, after)
    return problem, after != before.data


def _is_text(data: bytes) -> bool:
    try:
        decode(data)
    except ToolError:
        return False
    return True


def _fault(path: Path) -> str:
    """What is wrong with what a formatter left in the place of the file."""
    try:
        status = path.lstat()
    except OSError:
        return "it removed the file."
    if not stat.S_ISREG(status.st_mode):
        return "it left something else in the place of the file."
    return f"it made the file larger than {LARGEST:,} bytes." if status.st_size > LARGEST else ""


def _restore(path: Path, before: State, data: bytes) -> None:
    """Have the file hold this, with the attributes it had; the file itself is kept, and with it its other names."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.is_dir() and not path.is_symlink():
        path.rmdir()
    elif _fault(path):
        path.unlink(missing_ok=True)
    elif not os.access(path, os.R_OK | os.W_OK):
        path.chmod(before.attributes.mode | stat.S_IRUSR | stat.S_IWUSR)
    _put_back(path, before.file.fileno())
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW
    with open(os.open(path, flags, 0o600), "r+b") as file:  # noqa: PTH123 - without following a link
        if file.read() != data:
            file.seek(0)
            file.truncate()
            file.write(data)
            file.flush()
        if Attributes.of(file.fileno()) != before.attributes:
            before.attributes.give(file.fileno(), strict=False)


def _put_back(path: Path, held: int) -> None:
    """Put the file itself back in its place if it has other names, which another file there would leave behind."""
    status = os.fstat(held)
    if not status.st_nlink or (path.exists() and os.path.samestat(status, path.stat())):
        return
    link = path.with_name(f".{path.name[:100]}.{secrets.token_hex(4)}")
    try:
        # Any folder will do for the path, but without one Python does not follow it to the file.
        os.link(f"/proc/self/fd/{held}", link, src_dir_fd=held)
        link.replace(path)
    except OSError:
        link.unlink(missing_ok=True)  # a system without such names; the others keep what they had
