"""The answers of language servers as lines that a model reads: places with their source, symbols with their range."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from toolwright.definition import ToolContext
from toolwright.files.paths import Place
from toolwright.files.store import Files
from toolwright.lsp.client import LanguageClient
from toolwright.lsp.outline import Symbol, kind_of
from toolwright.lsp.positions import Positions, path_of
from toolwright.lsp.snapshot import snapshot

_WIDTH = 200


class Shower:
    """Shows answers; the text of a file only to who may read it."""

    def __init__(self, ctx: ToolContext, files: Files, most: int) -> None:
        self._ctx = ctx
        self._files = files
        self._most = most
        self._texts = dict[Path, Positions | None]()

    def show(self, operation: str, place: Place, answers: list[tuple[LanguageClient, Any]]) -> str:
        """All answers, each place once. Empty if there are none."""
        entries = [one for _, one in answers if isinstance(one, dict)]
        match operation:
            case "hover":
                return "\n\n".join(text for one in entries if (text := _hover(one.get("contents"))))
            case "incomingCalls" | "outgoingCalls":
                key = "from" if operation == "incomingCalls" else "to"
                lines = [line for one in entries for line in self._call(one.get(key), one, key, place.path)]
            case "workspaceSymbol" | "prepareCallHierarchy":
                lines = [line for one in entries for line in self._named(one)]
            case _:
                lines = [line for one in entries for line in self._location(one)]
        return _limited(list(dict.fromkeys(lines)), self._most)

    def show_symbols(self, path: Path, symbols: Iterable[Symbol]) -> str:
        """Symbols with the lines they take, those within others set in."""
        name = self._name(path)
        lines = [
            f"{name}:{one.line}:{one.character} {'  ' * one.depth}{one.kind} {one.name} ({one.lines})"
            for one in symbols
        ]
        return _limited(list(dict.fromkeys(lines)), self._most)

    def _location(self, entry: Any) -> Iterator[str]:
        uri, where = entry.get("uri", entry.get("targetUri")), entry.get("range", entry.get("targetSelectionRange"))
        if isinstance(uri, str) and isinstance(where, dict):
            yield self._line(uri, where)

    def _named(self, entry: Any) -> Iterator[str]:
        location = entry.get("location", entry)
        where = location.get("selectionRange", location.get("range")) if isinstance(location, dict) else None
        if isinstance(where, dict) and isinstance(location.get("uri"), str):
            yield f"{self._line(location['uri'], where)}  ({kind_of(entry)} {entry.get('name')})"

    def _call(self, item: Any, call: Any, key: str, asked: Path) -> Iterator[str]:
        """A caller with the places where it calls, or what is called and where from."""
        if not isinstance(item, dict) or not isinstance(item.get("uri"), str):
            return
        yield from self._named(item)
        holder = path_of(item["uri"]) if key == "from" else asked
        text = self._positions_in(holder) if holder else None
        for where in call.get("fromRanges", ())[: self._most] if holder and text else ():
            assert text is not None
            line, character = text.shown(where["start"])
            yield f"  called at {self._name(holder)}:{line}:{character}"

    def _line(self, uri: str, where: Any) -> str:
        path = path_of(uri)
        if path is None:
            return uri
        text = self._positions_in(path)
        if text is None:
            return f"{self._name(path)}:{where['start']['line'] + 1}:{where['start']['character'] + 1}"
        line, character = text.shown(where["start"])
        source = text.line(line - 1).strip()
        return f"{self._name(path)}:{line}:{character}  {source[:_WIDTH]}".rstrip()

    def _positions_in(self, path: Path | None) -> Positions | None:
        if path is None:
            return None
        if path not in self._texts:
            file = snapshot(path, self._files.encoding) if self._may_read(path) else None
            self._texts[path] = Positions(file.text) if file else None
        return self._texts[path]

    def _may_read(self, path: Path) -> bool:
        place = self._files.tree.place(str(path))
        asked: list[tuple[str, str]] = [("read", place.absolute_pattern)]
        asked += [(request.permission, pattern) for request in place.external() for pattern in request.patterns]
        return all(self._ctx.decide(permission, pattern) == "allow" for permission, pattern in asked)

    def _name(self, path: Path | None) -> str:
        if path is None:
            return ""
        place = self._files.tree.place(str(path))
        return place.relative if place.inside else str(place.path)


def _hover(contents: Any) -> str:
    if isinstance(contents, list):
        return "\n\n".join(text for one in contents if (text := _hover(one)))
    if isinstance(contents, dict):
        return str(contents.get("value", "")).strip()
    return str(contents or "").strip()


def _limited(lines: list[str], most: int) -> str:
    if len(lines) <= most:
        return "\n".join(lines)
    return "\n".join((*lines[:most], f"... and {len(lines) - most} more. Ask for something narrower, or use grep."))
