"""Selections of what is to be undone, and one file on its way back."""

from dataclasses import replace

from toolwright.errors import UsageError
from toolwright.files.attributes import Attributes
from toolwright.files.body import Body, Folder, Link, Thing
from toolwright.files.hidden import stand_ins
from toolwright.record import record
from toolwright.session.undo.hunks import Hunk, hunks_of
from toolwright.text.diff import counts


class NothingToUndo(UsageError):
    """Selection that has changed no file, or no longer stands."""


@record(frozen=True, slots=True, kw_only=True)
class Selection:
    """Changes to undo; whatever is given must fit."""

    turn: str = ""
    """A user message: everything from it on."""
    call: str = ""
    file: str = ""
    hunks: tuple[str, ...] = ()
    """Of all that, these pieces of the difference alone: by their ids, or of one file by their numbers, from 1."""

    @property
    def empty(self) -> bool:
        return not (self.turn or self.call or self.file)


@record(frozen=True, slots=True, kw_only=True)
class FileUndo:
    """One file on its way back."""

    path: str
    present: Thing
    restored: Thing
    calls: tuple[str, ...]
    attributes: Attributes | None = None
    """Mode, owner and attributes to give back; None leaves them as they are."""
    emptied: tuple[str, ...] = ()
    """Folders that were made for the file, innermost first; they go if nothing is left in them."""
    apart: bool = False
    """True if other names of the file that is there keep what they have."""
    hidden: bool = False
    """True if nothing of it may be shown."""
    changed_since: bool = False
    """True if the file is no longer as the session left it."""

    @property
    def kind(self) -> str:
        if self.restored is None:
            return "delete"
        return "recreate" if self.present is None else "restore"

    def counts(self) -> tuple[int, int]:
        return counts(*self.texts())

    def hunks(self) -> list[Hunk]:
        """The pieces that can be undone alone."""
        return hunks_of(self.path, *self.shown())

    def shown(self) -> tuple[Body, Body]:
        """Return what is there and what is restored, for showing."""
        present, restored = (None if isinstance(one, Folder) else one for one in (self.present, self.restored))
        return stand_ins(present, restored) if self.hidden else (present, restored)

    def texts(self) -> tuple[str, str]:
        """The same as text."""
        present, restored = self.shown()
        return _text_of(present), _text_of(restored)

    def turned(self) -> "FileUndo":
        """Return what was changed, from what would undo it."""
        return replace(self, present=self.restored, restored=self.present)


def _text_of(body: Body) -> str:
    if isinstance(body, Link):
        return f"-> {body.target}\n"
    return body.decode("utf-8", "replace") if body else ""
