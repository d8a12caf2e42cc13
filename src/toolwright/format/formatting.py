"""Formatting a file that was just changed: in a box, within a time limit, with what a formatter must not change."""

import asyncio
import codecs
import os
import secrets
import stat
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from toolwright.deadline import time_limit
from toolwright.errors import ToolError
from toolwright.files.attributes import Attributes
from toolwright.files.held import HeldFolder, hold
from toolwright.files.store import Commit
from toolwright.files.text import decode
from toolwright.format.registry import Chooser, WantedFormatter
from toolwright.machine.plain_files import read_plain
from toolwright.process.running.run import ProgramResult, run_program
from toolwright.process.running.scope import Scopes
from toolwright.process.sandbox.program_box import ProgramBoxes, Workplace
from toolwright.record import record

MARKS = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
LARGEST = 64 * 1024 * 1024
"""Bytes that a file may have once it is formatted."""
_SHOWN = 600
"""Characters shown of what a failing formatter printed."""


class Formatters:
    """The formatters of one workspace."""

    def __init__(self, chooser: Chooser, scopes: Scopes, boxes: ProgramBoxes, environment: Mapping[str, str]) -> None:
        self.chooser = chooser
        self._scopes = scopes
        self._boxes = boxes
        self._environment = environment

    async def committed(self, commit: Commit) -> str | None:
        """Format a file; return what became of it, if there is anything to say."""
        if not isinstance(commit.after, bytes):
            return None
        remarks = list[str]()
        for wanted in self.chooser.for_file(commit.path):
            remark = await self._format(wanted, commit.path)
            remarks += [remark] if remark else []
        return "\n".join(remarks) or None

    async def _format(self, wanted: WantedFormatter, path: Path) -> str | None:
        name = wanted.formatter.name
        with path.open("rb") as file:
            before = await asyncio.to_thread(_state, file)
            try:
                problem, changed = await self._formatted(wanted, path, before)
            except (ToolError, OSError) as error:
                problem, changed = str(error), False
        if problem:
            return f"The formatter {name} failed, so the file is as written: {problem}"
        return f"Formatted with {name}." if changed else None

    async def _formatted(self, wanted: WantedFormatter, path: Path, before: "FormattingState") -> tuple[str, bool]:
        """Return what went wrong, and whether the file was changed."""
        if wanted.missing:
            return wanted.missing, False
        async with self._boxes.workplace(wanted.program, path, writes=not wanted.formatter.stdin) as place:
            output: bytes | None = None
            try:
                done = await self._run(wanted, path, before, place)
                problem = _failure(done)
                output = done.output if wanted.formatter.stdin else None
            except TimeoutError:
                problem = f"it took more than {wanted.formatter.timeout / 1000:g} s and was stopped."
            except BaseException:
                _undo(path, place, before)
                raise
            return await asyncio.to_thread(_settle, path, place, before, problem, output)

    async def _run(
        self, wanted: WantedFormatter, path: Path, before: "FormattingState", place: Workplace
    ) -> ProgramResult:
        formatter = wanted.formatter
        program = self._boxes.program(
            place.box,
            formatter.argv(wanted.program, path),
            cwd=path.parent if formatter.beside else self.chooser.directory,
            env={**self._environment, **formatter.environment},
        )
        content = before.data if formatter.stdin else b""
        async with time_limit(formatter.timeout / 1000):
            return await run_program(self._scopes, program, content, most=LARGEST + 1)


def kept(before: bytes, after: bytes) -> bytes:
    """Return what a formatter made of a file, with the byte order mark and the line ends it had."""
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
class FormattingState:
    """A file as it was before a formatter ran."""

    file: BinaryIO
    """Held open, so that it can be told from another in its place."""
    data: bytes
    attributes: Attributes


def _state(file: BinaryIO) -> FormattingState:
    return FormattingState(file=file, data=file.read(), attributes=Attributes.of(file.fileno()))


def _failure(done: ProgramResult) -> str:
    """Return why a formatter failed; empty if it did not."""
    words = (done.err.strip() or done.out.strip())[-_SHOWN:]
    if not done.ran:
        return f"its sandbox could not be put up: {words}"
    if done.code == 0:
        return ""
    how = f"exit code {done.code}" if done.code is not None else f"signal {done.signal}"
    return f"{how}. {words}".strip()


def _settle(
    path: Path, place: Workplace, before: FormattingState, problem: str, output: bytes | None
) -> tuple[str, bool]:
    """Keep what a formatter made of a file, or what was there: return what went wrong, and whether it changed it.

    `output` is what it printed, for one that prints the text instead of writing the file.
    """
    after = before.data
    if output is None:
        problem = problem or _fault(place.file)
    elif not problem and not output and before.data:
        problem = "it printed nothing."
    if not problem:
        after = kept(before.data, place.file.read_bytes() if output is None else output)
        if len(after) > LARGEST:
            problem, after = f"it made the file larger than {LARGEST:,} bytes.", before.data
        elif _is_text(before.data) and not _is_text(after):
            problem, after = "it left what is no text.", before.data
    try:
        if not place.apart:
            _restore(path, before, after)
        elif after != before.data:
            if read_plain(path, LARGEST) != before.data:
                return "somebody else has changed it meanwhile.", False
            _restore(path, before, after)
    except OSError as error:
        return f"its result could not be written: {error.strerror}.", False
    return problem, after != before.data


def _undo(path: Path, place: Workplace, before: FormattingState) -> None:
    if not place.apart:
        _restore(path, before, before.data)


def _is_text(data: bytes) -> bool:
    try:
        decode(data)
    except ToolError:
        return False
    return True


def _fault(path: Path) -> str:
    """Say what is wrong with what a formatter left in the place of the file."""
    try:
        status = path.lstat()
    except OSError:
        return "it removed the file."
    if not stat.S_ISREG(status.st_mode):
        return "it left something else in the place of the file."
    return f"it made the file larger than {LARGEST:,} bytes." if status.st_size > LARGEST else ""


def _restore(path: Path, before: FormattingState, data: bytes) -> None:
    """Have the file hold this, with the attributes it had; the file itself is kept, and with it its other names.

    OSError if a link has been put in the way to it meanwhile.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with hold(path.parent) as folder:
        _make_room(folder, path.name, before)
        _put_back(folder, path.name, before.file.fileno())
        with os.fdopen(folder.open(path.name, os.O_RDWR | os.O_CREAT, 0o600), "r+b") as file:
            if file.read() != data:
                file.seek(0)
                file.truncate()
                file.write(data)
                file.flush()
            if Attributes.of(file.fileno()) != before.attributes:
                before.attributes.give(file.fileno(), strict=False)


def _make_room(folder: HeldFolder, name: str, before: FormattingState) -> None:
    """Remove what is no plain file of a sensible size, and make the file one that we may write."""
    if not folder.has(name):
        return
    status = folder.status(name)
    if stat.S_ISDIR(status.st_mode):
        folder.remove_folder(name)
    elif not stat.S_ISREG(status.st_mode) or status.st_size > LARGEST:
        folder.remove(name)
    elif not os.access(name, os.R_OK | os.W_OK, dir_fd=folder.handle):
        os.chmod(name, before.attributes.mode | stat.S_IRUSR | stat.S_IWUSR, dir_fd=folder.handle)


def _put_back(folder: HeldFolder, name: str, held: int) -> None:
    """Put the file itself back in its place if it has other names, which another file there would leave behind."""
    status = os.fstat(held)
    if not status.st_nlink or (folder.has(name) and os.path.samestat(status, folder.status(name))):
        return
    link = f".{name[:100]}.{secrets.token_hex(4)}"
    try:
        # Any folder will do for the path, but without one Python does not follow it to the file.
        os.link(f"/proc/self/fd/{held}", link, src_dir_fd=held, dst_dir_fd=folder.handle)
        folder.replace(link, name)
    except OSError:
        with suppress(OSError):
            folder.remove(link)  # a system without such names; the others keep what they had
