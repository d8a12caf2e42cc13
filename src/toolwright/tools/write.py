"""The write tool: the whole content of a file, new or in place of the old."""

import asyncio

from toolwright.calls.look import Look
from toolwright.calls.request import Request
from toolwright.definition import Result, ToolContext, tool
from toolwright.errors import ToolError
from toolwright.files.hidden import BEFORE
from toolwright.files.paths import Place
from toolwright.files.replace import Change
from toolwright.files.store import LARGE, Content, Files, WriteOutcome
from toolwright.files.text import Text, line_ends
from toolwright.text.diff import compare, unified
from toolwright.tools._unreadable import is_unreadable
from toolwright.tools.changes.remarks import diagnostics, with_remarks
from toolwright.tools.changes.request import edit_request


@tool(
    text="write.md",
    known_as=("Write",),
    in_a_word=("filePath", {"content": ""}),
    unseen_changes=False,
    asks=True,
    permission="edit",
    writes="filePath",
    offered=lambda offer: not offer.wants_patches,
    look=Look(verb="Write", kind="edit", subject="filePath", place="filePath", act="write {a file}", quiet=True),
)
async def write(
    ctx: ToolContext,
    content: str,
    file_path: str,
) -> Result:
    """Write a file.

    Line ends are written as sent. An existing file keeps its encoding and byte order mark, unless its encoding is
    unknown: then it becomes UTF-8, which the result says.
    """
    files = ctx.use(Files)
    place = files.tree.place(file_path)
    ctx.check(*place.external(), Request(permission="edit", patterns=(place.pattern,)))
    if not place.inside:
        await ctx.ask_all(*place.external())
    old = await _old_content(files, place)
    if old is not None:
        files.require_read(ctx.session_id, old)
    before = _old_text(files, old)
    after = _encode(before, content)
    visible = Text(content=BEFORE) if before is not None and is_unreadable(ctx, place) else before
    metadata = {"filepath": str(place.path), "diff": await _diff(place, visible, content)}
    await ctx.ask_all(edit_request([place], metadata))
    remarks = _remarks(before, content, in_part=files.read_in_part(ctx.session_id, place))
    change = Change(place=place, before=None if old is None else old.data, after=after)
    outcomes = await files.commit([change], session_id=ctx.session_id, call_id=ctx.call_id)
    written, difference = await _as_written(files, outcomes[0], after, content)
    diff = metadata["diff"] if written == content else await _diff(place, visible, written)
    output = " ".join([_summary(place, written, existed=old is not None), *remarks]) + difference
    return Result(
        with_remarks(output, outcomes),
        title=place.relative,
        metadata={"diagnostics": diagnostics(outcomes), "filepath": str(place.path), "exists": old is not None}
        | ({"diff": diff} if old is not None else {}),
    )


async def _as_written(files: Files, outcome: WriteOutcome, after: bytes, content: str) -> tuple[str, str]:
    """The text on disk, and what is to be said if somebody has changed it again since."""
    if outcome.body == after:
        return content, ""
    text = files.decode(outcome.place, outcome.body).content if isinstance(outcome.body, bytes) else ""
    diff = await asyncio.to_thread(compare, content, text)
    return text, f" A program that looks after the file has changed it once more since:\n{diff.short()}"


async def _old_content(files: Files, place: Place) -> Content | None:
    """Return the content now; None if nothing is there."""
    if place.given.endswith("/") or place.path.is_dir():
        raise ToolError(f"{place.path} is a folder. Name a file in it.", "is_folder")
    return await files.fetch(place) if place.exists else None


def _old_text(files: Files, old: Content | None) -> Text | None:
    """The old text; None if there is none, or it is no text."""
    if old is None:
        return None
    try:
        return files.decode(old.place, old.data)
    except ToolError:
        return None


def _encode(before: Text | None, content: str) -> bytes:
    if before is None or before.guessed:
        return Text(content="").encode(content)
    return before.encode(content.removeprefix("\ufeff") if before.bom else content)


async def _diff(place: Place, before: Text | None, content: str) -> str:
    old = "" if before is None else before.content
    if len(old) + len(content) <= LARGE // 4:
        return unified(str(place.path), old, content)
    return await asyncio.to_thread(unified, str(place.path), old, content)


def _summary(place: Place, content: str, *, existed: bool) -> str:
    lines = content.count("\n") + (not content.endswith("\n") and content != "")
    return f"{'Wrote' if existed else 'Created'} {place.relative}: {lines} line{'' if lines == 1 else 's'}."


def _remarks(before: Text | None, content: str, *, in_part: bool) -> list[str]:
    """Return remarks on what the writer may not be aware of."""
    if before is None:
        return []
    remarks = []
    old, new = line_ends(before.content), line_ends(content)
    if old != new and "none" not in (old, new):
        remarks.append(f"The line ends were {old.upper()} and are now {new.upper()}.")
    if before.guessed:
        remarks.append("The file was not UTF-8; it is now.")
    if in_part:
        remarks.append("Only a part of the old content had been read.")
    return remarks
