"""A stand-in for npm and its registry: what packages there are, and how often it was asked."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from toolwright.errors import ToolError

SAYING = (
    "export const Said = async () => ({ tool: { said: { description: 'd', args: {}, execute: async () => '%s' } } })\n"
)


@dataclass
class Npm:
    """Installs the packages that were published here."""

    releases: dict[str, dict[str, str]] = field(default_factory=dict)
    """The text of each release of each package."""
    asked: list[str] = field(default_factory=list)

    def publish(self, name: str, version: str, text: str) -> None:
        self.releases.setdefault(name, {})[version] = text

    async def __call__(self, argv: Sequence[str], environment: Mapping[str, str], cwd: Path | None = None) -> str:
        _, action, *words = argv
        self.asked.append(action)
        if action == "view":
            name, _, wanted = words[1].rpartition("@")
            version = self._version(name, wanted)
            return json.dumps({"version": version, "dist.integrity": self._integrity(name, version)})
        assert cwd is not None
        assert "--ignore-scripts" in words
        [(name, wanted)] = json.loads((cwd / "package.json").read_text())["dependencies"].items()
        noted = cwd / "package-lock.json"
        if action == "ci":
            wanted = json.loads(noted.read_text())["packages"][f"node_modules/{name}"]["version"]
        version = self._version(name, wanted)
        said = {"version": version, "integrity": self._integrity(name, version)}
        noted.write_text(json.dumps({"packages": {f"node_modules/{name}": said}}))
        folder = cwd / "node_modules" / name
        folder.mkdir(parents=True, exist_ok=True)
        about = {"type": "module", "exports": {".": {"import": {"default": "./main.js"}}}}
        (folder / "package.json").write_text(json.dumps(about))
        (folder / "main.js").write_text(self.releases[name][version])
        return ""

    def _version(self, name: str, wanted: str) -> str:
        known = self.releases.get(name, {})
        if wanted not in known and wanted != "latest":
            raise ToolError(f"npm view failed: no release {name}@{wanted}")
        return wanted if wanted in known else max(known)

    def _integrity(self, name: str, version: str) -> str:
        return f"sha512-{abs(hash(self.releases[name][version]))}"


@pytest.fixture
def npm(monkeypatch: pytest.MonkeyPatch) -> Npm:
    made = Npm()
    monkeypatch.setattr("toolwright.extensions.packages.run_step", made)
    return made
