"""The read tool: lines of a file, a folder's entries, a picture, pages of a document."""

import asyncio
import base64
import os
import re
from functools import partial
from io import BytesIO, FileIO
from typing import Annotated, Literal

from toolwright.calls.look import Look
from toolwright.calls.request import Request
from toolwright.definition import AgentLike, Attachment, Result, Tool, ToolContext, described, tool
from toolwright.errors import ToolError
from toolwright.files.buffers import UNSAVED
from toolwright.files.disk import open_file, read_some, read_whole, size_of
from toolwright.files.held import hold, is_folder
from toolwright.files.lines import LineLimits, LineWindow
from toolwright.files.media import DOCUMENT, NAMES, fit, kind_of
from toolwright.files.paths import Place
from toolwright.files.pdf import page_range, read_pages
from toolwright.files.store import LARGE, Files
from toolwright.files.text import SAMPLE, detect
from toolwright.files.view import FileView
from toolwright.functions.signature import Field
from toolwright.tools._shown_names import ShownNames

LINES = 2000
WIDTH = 2000
BYTES = 50 * 1024
PREVIEW = 20
BINARY = re.compile(
    "zip|tar|gz|7z|exe|dll|so|class|jar|war|docx?|xlsx?|pptx?|od[tsp]|bin|dat|obj|o|a|lib|wasm|py[co]", re.IGNORECASE
)
"""Endings of names that are hardly ever those of text."""
Form = Literal["file", "path"]
IN_EDITOR = "This is the text in the user's editor. It is not saved yet, so commands see an older one."


async def _for_agent(tool: Tool, agent: AgentLike) -> Tool:
    """The tool saying how lines come, so that their numbers are not taken for text."""
    return described(tool, line="12: text" if agent.use(Files).form == "path" else "00012| text")


@tool(
    text="read.md",
    known_as=("Read",),
    in_a_word=("filePath", {}),
    unseen_changes=False,
    asks=True,
    init=_for_agent,
    reads="filePath",
    look=Look(verb="Read", kind="read", subject="filePath", place="filePath", act="read {a file}"),
)
async def read(
    ctx: ToolContext,
    file_path: Annotated[str, "Absolute, or relative to the project folder"],
    offset: Annotated[int | None, Field("First line, from 1", schema={"minimum": 0})] = None,
    limit: Annotated[int | None, Field("How many lines", schema={"minimum": 0})] = None,
    column: Annotated[int | None, Field("First character of each line, from 1", schema={"minimum": 1})] = None,
    pages: Annotated[str | None, "As in 3 or 1-5"] = None,
) -> Result:
    """Read a file. Its state is remembered, so that the session may change it."""
    files = ctx.use(Files)
    place = files.tree.place(file_path)
    folder = place.path.is_dir()
    request = Request(permission="read", patterns=(place.absolute_pattern,))
    await ctx.ask_all(*place.external(folder=folder), request)
    first, count = max(1, offset or 1), LINES if limit is None else limit
    if folder:
        return await asyncio.to_thread(_list, place, ShownNames(ctx, files.tree), first, count, files.form)
    if pages is not None:
        return await asyncio.to_thread(_read_pages, place, pages)
    ending = place.path.suffix[1:].lower()
    if ending in NAMES:
        return await asyncio.to_thread(_attach, place, NAMES[ending])
    with open_file(place, missing="not_found") as file:
        if offset is None and limit is None and BINARY.fullmatch(ending):
            raise _named_like_binary(place, file)
        limits = LineLimits(lines=count, bytes=BYTES, width=WIDTH)
        look = partial(files.viewer.view, place, file, limits, first=first, column=column or 1)
        if files.buffers is not None and (held := await files.unsaved(place)) is not None:
            look = partial(
                files.viewer.view, place, BytesIO(held), limits, first=first, column=column or 1, stamp=UNSAVED
            )
        view = await asyncio.to_thread(look) if os.fstat(file.fileno()).st_size > LARGE else look()
    whole = first == 1 and view.window.stopped_by == "end" and not view.window.cut
    files.note_read(ctx.session_id, place, view.digest, stamp=view.stamp, whole=whole)
    return _lines_result(place, view, files.form)


def _opened(place: Place) -> FileIO:
    return open_file(place, missing="not_found")


def _lines_result(place: Place, view: FileView, form: Form) -> Result:
    window = view.window
    after = window.first + len(window.lines)
    mark = "{}: {}" if form == "path" else "{:05d}| {}"
    numbered = (mark.format(number, line) for number, line in enumerate(window.lines, window.first))
    notes = "\n".join(f"({note})" for note in (_trailer(window, after), *_remarks(view)))
    metadata = {
        "preview": "\n".join(window.lines[:PREVIEW]),
        "truncated": window.stopped_by != "end",
        "lineStart": window.first,
        "lineEnd": after - 1,
        "totalLines": window.total,
        "nextOffset": None if window.stopped_by == "end" else after,
        "stoppedBy": window.stopped_by,
        "cutLines": sorted(window.cut),
    }
    if form == "path":
        output = "\n".join((*_head(place, "file"), "<content>", *numbered, "", notes, "</content>"))
    else:
        output = "\n".join(("<file>", *numbered, "", notes, "</file>"))
    return Result(output, title=place.relative, metadata=metadata, truncated=window.stopped_by != "end")


def _trailer(window: LineWindow, after: int) -> str:
    """Tell what ended the reading, and how to go on: `after` is the first line not shown."""
    last, total = after - 1, "" if window.total is None else f" of {window.total}"
    lines = "1 line" if window.total == 1 else f"{window.total} lines"
    if window.stopped_by == "bytes":
        return f"Stopped at {BYTES} bytes. Use offset {after} to read beyond line {last}{total}."
    if window.stopped_by == "more":
        return f"More lines follow. Use offset {after} to read beyond line {last}{total}."
    if not window.lines:
        return f"End of file: total {lines}, so there is none from line {window.first} on."
    return f"End of file: total {lines}."


def _remarks(view: FileView) -> list[str]:
    """Return remarks on what the lines themselves do not tell."""
    window, remarks = view.window, list[str]()
    if window.cut:
        line, column = next(iter(window.cut.items()))
        others = f", and so are {len(window.cut) - 1} others" if len(window.cut) > 1 else ""
        way = f"Use offset {line}, limit 1 and column {column} to read on in it."
        remarks.append(f"Line {line} is longer than shown{others}. {way}")
    ended = window.lines if window.stopped_by != "end" else window.lines[:-1]
    if ended and all(line.endswith("\r") for line in ended):
        remarks.append("The lines end in CRLF.")
    if view.encoding != "utf-8":
        remarks.append(f"The file is encoded in {view.encoding.upper()}.")
    if view.stamp is UNSAVED:
        remarks.append(IN_EDITOR)
    if window.damaged:
        remarks.append("The file is not all UTF-8: \N{REPLACEMENT CHARACTER} stands for bytes that are not.")
    return remarks


def _head(place: Place, kind: str) -> tuple[str, str]:
    return f"<path>{place.path}</path>", f"<type>{kind}</type>"


def _list(place: Place, may_show: ShownNames, first: int, count: int, form: Form) -> Result:
    """A folder's entries in order, folders with a slash, also those behind a link."""
    try:
        with hold(place.path) as held, held.entries() as entries:
            there = [(entry.name, is_folder(entry)) for entry in entries]
    except OSError as error:
        raise ToolError(f"{place.path} cannot be listed: {error.strerror}.", "not_found") from error
    top = str(place.path).rstrip("/")
    names = sorted(f"{name}/" if folder else name for name, folder in there if may_show(f"{top}/{name}"))
    listed = names[first - 1 : first - 1 + count]
    after = first + len(listed)
    more = after <= len(names)
    total = "1 entry" if len(names) == 1 else f"{len(names)} entries"
    note = f"Use offset {after} to go on; {total} in all." if more else f"{total}."
    note = f"{note} {may_show.note}" if may_show.withheld else note
    if form == "path":
        output = "\n".join((*_head(place, "directory"), "<entries>", *listed, "", f"({note})", "</entries>"))
    else:
        output = "\n".join(("<folder>", *listed, "", f"({note})", "</folder>"))
    metadata = {"preview": "\n".join(listed[:PREVIEW]), "truncated": more, "totalEntries": len(names)}
    return Result(output, title=place.relative, metadata=metadata, truncated=more)


def _attach(place: Place, mime: str) -> Result:
    """A file named like a picture or a PDF goes to the model as it is.

    The attachment's media type is that of the name; the address says what the bytes really are.
    """
    size = size_of(place)
    if size > DOCUMENT:
        advice = "Read its text with pages." if mime == "application/pdf" else "Scale it down first."
        raise ToolError(f"{place.path} has {size:,} bytes, too many to be shown. {advice}", "too_large")
    with _opened(place) as file:
        data = read_whole(place, file)
    real = kind_of(data)
    note = f"{'PDF' if mime == 'application/pdf' else 'Picture'} read: {place.relative}"
    if real.startswith("image/"):
        picture = fit(data)
        data, real, mime = picture.data, picture.mime, picture.mime if picture.shrunk else mime
        note += f" ({picture.shrunk})" if picture.shrunk else ""
    elif real != mime:
        real = "application/octet-stream" if detect(data[:SAMPLE])[0] == "binary" else "text/plain"
        note += ". Its content is not what its name says."
    url = f"data:{real};base64,{base64.b64encode(data).decode()}"
    return Result(
        note,
        title=place.relative,
        metadata={"preview": note, "truncated": False},
        attachments=(Attachment(mime=mime, url=url, filename=place.path.name),),
        truncated=False,
    )


def _read_pages(place: Place, pages: str) -> Result:
    first, last = page_range(pages)
    with _opened(place) as file:
        data = read_whole(place, file)
    if kind_of(data) != "application/pdf":
        raise ToolError(f"{place.path} is not a PDF file, so it has no pages. Leave pages out.", "schema")
    texts, total = read_pages(place.path, data, first, last)
    parts = [f"--- page {number} of {total} ---\n{text}" for number, text in enumerate(texts, first)]
    title = f"{place.relative}, pages {first}-{first + len(texts) - 1}"
    return Result("\n\n".join(parts), title=title, metadata={"preview": texts[0], "totalPages": total})


def _named_like_binary(place: Place, file: FileIO) -> ToolError:
    kind, _ = detect(read_some(place, file, SAMPLE))
    advice = "Use a program made for its format."
    if kind != "binary":
        advice = "Its content looks like text: give offset 1 to read it as such."
    return ToolError(f"{place.path} is named like a binary file. {advice}", "binary")
