"""A hostile project and the user who has cloned it and not trusted it."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from toolwright.testing import make_workspace
from toolwright.workspace import Workspace

Opened = Callable[..., Workspace]


@dataclass(frozen=True, slots=True)
class Victim:
    """The folders of the user, with a key in one of them."""

    project: Path
    home: Path

    @property
    def key(self) -> Path:
        return self.home / ".ssh" / "id_rsa"

    def brings(self, name: str, content: Any) -> Path:
        return _put(self.project / name, content)

    def says(self, content: Any) -> Path:
        """What the user's own settings hold."""
        return _put(self.home / ".config" / "toolwright" / "toolwright.json", content)

    def opens(self, **more: Any) -> Workspace:
        return make_workspace(self.project, **{"trust": False, **more})


def _put(file: Path, content: Any) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")
    return file


@pytest.fixture
def victim(project: Path) -> Victim:
    (project / ".git").mkdir()
    made = Victim(project.resolve(), project.parent / f"{project.name}.home")
    _put(made.key, "PRIVATE KEY")
    return made
