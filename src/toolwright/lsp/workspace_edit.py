"""Edits that a server wants, in one file or many, as changes of files that are made all together or not at all."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from toolwright.errors import ToolError
from toolwright.files.paths import Place
from toolwright.files.replace import Change
from toolwright.files.store import Files
from toolwright.files.text import Text
from toolwright.lsp.positions import edited, path_of
from toolwright.record import record

MOST = 1000
"""Files that one answer may change."""


@record(frozen=True, slots=True, kw_only=True)
class Revised:
    """One file before and after."""

    place: Place
    before: str
    after: str
    change: Change


@record(slots=True)
class _Draft:
    """A file on its way: what is on disk, and what it is to become. None is no file."""

    place: Place
    disk: bytes | None
    text: Text
    content: str | None
    like: Place | None = None


async def revised(files: Files, edit: object) -> list[Revised]:
    """The files an answer changes, each once. ToolError if it makes no sense for what is on disk."""
    drafts = dict[Path, _Draft]()
    for operation in _operations(edit):
        await _apply(files, drafts, operation)
        if len(drafts) > MOST:
            raise ToolError(f"The server wants to change more than {MOST} files. Nothing was changed.", "too_large")
    return [made for draft in drafts.values() if (made := _revised(draft)) is not None]


def _operations(edit: object) -> Iterator[Mapping[str, Any]]:
    if not isinstance(edit, dict):
        return
    listed = edit.get("documentChanges")
    if isinstance(listed, list):
        yield from (one for one in listed if isinstance(one, dict))
        return
    changes = edit.get("changes")
    for uri, edits in changes.items() if isinstance(changes, dict) else ():
        yield {"textDocument": {"uri": uri}, "edits": edits}


async def _apply(files: Files, drafts: dict[Path, _Draft], operation: Mapping[str, Any]) -> None:
    kind = operation.get("kind")
    if kind is None:
        document = operation.get("textDocument")
        draft = await _draft(files, drafts, document.get("uri") if isinstance(document, dict) else None)
        edits = operation.get("edits")
        if draft.content is None:
            raise ToolError(f"The server wants to change {draft.place.path}, which is not there.", "missing")
        draft.content = _edited(draft, edits if isinstance(edits, list) else [])
        return
    if kind == "create":
        draft = await _draft(files, drafts, operation.get("uri"))
        draft.content = draft.content or ""
    elif kind == "delete":
        draft = await _draft(files, drafts, operation.get("uri"))
        draft.content = None
    elif kind == "rename":
        old = await _draft(files, drafts, operation.get("oldUri"))
        new = await _draft(files, drafts, operation.get("newUri"))
        if new.content is not None:
            raise ToolError(
                f"The server wants to move a file to {new.place.path}, which is there already.", "ambiguous"
            )
        new.content, new.text, new.like, old.content = old.content, old.text, old.place, None
    else:
        raise ToolError(f"The server wants what is not known here: {kind!r:.60}. Nothing was changed.")


async def _draft(files: Files, drafts: dict[Path, _Draft], uri: object) -> _Draft:
    path = path_of(uri) if isinstance(uri, str) else None
    if path is None:
        raise ToolError(f"The server wants to change {uri!r:.100}, which is no file. Nothing was changed.")
    place = files.tree.place(str(path))
    if place.path not in drafts:
        if place.exists:
            loaded = await files.load(place)
            drafts[place.path] = _Draft(place, loaded.data, loaded.text, loaded.text.content)
        else:
            drafts[place.path] = _Draft(place, None, Text(content=""), None)
    return drafts[place.path]


def _edited(draft: _Draft, edits: list[Any]) -> str:
    try:
        return edited(draft.content or "", edits)
    except (ValueError, TypeError, KeyError) as error:
        raise ToolError(f"The server's edits of {draft.place.path} make no sense: {error}.") from error


def _revised(draft: _Draft) -> Revised | None:
    after = None if draft.content is None else draft.text.encode(draft.content)
    if after == draft.disk:
        return None
    before = draft.text.content if draft.disk is not None else ""
    change = Change(place=draft.place, before=draft.disk, after=after, like=draft.like)
    return Revised(place=draft.place, before=before, after=draft.content or "", change=change)
