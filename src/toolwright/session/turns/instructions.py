"""The first that a model is told: who it is and how to work, where it is, and the instruction files.

Those are what the user and the project want every model to know, found and read again when they change.
"""

import platform
from collections.abc import Callable, Iterator, Sequence
from dataclasses import field
from itertools import islice
from pathlib import Path

from toolwright.agents import Agent
from toolwright.config.load import Config
from toolwright.config.reading import read_head
from toolwright.machine.folders import Folders
from toolwright.record import record
from toolwright.session.turns.instruction_globs import GlobSearch

NAMES = ("AGENTS.md", "CLAUDE.md", "CONTEXT.md")
MOST_BYTES = 64 * 1024
MOST_FILES = 50
"""That one pattern of the configuration may bring."""
MOST_ENTRIES = 100
"""Of the configuration that are looked at."""
MOST_TEXT = 1024 * 1024
"""Characters of all of them together. Every request pays for them."""


def _anything(_: Path) -> bool:
    return True


@record(slots=True, kw_only=True)
class Instructions:
    """The instruction files that hold for a folder, the most general first."""

    root: Path
    directory: Path
    home: Path
    config: Path
    wanted: tuple[str, ...] = ()
    """Further files and globs that the user has named, or a project that is trusted."""
    confined: tuple[str, ...] = ()
    """The same of a project that is not trusted: only files inside of it."""
    may_read: Callable[[Path], bool] = _anything
    """Test of which files the rules let be read; asked for all that a project brings."""
    _read: dict[Path, tuple[int, str]] = field(default_factory=dict[Path, tuple[int, str]])

    @classmethod
    def of(cls, config: Config, folders: Folders) -> "Instructions":
        """The instructions that a configuration asks for."""
        entries = [
            (source.level == "project" and not config.trusted, entry)
            for source in config.sources
            for entry in source.value.get("instructions", ())
        ]
        return cls(
            root=config.root,
            directory=config.directory,
            home=folders.home,
            config=folders.config,
            wanted=tuple(dict.fromkeys(entry for confined, entry in entries if not confined)),
            confined=tuple(dict.fromkeys(entry for confined, entry in entries if confined)),
            may_read=config.may_read,
        )

    def text(self) -> str:
        """All of them, each under a line that names its file."""
        pieces: list[str] = []
        left = MOST_TEXT
        for file in self.files():
            text = self._content(file)
            left -= len(text)
            if text and left > 0:
                pieces.append(f"Instructions from {file}:\n{text}")
        return "\n\n".join(pieces)

    def files(self) -> list[Path]:
        search = GlobSearch()
        paths = [
            *map(Path.resolve, self._global()),
            *filter(self._is_own, map(Path.resolve, self._project())),
            *filter(self.may_read, map(Path.resolve, self._configured(self.wanted, search))),
            *filter(self._is_own, map(Path.resolve, self._configured(self.confined, search))),
        ]
        return list(dict.fromkeys(paths))

    def named(self, entry: str) -> list[Path]:
        """The files that one entry of the settings names."""
        return list(self._configured([entry], GlobSearch()))

    def _is_own(self, file: Path) -> bool:
        """Tell whether a file, with its links followed, is the project's own and not kept from agents."""
        return file.is_relative_to(self.root) and self.may_read(file)

    def _global(self) -> Iterator[Path]:
        for file in (self.config / "AGENTS.md", self.home / ".claude" / "CLAUDE.md"):
            if file.is_file():
                yield file
                return

    def _project(self) -> list[Path]:
        """Every file of the first name that is there at all, from the root down to the folder opened."""
        folders = self._folders()
        for name in NAMES:
            present = [folder / name for folder in folders if (folder / name).is_file()]
            if present:
                return present
        return []

    def _configured(self, wanted: Sequence[str], search: GlobSearch) -> Iterator[Path]:
        for entry in wanted[:MOST_ENTRIES]:
            if "://" in entry:
                continue
            path = Path(entry.replace("~/", f"{self.home}/", 1) if entry.startswith("~/") else entry)
            bases: Sequence[Path] = [path.parent] if path.is_absolute() else self._folders()
            pattern = path.name if path.is_absolute() else entry
            for base in bases:
                yield from sorted(islice(search.files(base, pattern), MOST_FILES))

    def _folders(self) -> list[Path]:
        return [folder for folder in (self.directory, *self.directory.parents) if folder.is_relative_to(self.root)][
            ::-1
        ]

    def _content(self, file: Path) -> str:
        try:
            changed = file.stat().st_mtime_ns
            if self._read.get(file, (0, ""))[0] != changed:
                self._read[file] = (changed, read_head(file, MOST_BYTES).decode("utf-8", "replace").strip())
        except (OSError, ValueError):
            return ""
        return self._read[file][1]


GENERAL = """\
You are a coding agent at work in the user's project. You have tools; use them instead of guessing.

How to work
- Do what was asked, wholly and no more. If something important is unclear, ask; otherwise decide and go on.
- Look before you change: read the files you will touch and the code around them, and follow the style you find.
- Make independent calls in one reply; they run side by side.
- Prefer read, edit, glob and grep to shell commands for files. Use the shell for building, testing and git.
- After a change, run what shows that it works: the tests, the type checker, the program itself.
- When a call fails, read why and do the next thing differently. Never work around a refused permission.
- Keep a todo list for work of several steps, and keep it true.
- Do not commit, push, or delete work unless you were asked to.
- Never reveal, log or commit secrets.

How to answer
- Briefly, in plain sentences: what you did, what you found, what is left. Name places as path:line.
- Say what you did not do or could not check. No praise, no preamble, no repetition of the code."""

PLAN_REMINDER = """\
You are planning. Read, search and think as much as you need, but change nothing: no edits, no commands that write. \
End with a plan the user can decide on."""

BUILD_REMINDER = "The plan is settled; from here on you may change files and run commands again."

LAST_STEP = (
    "This was the last step you had: no more tools can be called. Say now in words what was done, what was found and "
    "what is left to do."
)


def reminder(agent: str, before: str) -> str:
    """Return what a prompt to an agent says beside the user's words, given the agent of the prompt before."""
    return PLAN_REMINDER if agent == "plan" else BUILD_REMINDER if before == "plan" else ""


def system_prompt(agent: Agent, *, directory: Path, root: Path, instructions: Instructions, extra: str = "") -> str:
    """The agent's own prompt or the general one, then the surroundings, then the instruction files.

    There is no date in it, for the sake of caches and of signed reasoning: that comes with the prompts.
    """
    pieces = [agent.prompt or GENERAL, surroundings(directory, root), instructions.text(), extra]
    return "\n\n".join(piece for piece in pieces if piece)


def surroundings(directory: Path, root: Path) -> str:
    git = "yes" if (root / ".git").exists() else "no"
    return (
        f"Surroundings\n- working folder: {directory}\n- project root: {root}\n- git: {git}\n"
        f"- platform: {platform.system().lower()}"
    )
