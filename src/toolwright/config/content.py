"""The content of a project that trust makes active: settings, agents, commands, tools and plugins, by their hashes."""

import hashlib
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from pathlib import Path
from typing import Any

from toolwright.config import jsonc
from toolwright.config.places import between, find_root, project_files, project_folders
from toolwright.config.reading import read_bytes
from toolwright.errors import ConfigError
from toolwright.machine.folders import Folders
from toolwright.record import record

KINDS = (
    "agent",
    "agents",
    "mode",
    "modes",
    "command",
    "commands",
    "tool",
    "tools",
    "plugin",
    "plugins",
    "hook",
    "hooks",
)
"""The folders beside the settings whose files take effect."""
CODE = (
    *(".py", ".pyc", ".so", ".js", ".ts", ".mjs", ".mts", ".cjs", ".cts", ".jsx", ".tsx", ".node", ".wasm"),
    *("package.json", "requirements.txt", "bun.lock"),
)
"""Endings of files beside the settings that code may be made from."""
FOREIGN_FILES = (
    ".mcp.json",
    ".claude/settings.json",
    ".claude/settings.local.json",
    ".codex/config.toml",
    ".codex/hooks.json",
    ".gemini/settings.json",
)
"""Files of other programs in a project that start something."""
FOREIGN_RULES = (".codex/rules", ".gemini/policies")
"""Folders in which they keep what is allowed."""
PASSED_OVER = ("node_modules", "__pycache__", "plans", "skill", "skills")
"""Folders beside the settings that hold nothing that runs by itself."""
MOST_FILES = 2000
MOST_BYTES = 8_000_000
UNREADABLE = ""
"""The hash of what cannot be read, which is never trusted."""
_INCLUDED = re.compile(r"\{file:([^{}]{1,1000})\}")


@record(frozen=True, slots=True)
class ProjectFile:
    """One file as it is now."""

    hash: str
    content: bytes = field(default=b"", repr=False)


@record(frozen=True, slots=True, kw_only=True)
class TrustedContent:
    """Everything a project would make active in the folder opened."""

    root: Path
    files: Mapping[str, ProjectFile]
    """By path from the root."""
    origin: str = ""
    """Address that git says the repository comes from."""
    imported: frozenset[str] = frozenset()
    """Those that do nothing but be imported by others."""


def content_of(directory: Path, folders: Folders, imported: Iterable[str] = ()) -> TrustedContent:
    """Read it all, without taking any of it for granted. `imported` are further files, by their paths from the root."""
    directory = directory.resolve()
    root = find_root(directory)
    collector = _Collector(root)
    for path in project_files(root, directory, folders):
        collector.add(path)
    for folder in project_folders(root, directory, folders):
        for kind in KINDS:
            collector.add_folder(folder / kind)
        collector.add_code(folder)
    for folder in between(root, directory):
        if folder != folders.home:
            for name in FOREIGN_FILES:
                collector.add(folder / name)
            for kind in ("agents", "commands"):
                collector.add_folder(folder / ".claude" / kind)
            for rules in FOREIGN_RULES:
                collector.add_folder(folder / rules)
    active = set(collector.files)
    for name in imported:
        collector.add(root / name)
    return TrustedContent(
        root=root,
        files=dict(sorted(collector.files.items())),
        origin=_origin(root),
        imported=frozenset(collector.files) - active,
    )


@record(slots=True)
class _Collector:
    root: Path
    files: dict[str, ProjectFile] = field(default_factory=dict[str, ProjectFile])

    def add_folder(self, folder: Path) -> None:
        for parent, names, files in os.walk(folder):
            names[:] = sorted(name for name in names if name not in ("node_modules", "__pycache__"))
            for name in files:
                self.add(Path(parent, name))

    def add_code(self, folder: Path) -> None:
        """Add what tools and plugins beside the settings may import, and what is installed for them."""
        for parent, names, files in os.walk(folder):
            names[:] = sorted(name for name in names if name not in PASSED_OVER)
            for name in files:
                if name.endswith(CODE):
                    self.add(Path(parent, name))

    def add(self, path: Path) -> None:
        name = os.path.relpath(path, self.root)
        if name in self.files or not os.path.lexists(path):
            return
        if len(self.files) >= MOST_FILES:
            raise ConfigError(f"{self.root} brings more than {MOST_FILES} files of settings and code; it is not read.")
        try:
            content = read_bytes(path, MOST_BYTES)
        except (OSError, ValueError):
            self.files[name] = ProjectFile(UNREADABLE)
            return
        self.files[name] = ProjectFile(hashlib.sha256(content).hexdigest(), content)
        for included in self._included(path, content):
            self.add(included)

    def _included(self, path: Path, content: bytes) -> Iterator[Path]:
        """Files of the project that a file of settings names: filled in, or run as plugins."""
        if path.suffix not in (".json", ".jsonc", ".md", ".txt"):
            return
        text = content.decode("utf-8", "replace")
        named = [match[1].strip() for match in _INCLUDED.finditer(text)]
        named += _plugins(text) if path.suffix != ".md" else []
        for name in named:
            inside = Path(os.path.normpath(path.parent / name))
            if not name.startswith("~") and inside.is_relative_to(self.root) and inside.is_file():
                yield inside


def _plugins(text: str) -> Iterator[str]:
    try:
        value: Any = jsonc.parse(text, "")
    except ConfigError:
        return
    for key in ("plugin", "plugins"):
        entries = value.get(key) if isinstance(value, dict) else None
        for entry in entries if isinstance(entries, list) else ():
            first = entry[0] if isinstance(entry, list) and entry else entry
            named = first.get("package") if isinstance(first, dict) else first
            if isinstance(named, str):
                yield named.removeprefix("file://")


def _origin(root: Path) -> str:
    """The address of the remote that the repository was cloned from, if git has noted one."""
    try:
        text = read_bytes(root / ".git" / "config", 200_000).decode("utf-8", "replace")
    except (OSError, ValueError):
        return ""
    section = re.search(r'^\[remote "origin"\]$(.*?)(?=^\[|\Z)', text, re.MULTILINE | re.DOTALL)
    address = re.search(r"^\s*url\s*=\s*(\S+)", section[1], re.MULTILINE) if section else None
    return address[1] if address else ""
