"""Changes of files that a rule asks about, asked as a program is about to make them, while its call is held."""

import asyncio
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from toolwright.calls.request import Request
from toolwright.definition import ToolContext
from toolwright.errors import ToolError
from toolwright.files.ignore import Ignored
from toolwright.files.paths import Place, Tree
from toolwright.process.paths.safe_stat import is_in, read_itself
from toolwright.process.running.scope import AskedChange
from toolwright.services import Questions
from toolwright.text.diff import unified
from toolwright.tools.changes.request import edit_request

FEW = 3
"""Questions of one command from which on all in a folder is offered."""
LARGEST = 1024 * 1024
"""Bytes of a file whose difference is shown."""
_WILL = {
    "open": "opens it to write it",
    "new": "makes it",
    "create": "opens it to write it",
    "write": "cuts it to another length",
    "remove": "deletes it",
    "rename": "puts another file in its place",
    "link": "makes it a second name of another file",
    "symlink": "makes it a link",
    "mode": "changes who may do what with it",
    "owner": "changes whose it is",
}


class ActQuestions:
    """One for each command. Whoever has said no once is not asked again."""

    def __init__(self, ctx: ToolContext, tree: Tree, granted: Iterable[Path]) -> None:
        """`granted` is what was allowed before the command began."""
        self._ctx, self._tree = ctx, tree
        self._granted = tuple(granted)
        self._beside = {place.parent for place in self._granted}
        """Folders where a program may put together what then takes the place of what was allowed."""
        self._count = 0
        self._asked_since: float | None = None
        self._waited = 0.0
        self.refused = ""
        """The subject of the first no."""

    def take_waited(self) -> float:
        """Return how long questions have kept the command waiting since this was last asked."""
        waited, self._waited = self._waited, 0.0
        if self._asked_since is not None:
            now = asyncio.get_running_loop().time()
            waited, self._asked_since = waited + now - self._asked_since, now
        return waited

    async def answer(self, asked: AskedChange) -> bool:
        """Return whether a program may make a change."""
        if asked.kind == "lose":
            return await self._may_be_lost(self._tree.place(asked.places[0]))
        others = (path for path in map(Path, asked.places) if not is_in(path, self._granted))
        places = [
            self._tree.place(str(path)) for path in others if asked.kind != "new" or path.parent not in self._beside
        ]
        actions = {self._ctx.decide("edit", place.pattern) for place in places}
        if "deny" in actions:
            return False
        if "ask" not in actions:
            return True
        return await self._put(await asyncio.to_thread(self._request, asked, places), places[0])

    async def _may_be_lost(self, place: Place) -> bool:
        """Ask about what is too large to be kept, unless it is made again anyway, or nobody is there to be asked."""
        if not self._ctx.use(Questions).attended or await asyncio.to_thread(Ignored().has, place.path):
            return True
        size = f"{place.path.lstat().st_size / 1e6:,.0f} MB"
        title = f"undo could not restore {place.relative} ({size}): it is too large to be kept"
        metadata = {"filepath": str(place.path), "reasons": [title]}
        request = Request(
            permission="edit", patterns=(place.pattern,), always=(), metadata=metadata, must_ask=True, title=title
        )
        return await self._put(request, place)

    async def _put(self, request: Request, place: Place) -> bool:
        if self.refused:
            return False
        self._asked_since = asyncio.get_running_loop().time()
        try:
            await self._ctx.ask_all(request)
        except ToolError:
            self.refused = place.relative
            return False
        finally:
            self._waited, self._asked_since = self._waited + self.take_waited(), None
        return True

    def _request(self, asked: AskedChange, places: Sequence[Place]) -> Request:
        self._count += 1
        will = _WILL.get(asked.kind, "changes it")
        metadata: dict[str, Any] = {"filepath": str(places[-1].path), "why": f"{asked.program} {will}"}
        if difference := _difference(asked, places[-1]):
            metadata["diff"] = difference
        request = edit_request(places, metadata)
        title = f"{asked.program} is about to change {places[-1].relative}"
        always = _folder(places[-1]) if self._count > FEW else ()
        return Request(
            permission="edit", patterns=request.patterns, always=always, metadata=request.metadata, title=title
        )


def _folder(place: Place) -> tuple[str, ...]:
    """Name all that is in the folder of a place, as an approval has it."""
    return (f"{place.relative.rpartition('/')[0]}/*".lstrip("/"),)


def _difference(asked: AskedChange, place: Place) -> str:
    """Return the difference that a change will make, where it is known before: not of what is yet to be written."""
    before = _read_text(place.path)
    if asked.kind == "remove" and before:
        return unified(place.relative, before, "")
    source = Path(asked.source) if asked.kind == "rename" and asked.source else None
    after = _read_text(source) if source is not None and source != place.path else None
    return unified(place.relative, before or "", after) if after is not None else ""


def _read_text(path: Path) -> str | None:
    try:
        return read_itself(path, LARGEST).decode()
    except (OSError, UnicodeDecodeError):
        return None
