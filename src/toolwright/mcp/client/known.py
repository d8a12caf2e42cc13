"""What a server had when it was last asked, so that its tools are known before it has been started."""

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
class Known:
    """A file with the lists of one server as it is configured now; another configuration is another file."""

    path: Path

    @classmethod
    def of(cls, cache: Path, name: str, said: McpSettings, directory: Path) -> "Known":
        marks: list[Any] = [name, list(said.command), said.url, said.cwd, str(directory)]
        marks += [sorted(said.environment.items()), sorted(said.headers.items())]
        digest = hashlib.sha256(json.dumps(marks).encode("utf-8", "surrogatepass")).hexdigest()
        return cls(cache / "mcp" / f"{digest[:32]}.json")

    def read(self, kind: str) -> list[Json]:
        """The tools, prompts or resources there were; none if nobody knows."""
        try:
            said = object_of(read_json(read_private(self.path) or "{}")).get(kind)
        except (ValueError, ConfigError):
            return []
        return [one for one in said if isinstance(one, dict)] if isinstance(said, list) else []

    def write(self, lists: dict[str, Any]) -> None:
        text = json.dumps(lists)
        if len(text) > LARGEST or text == self._text():
            return
        try:
            update(self.path, lambda _: text)
        except ConfigError:
            return  # a cache that cannot be written is no cache

    def _text(self) -> str:
        try:
            return read_private(self.path)
        except ConfigError:
            return ""
