"""The tools of a server as they were first seen: one that is another now waits to be looked at."""

import json
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from toolwright.errors import ConfigError
from toolwright.machine.private_files import read_private, update
from toolwright.mcp.protocol import object_of, text_of
from toolwright.protocols.json_text import read_json
from toolwright.protocols.json_types import Json
from toolwright.record import record
from toolwright.text.diff import unified

FOLDER = "mcp-tools"
PARTS = ("description", "title", "inputSchema", "annotations")
"""Parts of a tool that a model, a check or a rule goes by."""


@record(frozen=True, slots=True)
class Pins:
    """The file of one server, as it is configured now, in the user's data."""

    path: Path

    def changed(self, tools: Iterable[Json]) -> list[str]:
        """Return the names of tools that are not what they were. One that nobody has seen is remembered as it is."""
        now = {text_of(tool.get("name")): _pinned(tool) for tool in tools}
        seen = self._seen()
        if seen is None:
            return list(now)
        if fresh := {name: pinned for name, pinned in now.items() if name not in seen}:
            with suppress(ConfigError):  # where nothing can be kept, every time is the first
                self._remember({**seen, **fresh})
        return [name for name, pinned in now.items() if seen.get(name, pinned) != pinned]

    def accept(self, tools: Sequence[Json]) -> None:
        """Remember these tools as they are now."""
        self._remember({**(self._seen() or {}), **{text_of(tool.get("name")): _pinned(tool) for tool in tools}})

    def difference(self, tool: Json) -> str:
        """Return how a tool has changed, as a difference of texts."""
        name = text_of(tool.get("name"))
        return unified(name, _pinned_text((self._seen() or {}).get(name, {})), _pinned_text(_pinned(tool)))

    def _seen(self) -> dict[str, Json] | None:
        """The tools as they were; None where that can no longer be read, so that all of them have to be looked at."""
        try:
            stored = object_of(read_json(read_private(self.path) or "{}"))
        except (ValueError, ConfigError):
            return None
        return {name: object_of(one) for name, one in stored.items()}

    def _remember(self, seen: dict[str, Json]) -> None:
        update(self.path, lambda _: json.dumps(seen))


def _pinned(tool: Json) -> Json:
    return {part: tool[part] for part in PARTS if tool.get(part) is not None}


def _pinned_text(pinned: Json) -> str:
    texts = [text_of(pinned.get("title")), text_of(pinned.get("description"))]
    rest = {part: pinned[part] for part in ("inputSchema", "annotations") if part in pinned}
    return "\n".join([*filter(None, texts), json.dumps(rest, indent=2, ensure_ascii=False)]) + "\n"
