"""The keys of providers, in a file that only the user can read."""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from toolwright.errors import ConfigError, UsageError

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class AuthFile:
    """`auth.json` in the data folder: a record for each provider."""

    path: Path

    def records(self) -> Mapping[str, Json]:
        try:
            value = json.loads(self.path.read_text("utf-8"))
        except FileNotFoundError:
            return {}
        except ValueError as error:
            raise ConfigError(f"{self.path}: {error}. Correct the file, or delete it and run tw auth again.") from error
        return {name: record for name, record in value.items() if isinstance(record, dict)}

    def put(self, provider: str, key: str) -> None:
        self._write({**self.records(), provider: {"type": "api", "key": key}})

    def remove(self, provider: str) -> None:
        known = dict(self.records())
        if provider not in known:
            raise UsageError(f"No key is stored for {provider!r}. There are: {', '.join(known) or 'none'}.")
        del known[provider]
        self._write(known)

    def _write(self, records: Mapping[str, Json]) -> None:
        """Nobody else can read the file at any moment, not even while it is written."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        fresh = self.path.with_suffix(f".{os.getpid()}.new")
        handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            json.dump(records, stream, indent=2)
        fresh.replace(self.path)
