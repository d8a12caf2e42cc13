"""Texts that another program holds open, as an editor does: what it holds counts before what is on disk.

Only files of plain UTF-8 are left to it. What is in another encoding, or no text, is the disk's alone.
"""

import asyncio
from collections.abc import Sequence
from concurrent.futures import CancelledError, Future
from pathlib import Path
from typing import Protocol

from toolwright.errors import ToolError
from toolwright.files.body import Body, NotABody, body_at
from toolwright.files.disk import Stamp
from toolwright.files.paths import Place
from toolwright.files.replace import Change, Handover
from toolwright.files.text import SAMPLE, detect, line_ends
from toolwright.files.view import WHOLE

UNSAVED = Stamp(size=0, modified=2**63, changed=0, inode=0, settled=False)
"""In place of the stamp of a file, for a text that is not on disk: it never tells, so the hash has to decide."""


class Buffers(Protocol):
    """The program that holds texts open."""

    async def read(self, path: Path, session_id: str = "") -> str | None:
        """The text of a file as it is held, saved or not; None if the disk is to be asked.

        Within a call it need not be said whose it is.
        """
        ...

    async def write(self, path: Path, text: str, session_id: str) -> bool:
        """Have a text written to the file. False if it was refused; ToolError if nobody can say what became of it."""
        ...


async def unsaved(buffers: Buffers, place: Place, data: bytes, session_id: str = "") -> bytes | None:
    """Return the content that the program would save; None if that is the file's already, or cannot be told."""
    disk = plain_text(data) if place.inside else None
    text = None if disk is None else await buffers.read(place.path, session_id)
    if disk is None or text is None:
        return None
    if line_ends(disk) == "crlf" and "\r" not in text:
        # Editors keep lines without the way they end, and put it back when they save.
        text = text.replace("\n", "\r\n")
    return None if text == disk else _encoded(text)


def plain_text(body: Body) -> str | None:
    """The text of a content; None if it is none, or not in plain UTF-8, or too long to be handed around."""
    if not isinstance(body, bytes) or len(body) > WHOLE or detect(body[:SAMPLE]) != ("utf-8", b""):
        return None
    try:
        return body.decode()
    except UnicodeDecodeError:
        return None


def _encoded(text: str) -> bytes | None:
    try:
        data = text.encode()
    except UnicodeEncodeError:
        return None
    return data if len(data) <= WHOLE else None


class Handovers:
    """The changes of one commit, as far as the program that holds the files is to write them."""

    def __init__(self, buffers: Buffers, session_id: str) -> None:
        self._buffers, self._session_id = buffers, session_id
        self._loop = asyncio.get_running_loop()
        self._writing: Future[bool] | None = None
        self._given_up = False

    async def of(self, changes: Sequence[Change]) -> dict[Path, Handover]:
        """Those of some changes. Each must still be made from the text that the program holds, else `stale`."""
        handovers: dict[Path, Handover] = {}
        for change in changes:
            if change.place.inside and (handover := await self._handover(change)):
                handovers[change.place.path] = handover
        return handovers

    async def _handover(self, change: Change) -> Handover | None:
        text = plain_text(change.after) if change.like is None else None
        if change.before is None:
            return None if text is None else Handover(disk=None, text=text, write=self._write)
        disk = await asyncio.to_thread(_present, change.place.path)
        if plain_text(disk) is None or not isinstance(disk, bytes):
            return None
        held = await unsaved(self._buffers, change.place, disk, self._session_id)
        if held is not None and held != change.before:
            raise ToolError(
                f"{change.place.path} has changed in the editor since the call began. Read it again before changing "
                "it.",
                "stale",
            )
        return Handover(disk=change.before if held is None else disk, text=text, write=self._write)

    def _write(self, path: Path, text: str) -> bool:
        """Called in the thread that makes the changes, which waits here."""
        writing = self._buffers.write(path, text, self._session_id)
        self._writing = asyncio.run_coroutine_threadsafe(writing, self._loop)
        if self._given_up:
            self._writing.cancel()
        try:
            return self._writing.result()
        except CancelledError:
            raise ToolError(f"The call was stopped while the editor was to write {path}.", "aborted") from None

    def give_up(self) -> None:
        """Wait for the program no longer."""
        self._given_up = True
        if self._writing is not None:
            self._writing.cancel()


def _present(path: Path) -> Body:
    try:
        return body_at(path)
    except NotABody:
        return None
