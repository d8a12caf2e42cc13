"""Which projects the user trusts: until then a project's own code does not run and its rules only forbid."""

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from toolwright.errors import ConfigError


@dataclass(frozen=True, slots=True)
class Trust:
    """The user's word on projects, in a file of plain paths."""

    file: Path

    def includes(self, root: Path) -> bool:
        return str(root) in self.roots()

    def roots(self) -> list[str]:
        try:
            data: Any = json.loads(self.file.read_text("utf-8"))
        except FileNotFoundError:
            return []
        except ValueError as error:
            raise ConfigError(
                f"{self.file}: {error}. Correct the file or delete it; then trust projects anew."
            ) from error
        roots = data.get("projects") if isinstance(data, dict) else None
        if not isinstance(roots, list) or not all(isinstance(root, str) for root in roots):
            raise ConfigError(f'{self.file}: expected {{"projects": ["/path", ...]}}. Correct the file or delete it.')
        return roots

    def add(self, root: Path) -> None:
        self._write([*(known for known in self.roots() if known != str(root)), str(root)])

    def remove(self, root: Path) -> bool:
        known = self.roots()
        self._write([other for other in known if other != str(root)])
        return str(root) in known

    def _write(self, roots: list[str]) -> None:
        self.file.parent.mkdir(parents=True, exist_ok=True)
        fresh = self.file.with_suffix(f".{os.getpid()}.new")
        fresh.write_text(json.dumps({"projects": roots}, indent=2) + "\n", "utf-8")
        fresh.replace(self.file)
