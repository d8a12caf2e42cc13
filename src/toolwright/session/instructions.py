"""Instruction files: what the user and the project want every model to know, found and read again when they change."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

NAMES = ("AGENTS.md", "CLAUDE.md", "CONTEXT.md")
MOST_BYTES = 64 * 1024


@dataclass(slots=True, kw_only=True)
class Instructions:
    """The instruction files that hold for a folder, the most general first."""

    root: Path
    directory: Path
    home: Path
    config: Path
    wanted: tuple[str, ...] = ()
    """Further files and globs from the configuration."""
    _read: dict[Path, tuple[int, str]] = field(default_factory=dict[Path, tuple[int, str]])

    def text(self) -> str:
        """All of them, each under a line that names its file."""
        pieces = (f"Instructions from {file}:\n{text}" for file in self.files() if (text := self._content(file)))
        return "\n\n".join(pieces)

    def files(self) -> list[Path]:
        found = [*self._global(), *self._project(), *self._configured()]
        return list(dict.fromkeys(file.resolve() for file in found))

    def _global(self) -> Iterator[Path]:
        for file in (self.config / "AGENTS.md", self.home / ".claude" / "CLAUDE.md"):
            if file.is_file():
                yield file
                return

    def _project(self) -> list[Path]:
        """Every file of the first name that is there at all, from the root down to the folder opened."""
        folders = self._folders()
        for name in NAMES:
            found = [folder / name for folder in folders if (folder / name).is_file()]
            if found:
                return found
        return []

    def _configured(self) -> Iterator[Path]:
        for entry in self.wanted:
            if "://" in entry:
                continue
            path = Path(entry.replace("~/", f"{self.home}/", 1) if entry.startswith("~/") else entry)
            bases: Sequence[Path] = [path.parent] if path.is_absolute() else self._folders()
            pattern = path.name if path.is_absolute() else entry
            for base in bases:
                yield from sorted(file for file in base.glob(pattern) if file.is_file())

    def _folders(self) -> list[Path]:
        return [folder for folder in (self.directory, *self.directory.parents) if folder.is_relative_to(self.root)][
            ::-1
        ]

    def _content(self, file: Path) -> str:
        try:
            changed = file.stat().st_mtime_ns
            if self._read.get(file, (0, ""))[0] != changed:
                with file.open("rb") as stream:
                    text = stream.read(MOST_BYTES).decode("utf-8", "replace").strip()
                self._read[file] = (changed, text)
        except OSError:
            return ""
        return self._read[file][1]
