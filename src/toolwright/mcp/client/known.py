"""Lists of a server as it last gave them, so that its tools are known before it has been started."""

import hashlib
import json
from pathlib import Path
from typing import Any

from toolwright.errors import ConfigError
from toolwright.machine.private_files import read_private, update
from toolwright.mcp.protocol import object_of
from toolwright.protocols.json_text import read_json
from toolwright.protocols.json_types import Json
from toolwright.record import record
from toolwright.settings import McpSettings

LARGEST = 4_000_000
"""Characters of a list that is worth keeping."""


@record(frozen=True, slots=True)
class KnownLists:
    """A file with the lists of one server as it is configured now; another configuration is another file."""

    path: Path

    @classmethod
    def of(cls, cache: Path, name: str, settings: McpSettings, directory: Path) -> "KnownLists":
        marks: list[Any] = [name, list(settings.command), settings.url, settings.cwd, str(directory)]
        marks += [sorted(settings.environment.items()), sorted(settings.headers.items())]
        digest = hashlib.sha256(json.dumps(marks).encode("utf-8", "surrogatepass")).hexdigest()
        return cls(cache / "mcp" / f"{digest[:32]}.json")

    def read(self, kind: str) -> list[Json]:
        """Return the tools, prompts or resources there were; none if not known."""
        try:
            entries = object_of(read_json(read_private(self.path) or "{}")).get(kind)
        except (ValueError, ConfigError):
            return []
        return [one for one in entries if isinstance(one, dict)] if isinstance(entries, list) else []

    def write(self, lists: dict[str, Any]) -> None:
        text = json.dumps(lists)
        if len(text) > LARGEST or text == self._stored_text():
            return
        try:
            update(self.path, lambda _: text)
        except ConfigError:
            return  # a cache that cannot be written is no cache

    def _stored_text(self) -> str:
        try:
            return read_private(self.path)
        except ConfigError:
            return ""
