"""Edits of one file by edit and multiedit: checked, worked out in memory, shown, made, reported."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace as replace_fields
from typing import Any, ParamSpec, TypeVar

from toolwright.calls.request import Request
from toolwright.definition import Result, ToolContext
from toolwright.edits.replacement import Drift, TextReplacement, replace
from toolwright.errors import ToolError
from toolwright.files.paths import Place
from toolwright.files.replace import Change
from toolwright.files.store import Files, Loaded, WriteOutcome
from toolwright.files.text import Text
from toolwright.record import record
from toolwright.text.diff import Diff, compare
from toolwright.tools.changes.remarks import diagnostics, with_remarks
from toolwright.tools.changes.request import edit_request

LARGE = 64 * 1024
"""Characters from which on work is done in a thread, and from which on a result holds a patch instead of the texts."""

_TRIES = 100

P = ParamSpec("P")
T = TypeVar("T")


@record(frozen=True, slots=True, kw_only=True)
class Edit:
    """One text for another."""

    old: str
    new: str
    everywhere: bool = False


async def revise(ctx: ToolContext, file_path: str, edits: Sequence[Edit]) -> Result:
    """Make the edits one after the other, all or none, with one question and one change on disk."""
    files = ctx.use(Files)
    place = files.tree.place(file_path)
    ctx.check(*place.external(), Request(permission="edit", patterns=(place.pattern,)))
    if len(edits) == 1 and edits[0].old == edits[0].new:
        raise ToolError("oldString and newString are the same, so there is nothing to change.", "same")
    if not place.inside:
        await ctx.ask_all(*place.external())
    approved: _Revision | None = None
    for _ in range(_TRIES):
        loaded = None if _is_creation(place, edits) else await _loaded(ctx, files, place)
        revision = await off_loop(_effort(loaded, edits), _revised, place, loaded, edits, files.drift)
        if approved is None or revision.lines() != approved.lines():
            await ctx.ask_all(revision.request())
        approved = revision
        change = Change(place=place, before=loaded.data if loaded else None, after=revision.data)
        if outcomes := await _committed(ctx, files, change):
            written = await _as_written(files, revision, outcomes[0])
            metadata = written.metadata() | {"diagnostics": diagnostics(outcomes)}
            return Result(with_remarks(written.summary(), outcomes), title=place.relative, metadata=metadata)
    raise ToolError(f"{place.path} keeps changing. Read it again before changing it.", "stale")


async def _committed(ctx: ToolContext, files: Files, change: Change) -> list[WriteOutcome]:
    """Make the change; return nothing if another call got there first: then the edit is worked out anew.

    Should it have been someone else, the next look at the file finds that it is not as the session knows it.
    """
    try:
        return await files.commit([change], session_id=ctx.session_id, call_id=ctx.call_id)
    except ToolError as error:
        if error.kind != "stale" or change.before is None:
            raise
        return []


async def _as_written(files: Files, revision: "_Revision", outcome: WriteOutcome) -> "_Revision":
    """The revision as it is on disk, if somebody has changed the file again since."""
    if outcome.body == revision.data:
        return revision
    after = files.decode(outcome.place, outcome.body).content if isinstance(outcome.body, bytes) else ""
    diff = await off_loop(len(revision.before) + len(after), compare, revision.before, after)
    patch = diff.unified(str(revision.place.path))
    return replace_fields(revision, after=after, diff=diff, patch=patch, rewritten=True)


async def off_loop(size: int, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run work on so much text: here if that takes no time, else in a thread, so that nothing else has to wait."""
    if size < LARGE:
        return function(*args, **kwargs)
    return await asyncio.to_thread(function, *args, **kwargs)


@record(frozen=True, slots=True, kw_only=True)
class _Revision:
    """The new content of a file, and its report."""

    place: Place
    created: bool
    before: str
    after: str
    data: bytes
    diff: Diff
    patch: str
    strategies: tuple[str, ...]
    """The strategies by which the old texts were found, one for each edit."""
    count: int
    """In how many places something was replaced."""
    rewritten: bool = False
    """Somebody, such as a formatter, has changed the file once more."""

    def lines(self) -> list[tuple[list[str], list[str]]]:
        """The lines removed and added, wherever they are."""
        return [(list(self.diff.before[a:b]), list(self.diff.after[c:d])) for a, b, c, d in self.diff.changes]

    def request(self) -> Request:
        metadata = {"filepath": str(self.place.path), "diff": self.patch}
        return edit_request([self.place], metadata)

    def summary(self) -> str:
        if self.created:
            count = len(self.diff.after)
            rewritten = f" {_REWRITTEN}" if self.rewritten else ""
            return f"Created {self.place.relative}: {count} line{'' if count == 1 else 's'}.{rewritten}"
        places = f" in {self.count} places" if self.count > 1 else ""
        remarks = [f" {_REMARKS[name]}" for name in dict.fromkeys(self.strategies) if name in _REMARKS]
        remarks += [f" {_REWRITTEN}"] if self.rewritten else []
        return f"Edited {self.place.relative}, {self._range()}{places}.{''.join(remarks)}\n{self.diff.short()}"

    def metadata(self) -> dict[str, Any]:
        filediff: dict[str, Any] = {
            "file": str(self.place.path),
            "additions": self.diff.additions,
            "deletions": self.diff.deletions,
        }
        if len(self.before) + len(self.after) <= LARGE:
            filediff |= {"before": self.before, "after": self.after}
        else:
            filediff |= {"patch": self.patch}
        return {
            "diff": self.patch,
            "filediff": filediff,
            "strategy": self.strategies[0] if len(self.strategies) == 1 else list(self.strategies),
            "lines": list(self.diff.lines or ()),
        }

    def _range(self) -> str:
        first, last = self.diff.lines or (1, 1)
        return f"line {first}" if first == last else f"lines {first}-{last}"


_REWRITTEN = "A program that looks after the file has changed it once more since."
_REMARKS: Mapping[str, str] = {
    "line_trimmed": "oldString was found with other indentation or blanks at line ends (line_trimmed).",
    "whitespace": "oldString was found with other blanks between its words (whitespace).",
    "indentation": "oldString was found with other indentation (indentation).",
    "escape": "oldString was found with its backslash escapes resolved (escape).",
    "trimmed_boundary": "oldString was found without the blanks around it (trimmed_boundary).",
    "block_anchor": "The block was found by its first and last line; other lines in it differ from oldString "
    "(block_anchor). See what changed:",
    "line_numbers": "oldString was found without the line numbers it was copied with (line_numbers).",
    "elision": "Lines that oldString leaves out with a mark were kept (elision). See what changed:",
    "alignment": "The block was found by most of its lines; others in it differ from oldString (alignment). See what "
    "changed:",
    "context": "The block was found by its first and last line; other lines in it differ from oldString (context). "
    "See what changed:",
}


def _is_creation(place: Place, edits: Sequence[Edit]) -> bool:
    """An empty old text creates a file where none is; on a file that exists it would mean no place in it."""
    if edits[0].old or place.path.is_dir():
        return False
    if place.exists:
        raise ToolError(
            f"{place.path} exists, and an empty oldString only creates files. Give the text to replace, or use write "
            "to replace the whole file.",
            "ambiguous",
        )
    return True


async def _loaded(ctx: ToolContext, files: Files, place: Place) -> Loaded:
    loaded = await files.load(place)
    files.require_read(ctx.session_id, loaded)
    return loaded


def _effort(loaded: Loaded | None, edits: Sequence[Edit]) -> int:
    """About how much text is to be worked on. Looking for what is not there as given may mean any amount."""
    if loaded is None:
        return 0
    there = all(edit.old in loaded.text.content for edit in edits)
    return len(loaded.data) if there else LARGE


def _revised(place: Place, loaded: Loaded | None, edits: Sequence[Edit], drift: Drift) -> _Revision:
    text = loaded.text if loaded else Text(content="")
    before = after = text.content
    steps: list[TextReplacement] = []
    for number, edit in enumerate(edits, 1):
        steps.append(_replaced(after, edit, drift, f"Edit {number} of {len(edits)}: " if len(edits) > 1 else ""))
        after = steps[-1].text
    if after == before and loaded:
        raise ToolError("The edits together change nothing in the file.", "same")
    head = min(step.head for step in steps)
    tail = min(min(step.tail for step in steps), min(len(before), len(after)) - head)
    diff = compare(before, after, head=head, tail=tail)
    return _Revision(
        place=place,
        created=loaded is None,
        before=before,
        after=after,
        data=text.encode(after),
        diff=diff,
        patch=diff.unified(str(place.path)),
        strategies=tuple(step.strategy for step in steps),
        count=sum(step.count for step in steps),
    )


def _replaced(text: str, edit: Edit, drift: Drift, label: str) -> TextReplacement:
    """One edit; what is wrong with it is said with its number where there are several."""
    try:
        if not edit.old and not text:
            return TextReplacement(text=edit.new, strategy="exact", count=1, head=0, tail=0)
        return replace(text, edit.old, edit.new, everywhere=edit.everywhere, drift=drift)
    except ToolError as error:
        raise ToolError(f"{label}{error}", error.kind) from error
