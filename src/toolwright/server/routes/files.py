"""Files of the folder: listed, read, found by name and by what is in them, all under the rules for reading."""

import asyncio
import base64
import mimetypes
import os
import re
from itertools import islice
from pathlib import Path
from typing import Any

from toolwright.errors import ToolwrightError
from toolwright.files.held import is_folder
from toolwright.files.paths import Place
from toolwright.files.query import PatternError, Query
from toolwright.files.search import find_files, find_lines
from toolwright.http_server.refusal import HttpRefusal, bad_request, forbidden, not_found
from toolwright.protocols.json_types import Json
from toolwright.server.asking import RouteCall, Routes
from toolwright.server.routes.stubs import location
from toolwright.session.undo.changes import Changes
from toolwright.workspace import Workspace

routes = Routes()

LARGEST = 8 * 1024 * 1024
"""Bytes of a file that is sent."""
LISTED = 5000
"""Entries of one folder."""
FOUND = 200
"""Matches of a search."""
LOOKED_AT, QUICK = 2000, 200
"""Characters of a line in which the places of a match are told, and of a pattern for which they are."""


@routes.get("/file", "file.list")
async def listing(ask: RouteCall) -> Any:
    """List what is in a folder."""
    workspace = await ask.workspace()
    place = _place(workspace, ask.query("path") or ".")
    if not place.path.is_dir():
        raise not_found(f"{ask.query('path')[:200]} is not a folder.")
    return await asyncio.to_thread(_listed, workspace, place.path)


def _listed(workspace: Workspace, folder: Path) -> list[Json]:
    from toolwright.files.ignore import Ignore

    ignore = Ignore.inside(folder)
    rows = []
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: (not is_folder(entry), entry.name))
    except OSError as error:
        raise forbidden(f"{folder.name} cannot be read: {error.strerror}.") from error
    for entry in entries[:LISTED]:
        if entry.name == ".git" or not _may_be_shown(workspace, entry.path):
            continue
        relative = os.path.relpath(entry.path, workspace.directory)
        rows.append(
            {
                "name": entry.name,
                "path": relative,
                "absolute": entry.path,
                "type": "directory" if is_folder(entry) else "file",
                "ignored": ignore.hides(entry.path, folder=is_folder(entry)),
            }
        )
    return rows


def _may_be_shown(workspace: Workspace, path: str) -> bool:
    try:
        place = workspace.files.tree.place(path)
    except ToolwrightError:
        return False
    return place.inside and _may_be_read(workspace, place)


@routes.get("/file/content", "file.read")
async def content(ask: RouteCall) -> Any:
    """Read a file: text, or base64 of what is none."""
    workspace = await ask.workspace()
    place = _place(workspace, ask.query("path"))
    if not place.path.is_file():
        raise not_found(f"There is no file {ask.query('path')[:200]!r}.")
    data = await asyncio.to_thread(_read, place.path)
    kind = mimetypes.guess_type(place.path.name)[0]
    if b"\0" not in data[:8192]:
        try:
            return {"type": "text", "content": data.decode("utf-8")}
        except UnicodeDecodeError:
            pass
    encoded = base64.b64encode(data).decode()
    return {
        "type": "binary",
        "content": encoded,
        "encoding": "base64",
        "mimeType": kind or "application/octet-stream",
    }


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as stream:
            data = stream.read(LARGEST + 1)
    except OSError as error:
        raise forbidden(f"{path.name} cannot be read: {error.strerror}.") from error
    if len(data) > LARGEST:
        raise HttpRefusal(413, "TooLarge", f"{path.name} has more than {LARGEST} bytes.")
    return data


@routes.get("/file/status", "file.status")
async def status(ask: RouteCall) -> Any:
    """The files that sessions have changed since the server opened the folder."""
    workspace = await ask.workspace()
    changes = Changes(workspace.files.journal, workspace.files.hides)
    for session_id in workspace.sessions_open:
        changes.follow(session_id)
    changes_made = await asyncio.to_thread(changes.sum_up)
    return [
        {
            "path": os.path.relpath(one.file, workspace.directory),
            "added": one.additions,
            "removed": one.deletions,
            "status": "deleted" if not Path(one.file).exists() else "modified" if one.before else "added",
        }
        for one in changes_made
        if one.before != one.after
    ]


@routes.get("/find/file", "find.files")
async def named(ask: RouteCall) -> Any:
    """Files by name, best first; the newest for an empty query."""
    kinds = ask.query("type")
    folders = ask.query("dirs") != "false" and kinds != "file"
    paths = await _named(await ask.workspace(), ask.query("query"), folders=folders)
    if kinds == "directory":
        paths = [path for path in paths if path.endswith("/")]
    return paths[: ask.query_int("limit", 100, FOUND) or 100]


@routes.get("/api/fs/find", "api.fs.find")
async def completed(ask: RouteCall) -> Any:
    """The same, as newer clients want it for completion."""
    workspace = await ask.workspace()
    paths = await _named(workspace, ask.query("query"), folders=True)
    data = [
        {"path": path.rstrip("/"), "type": "directory" if path.endswith("/") else "file"}
        for path in paths[: ask.query_int("limit", 20, FOUND) or 20]
    ]
    return {"location": location(workspace), "data": data}


async def _named(workspace: Workspace, query: str, *, folders: bool) -> list[str]:
    if len(query) > 1000 or "\0" in query:
        raise bad_request("The query is too long, or holds what no name has.")
    letters = "*".join(_in_glob(letter) for letter in query.replace(" ", "").replace("/", ""))
    pattern = f"**/*{letters}*" if letters and "/" not in query else ""
    files = await find_files(workspace.directory, pattern)
    paths = list(files.paths)
    if query:
        wider = await find_files(workspace.directory, "")
        known = set(paths)
        paths += [path for path in wider.paths if path not in known and _fits(query, path)]
        if folders:
            paths += [path for path in _folders_of(wider.paths) if _fits(query, path)]
        paths.sort(key=lambda path: _badness(query.lower(), path.lower()))
    return [path for path in paths if _may_be_shown(workspace, path.rstrip("/"))]


def _in_glob(letter: str) -> str:
    lower, upper = letter.lower(), letter.upper()
    if lower != upper and len(upper) == 1:
        return f"[{lower}{upper}]"
    return f"[{letter}]" if letter in "*?{}[" else letter


def _folders_of(paths: tuple[str, ...]) -> list[str]:
    folders: dict[str, None] = {}
    for path in paths:
        folder = path.rpartition("/")[0]
        while folder:
            folders[f"{folder}/"] = None
            folder = folder.rpartition("/")[0]
    return list(folders)


def _fits(query: str, path: str) -> bool:
    """Tell whether the letters of the query come in the path, in order."""
    rest = iter(path.lower())
    return all(letter in rest for letter in query.lower().replace(" ", ""))


def _badness(query: str, path: str) -> tuple[int, int, str]:
    name = path.rstrip("/").rpartition("/")[2]
    if name.startswith(query):
        kind = 0
    elif query in name:
        kind = 1
    elif query in path:
        kind = 2
    else:
        kind = 3
    return kind, len(path), path


@routes.get("/find", "find.text")
async def matching(ask: RouteCall) -> Any:
    """Lines that match a pattern, as ripgrep tells of them."""
    workspace = await ask.workspace()
    pattern = ask.query("pattern")
    if not pattern or len(pattern) > 10_000 or "\0" in pattern:
        raise bad_request("Give a pattern of 1 to 10000 characters.")
    tree = workspace.files.tree

    def readable(file: str) -> bool:
        return _may_be_read(workspace, tree.exactly(workspace.directory / file))

    try:
        matches = await find_lines(Query(pattern=pattern, base=workspace.directory), readable=readable)
    except PatternError as error:
        raise bad_request(f"{pattern[:80]!r} is no pattern: {error}.") from error
    looked_for = _quick(pattern)
    lines = ((file.path, number, line) for file in matches.files for number, line in file.lines)
    wanted = islice(lines, ask.query_int("limit", FOUND, FOUND) or FOUND)
    return [_match(path, number, line, looked_for) for path, number, line in wanted]


def _match(path: str, number: int, line: str, looked_for: "re.Pattern[str] | None") -> Json:
    spots = list(islice(looked_for.finditer(line[:LOOKED_AT]), 20)) if looked_for else []
    return {
        "path": {"text": path},
        "lines": {"text": f"{line}\n"},
        "line_number": number,
        "absolute_offset": 0,
        "submatches": [{"match": {"text": one[0]}, "start": one.start(), "end": one.end()} for one in spots],
    }


_ATOM = r"(?:[^\\*+?{}()\[\]|^$]|\\[wWdDsSbB]|\\[^\w\s]|\[\^?[\w \-.,:;/@#]+\])"
_HARMLESS = re.compile(rf"\^?(?:{_ATOM}|\|)*(?:{_ATOM}[*+?])?(?:{_ATOM}|\|)*\$?")
"""Patterns without groups and with a single repetition at most: whatever the line, they are done with it soon."""


def _quick(pattern: str) -> "re.Pattern[str] | None":
    """A pattern to find again in a line what was found in it; None where that might take long."""
    try:
        return re.compile(pattern) if len(pattern) <= QUICK and _HARMLESS.fullmatch(pattern) else None
    except re.error:
        return None


def _place(workspace: Workspace, path: str) -> Place:
    """A place inside the folder that may be read, or a Refusal."""
    if not path or "\0" in path or len(path) > 4096:
        raise bad_request("Name a path.")
    place = workspace.files.tree.place(path)
    if not (place.path == workspace.directory or place.path.is_relative_to(workspace.directory)):
        raise forbidden(f"{path[:200]} is not inside the folder.")
    if not _may_be_read(workspace, place):
        raise forbidden(f"{path[:200]} may not be read: a rule denies it.")
    return place


def _may_be_read(workspace: Workspace, place: Place) -> bool:
    """Tell whether a person's client may see a file: also one that an agent would be asked about, but no secret."""
    policy = workspace.agents.ruled(workspace.agents.default()).policy
    return policy.decide("read", place.absolute_pattern).action != "deny"
