"""What a patch comes to on the files there are: worked out in memory, section by section, before anything is asked."""

from dataclasses import field
from pathlib import Path
from typing import Any, Literal, NamedTuple

from toolwright.diff import compare
from toolwright.edits.chunks import apply_chunks
from toolwright.edits.patch import Add, Delete, Patch, Update
from toolwright.errors import ToolError
from toolwright.files.paths import Place
from toolwright.files.replace import Change
from toolwright.files.store import Content, Files
from toolwright.files.text import Text
from toolwright.record import record
from toolwright.tools._revision import LARGE, off_loop

Kind = Literal["add", "update", "delete", "move"]
_SHOWN = 5
"""How many updated files a result shows the lines of."""
_LETTERS = {"add": "A", "update": "M", "move": "M", "delete": "D"}


@record(frozen=True, slots=True, kw_only=True)
class Entry:
    """What one section of the patch does to its file, as the sections before have left it."""

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
class Plan:
    """All a patch does."""

    entries: list[Entry]
    changes: list[Change]
    remarks: list[str]

    def summary(self) -> str:
        lines = [f"{_LETTERS[entry.kind]} {entry.shown}" for entry in self.entries]
        updated = [entry for entry in self.entries if entry.kind in ("update", "move") and entry.changed]
        shown = [f"{entry.shown} now:\n{entry.changed}" for entry in updated[:_SHOWN]]
        return "\n".join(["The patch is applied:", *lines, *self.remarks, *shown])

    def metadata(self) -> dict[str, Any]:
        files = [entry.metadata() for entry in self.entries]
        return {"diff": "".join(file["diff"] for file in files), "files": files, "diagnostics": {}}


async def make_plan(files: Files, patch: Patch) -> Plan:
    """The plan, or a ToolError that names the file: missing_file, is_folder, lines_not_found, ..."""
    planner = _Planner(files)
    for section in patch.sections:
        await planner.add(section)
    remarks = planner.remarks
    if patch.dropped:
        numbers = ", ".join(map(str, patch.dropped[:20]))
        remarks = [*remarks, f"Lines of the patch without a mark were left out, counted from its first: {numbers}."]
    return Plan(entries=planner.entries, changes=planner.changes(), remarks=remarks)


@record(slots=True, kw_only=True)
class _Draft:
    """A file while the plan is made."""

    place: Place
    original: Content | None
    text: Text = field(default_factory=lambda: Text(content=""))
    """How the file is encoded."""
    now: str | None = None
    """What it holds; None if it is not there."""
    binary: ToolError | None = None
    """Why the file cannot be read as text. It may be deleted or replaced, not updated."""
    like: Place | None = None

    def change(self) -> Change | None:
        before = None if self.original is None else self.original.data
        after = None if self.now is None else self.text.encode(self.now)
        if before == after:
            return None
        return Change(place=self.place, before=before, after=after, like=self.like if before is None else None)


class _Planner:
    """Goes through the sections in order, each on what the ones before have left."""

    def __init__(self, files: Files) -> None:
        self._files = files
        self._drafts: dict[Path, _Draft] = {}
        self.entries: list[Entry] = []
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
        lost, draft.now, draft.text, draft.binary = draft.now or "", section.content, Text(content=""), None
        diff = await _compared(draft.place, lost, draft.now)
        self._note("add", draft.place, "", draft.now, diff, counts=(draft.now.count("\n"), 0))

    async def _remove(self, section: Delete) -> None:
        draft = await self._draft(section.path)
        if draft.now is None:
            raise ToolError(f"There is no file {draft.place.path} to delete. Check the path.", "missing_file")
        before, draft.now = draft.now, None
        diff = await _compared(draft.place, before, "")
        self._note("delete", draft.place, before, "", diff, counts=(0, before.count("\n") + 1))

    async def _update(self, section: Update) -> None:
        place = self._files.tree.place(section.path)
        if place.path not in self._drafts and not place.path.is_file():
            raise ToolError(f"There is no file {place.path} to update. Check the path.", "missing_file")
        draft = await self._draft(section.path)
        if draft.now is None:
            raise ToolError(f"{place.path} is gone by a section before. Update it first.", "missing_file")
        before = draft.now
        after = draft.now = await self._patched(draft, section)
        target = self._files.tree.place(section.target) if section.target else place
        if target.path == place.path:
            diff = await _compared(place, before, after)
            self._note("update", place, before, after, diff)
        else:
            await self._move(draft, before, target)

    async def _move(self, draft: _Draft, before: str, target: Place) -> None:
        other = await self._draft(target.given)
        after, draft.now = draft.now or "", None
        diff = await _compared(target, before, after)
        counts = (diff.additions, diff.deletions)
        if other.now is not None:
            self.remarks.append(f"{target.relative} was there before and is replaced.")
            diff = await _compared(target, other.now, after)
        other.now, other.text, other.binary, other.like = after, draft.text, None, draft.place
        self._note("move", draft.place, before, after, diff, counts=counts, target=target)

    async def _patched(self, draft: _Draft, section: Update) -> str:
        text = draft.now or ""
        if draft.binary is not None:
            raise draft.binary
        rewrite = self._files.drift == "replace"
        try:
            patched = await off_loop(len(text), apply_chunks, text, section.chunks, rewrite_context=rewrite)
        except ToolError as error:
            raise ToolError(f"{draft.place.relative}: {error}", error.kind) from error
        self.remarks += [f"{draft.place.relative}: {remark}" for remark in patched.remarks]
        return patched.text

    async def _draft(self, given: str) -> _Draft:
        """The file as the sections so far have left it, or else as it is on disk."""
        place = self._files.tree.place(given)
        if place.path in self._drafts:
            return self._drafts[place.path]
        if place.path.is_dir():
            raise ToolError(f"{place.path} is a folder. Name a file.", "is_folder")
        original = await self._files.fetch(place) if place.exists else None
        draft = self._drafts[place.path] = _Draft(place=place, original=original)
        if original is not None:
            try:
                draft.text = self._files.decode(original)
            except ToolError as error:
                draft.binary = error
            draft.now = draft.text.content
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
            Entry(
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
