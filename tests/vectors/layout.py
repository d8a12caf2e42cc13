"""The recorded rows and the places they speak of, as real folders: what every test of a vector file starts from."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.files.tool_case import VECTORS, lay_out, rows
from toolwright.definition import Tool
from toolwright.protocols.json_types import Json
from toolwright.testing import ScriptedUser, make_workspace
from toolwright.workspace import Workspace

__all__ = ["Places", "lay_out", "layouts", "make_places", "rows", "text_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """The folders behind the tokens of a row."""

    root: Path

    @property
    def project(self) -> Path:
        return self.root / "a" / "b" / "project"

    @property
    def outside(self) -> Path:
        return self.root / "a" / "outside"

    @property
    def home(self) -> Path:
        return self.root.parent / "home"

    @property
    def data(self) -> Path:
        return self.home / ".local" / "share" / "toolwright"

    def tokens(self) -> dict[str, str]:
        """Every token and its folder, those that hold others last."""
        return {
            "{project}": str(self.project),
            "{outside}": str(self.outside),
            "{data}": str(self.data),
            "{home}": str(self.home),
            "{home_parent}": str(self.home.parent),
            "{parent}": str(self.root / "a" / "b"),
            "{parent2}": str(self.root / "a"),
            "{parent3}": str(self.root),
            "{parent4}": str(self.root.parent),
        }

    def fill(self, value: Any) -> Any:
        """Any value of a row with real folders in it, keys included."""
        text = json.dumps(value)
        for token, folder in self.tokens().items():
            text = text.replace(token, folder)
        return json.loads(text)

    def write_config(self, config: Json) -> None:
        if config:
            (self.project / "opencode.json").write_text(json.dumps(self.fill(config)), "utf-8")

    @asynccontextmanager
    async def workspace(
        self, user: ScriptedUser | None = None, tools: tuple[Tool, ...] = ()
    ) -> AsyncIterator[Workspace]:
        workspace = make_workspace(self.project, user=user, tools=tools, environment={"HOME": str(self.home)})
        try:
            yield workspace
        finally:
            await workspace.close()


def make_places(folder: Path, **maps: Json) -> Places:
    """The folders, with a file map each for `project`, `outside` and `home` where given."""
    places = Places(root=folder / "root")
    git = places.project / ".git"
    for made in (git / "objects", git / "refs" / "heads", places.outside, places.home):
        made.mkdir(parents=True)
    (git / "HEAD").write_text("ref: refs/heads/main\n")
    (git / "config").write_text("[core]\n\trepositoryformatversion = 0\n\tbare = false\n")
    for name, files in maps.items():
        lay_out(getattr(places, name), places.fill(files))
    return places


def layouts(name: str) -> Json:
    """The file maps that all rows of a file share."""
    shared: Json = json.loads((VECTORS / "layouts.json").read_text("utf-8"))[name]
    return {key: value for key, value in shared.items() if key != "config"}


def text_of(content: Json) -> str:
    """A long text that a row describes piece by piece."""
    pieces = [_piece(text) for text, times in content["repeat"] for _ in range(times)]
    return "".join(piece.replace("{i}", str(number)) for number, piece in enumerate(pieces, 1))


def _piece(text: str | Json) -> str:
    if isinstance(text, str):
        return text
    return str(text["char"]) * int(text["times"]) + ("\n" if text["newline"] else "")
