"""The plan of a patch: worked out in memory, section by section, before anything is asked."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

from toolwright.edits.chunks import apply_chunks
from toolwright.edits.sections import Add, Delete, Patch, Update
from toolwright.errors import ToolError
from toolwright.files.body import Body, Link
from toolwright.files.hidden import BEFORE
from toolwright.files.paths import Place
from toolwright.files.replace import Change
from toolwright.files.store import Files, WriteOutcome
from toolwright.files.text import Text
from toolwright.record import record
from toolwright.text.diff import compare
from toolwright.tools.changes.revision import LARGE, off_loop

Kind = Literal["add", "update", "delete", "move"]
_SHOWN = 5
"""A result shows the lines of at most this many updated files."""
_LETTERS = {"add": "A", "update": "M", "move": "M", "delete": "D"}


@record(frozen=True, slots=True, kw_only=True)
class PatchEntry:
    """The change of one section to its file, as the sections before have left it."""

    kind: Kind
    place: Place
    target: Place | None
    before: str
    after: str
    diff: str
    """Also shows what a new file or the target of a move overwrites."""
    changed: str
    """The changed lines with their numbers."""
    additions: int
    deletions: int

    @property
    def shown(self) -> str:
        return (self.target or self.place).relative

    def metadata(self) -> dict[str, Any]:
        entry: dict[str, Any] = {
            "filePath": str(self.place.path),
            "relativePath": self.shown,
            "type": self.kind,
            "diff": self.diff,
            "additions": self.additions,
            "deletions": self.deletions,
        }
        if len(self.before) + len(self.after) <= LARGE:
            entry |= {"before": self.before, "after": self.after}
        if self.target is not None:
            entry["movePath"] = str(self.target.path)
        return entry


@record(frozen=True, slots=True, kw_only=True)
class PatchPlan:
    """All a patch does."""

    entries: list[PatchEntry]
    changes: list[Change]
    remarks: list[str]

    def summary(self) -> str:
        lines = [f"{_LETTERS[entry.kind]} {entry.shown}" for entry in self.entries]
        updated = [entry for entry in self.entries if entry.kind in ("update", "move") and entry.changed]
        changed = [f"{entry.shown} now:\n{entry.changed}" for entry in updated[:_SHOWN]]
        return "\n".join(["The patch is applied:", *lines, *self.remarks, *changed])

    def metadata(self) -> dict[str, Any]:
        files = [entry.metadata() for entry in self.entries]
        return {"diff": "".join(file["diff"] for file in files), "files": files}

    async def as_written(self, files: Files, outcomes: Sequence[WriteOutcome]) -> "PatchPlan":
        """The plan as it is on disk, where somebody has changed a file again since."""
        planned = {change.place.path: change.after for change in self.changes}
        news = {one.place.path: one.body for one in outcomes if one.body != planned[one.place.path]}
        if not news:
            return self
        entries = list(reversed(self.entries))
        for number, entry in enumerate(entries):
            place = entry.target or entry.place
            body = news.pop(place.path, None)
            if isinstance(body, bytes):
                text = files.decode(place, body).content
                diff = await _compared(place, entry.before, text)
                entries[number] = replace(
                    entry,
                    after=text,
                    diff=diff.patch,
                    changed=diff.short,
                    additions=diff.additions,
                    deletions=diff.deletions,
                )
        remark = "Programs that look after the files have changed some once more since."
        return replace(self, entries=entries[::-1], remarks=[*self.remarks, remark])


Hides = Callable[[Place], bool]
"""A function that tells whether nothing of a file may be shown."""


async def make_plan(files: Files, patch: Patch, places: Mapping[str, Place], hides: Hides) -> PatchPlan:
    """The plan, or a ToolError that names the file: missing_file, is_folder, lines_not_found, ..."""
    planner = _Planner(files, places, hides)
    for section in patch.sections:
        await planner.add(section)
    remarks = [*patch.remarks, *planner.remarks]
    changes = planner.changes()
    if not changes:
        remarks = [*remarks, "The files were like this already, so nothing was written."]
    if patch.dropped:
        numbers = ", ".join(map(str, patch.dropped[:20]))
        remarks = [
            *remarks,
            f"Lines of the patch without a mark or a file were left out, counted from its first: {numbers}.",
        ]
    return PatchPlan(entries=planner.entries, changes=changes, remarks=remarks)


@record(slots=True, kw_only=True)
class _Draft:
    """A file while the plan is made."""

    place: Place
    original: Body
    text: Text = field(default_factory=lambda: Text(content=""))
    """The file's encoding, and its text."""
    now: str | Link | None = None
    """The content now; None if the file is not there."""
    binary: ToolError | None = None
    """Why the file cannot be read as text. It may be deleted or replaced, not updated."""
    like: Place | None = None
    hidden: bool = False
    """True if its content on disk may not be shown."""

    def change(self) -> Change | None:
        after = self.text.encode(self.now) if isinstance(self.now, str) else self.now
        if self.original == after:
            return None
        like = self.like if self.original is None else None
        return Change(place=self.place, before=self.original, after=after, like=like)

    @property
    def shown(self) -> str:
        """Return its content as text, for showing."""
        if self.hidden and self.now is not None:
            return BEFORE
        return f"-> {self.now.target}\n" if isinstance(self.now, Link) else self.now or ""


class _Planner:
    """Goes through the sections in order, each on what the ones before have left."""

    def __init__(self, files: Files, places: Mapping[str, Place], hides: Hides) -> None:
        self._files = files
        self._hides = hides
        self._places = places
        """The place of each path of the patch."""
        self._drafts: dict[Path, _Draft] = {}
        self.entries: list[PatchEntry] = []
        self.remarks: list[str] = []

    def changes(self) -> list[Change]:
        return [change for draft in self._drafts.values() if (change := draft.change())]

    async def add(self, section: Add | Delete | Update) -> None:
        match section:
            case Add():
                await self._create(section)
            case Delete():
                await self._remove(section)
            case Update():
                await self._update(section)

    async def _create(self, section: Add) -> None:
        draft = await self._draft(section.path)
        if draft.now is not None:
            self.remarks.append(f"{draft.place.relative} was there before and is replaced.")
        lost, draft.hidden = draft.shown, False
        draft.now, draft.text, draft.binary = section.content, Text(content=""), None
        diff = await _compared(draft.place, lost, section.content)
        self._note("add", draft.place, "", section.content, diff, counts=(section.content.count("\n"), 0))

    async def _remove(self, section: Delete) -> None:
        draft = self._link(section.path) or await self._draft(section.path)
        if draft.now is None:
            raise ToolError(f"There is no file {draft.place.path} to delete. Check the path.", "missing_file")
        before, draft.now = draft.shown, None
        diff = await _compared(draft.place, before, "")
        self._note("delete", draft.place, before, "", diff, counts=(0, before.count("\n") + 1))

    async def _update(self, section: Update) -> None:
        link = self._link(section.path) if section.target else None
        if link is not None:
            await self._move_link(link, section)
            return
        place = self._places[section.path]
        if place.path not in self._drafts and not place.path.is_file():
            raise ToolError(f"There is no file {place.path} to update. Check the path.", "missing_file")
        draft = await self._draft(section.path)
        if draft.now is None:
            raise ToolError(
                f"{place.path} was deleted or moved by an earlier section. Put its update before that.", "missing_file"
            )
        before = draft.shown
        after = draft.now = await self._patched(draft, section)
        target = self._places[section.target] if section.target else place
        if target.path == place.path:
            diff = await _compared(place, before, after)
            self._note("update", place, before, after, diff)
        else:
            await self._move(draft, before, target)

    async def _move_link(self, link: _Draft, section: Update) -> None:
        """A link moves as it is, as it does with mv. Its lines are those of another file, which stays."""
        if section.chunks:
            raise ToolError(
                f"{link.place.path} is a link, so it cannot be changed and moved at once. Change the file it leads "
                "to, or move the link without changing lines.",
                "ambiguous",
            )
        if link.now is None:
            raise ToolError(
                f"{link.place.path} was deleted or moved by an earlier section. Move it once.", "missing_file"
            )
        await self._move(link, link.shown, self._places[section.target or ""])

    async def _move(self, draft: _Draft, before: str, target: Place) -> None:
        other = await self._draft(target.given)
        after, now, draft.now = draft.shown, draft.now, None
        diff = await _compared(target, before, after)
        counts = (diff.additions, diff.deletions)
        if other.now is not None:
            self.remarks.append(f"{target.relative} was there before and is replaced.")
            diff = await _compared(target, other.shown, after)
        other.now, other.text, other.binary, other.hidden = now, draft.text, None, draft.hidden
        other.like = None if isinstance(now, Link) else draft.place
        self._note("move", draft.place, before, after, diff, counts=counts, target=target)

    async def _patched(self, draft: _Draft, section: Update) -> str:
        text = draft.shown
        if draft.binary is not None:
            raise draft.binary
        rewrite = self._files.drift == "replace"
        try:
            patched = await off_loop(len(text), apply_chunks, text, section.chunks, rewrite_context=rewrite)
        except ToolError as error:
            raise ToolError(f"{draft.place.relative}: {error}", error.kind) from error
        self.remarks += [f"{draft.place.relative}: {remark}" for remark in patched.remarks]
        return patched.text

    async def _draft(self, path: str) -> _Draft:
        """The file as the sections so far have left it, or else as it is on disk."""
        place = self._places[path]
        known = self._drafts.get(place.name) or self._drafts.get(place.path)
        if known is not None:
            return known
        if place.path.is_dir():
            raise ToolError(f"{place.path} is a folder. Name a file.", "is_folder")
        original = (await self._files.fetch(place)).data if place.exists else None
        draft = self._drafts[place.path] = _Draft(place=place, original=original)
        draft.hidden = original is not None and self._hides(place)
        if original is not None:
            try:
                draft.text = self._files.decode(place, original)
            except ToolError as error:
                draft.binary = error
            draft.now = draft.text.content
        return draft

    def _link(self, path: str) -> _Draft | None:
        """The link of that name, which is what is deleted or moved, and not what it leads to; None if it is none."""
        place = self._places[path].itself()
        if place.path in self._drafts:
            known = self._drafts[place.path]
            return known if isinstance(known.original, Link) else None
        try:
            link = Link(os.readlink(place.path))  # noqa: PTH115 - as it is written
        except OSError:
            return None
        draft = self._drafts[place.path] = _Draft(place=place, original=link, now=link)
        return draft

    def _note(
        self,
        kind: Kind,
        place: Place,
        before: str,
        after: str,
        diff: "_Difference",
        *,
        counts: tuple[int, int] | None = None,
        target: Place | None = None,
    ) -> None:
        additions, deletions = counts or (diff.additions, diff.deletions)
        self.entries.append(
            PatchEntry(
                kind=kind,
                place=place,
                target=target,
                before=before,
                after=after,
                diff=diff.patch,
                changed=diff.short,
                additions=additions,
                deletions=deletions,
            )
        )


class _Difference(NamedTuple):
    patch: str
    short: str
    additions: int
    deletions: int


async def _compared(place: Place, before: str, after: str) -> _Difference:
    def work() -> _Difference:
        diff = compare(before, after)
        return _Difference(diff.unified(str(place.path)), diff.short(), diff.additions, diff.deletions)

    return await off_loop(len(before) + len(after), work)
