"""Runs in the background of the user's own server: which there are, and what became of each; kept across its end."""

import json
from dataclasses import replace
from pathlib import Path

from toolwright.errors import UsageError
from toolwright.machine.folders import Folders
from toolwright.machine.private_files import read_private, update
from toolwright.protocols.json_text import read_json
from toolwright.protocols.json_types import Json
from toolwright.record import fields_of, record

KEPT = 200
"""Runs that are remembered; the oldest that are over go first."""
STATES = ("working", "done", "failed", "stopped")


@record(frozen=True, slots=True, kw_only=True)
class BackgroundRun:
    """One of them."""

    session: str
    name: str
    directory: str
    prompt: str = ""
    began: int = 0
    """Milliseconds since 1970."""
    ended: int = 0
    state: str = "working"
    error: str = ""
    until: str = ""
    """The command that must hold before it counts as done."""

    @property
    def is_over(self) -> bool:
        return self.state != "working"


@record(frozen=True, slots=True)
class Runs:
    """All runs of one user."""

    file: Path

    @classmethod
    def of(cls, folders: Folders) -> "Runs":
        return cls(folders.data / "runs.json")

    def all(self) -> list[BackgroundRun]:
        """Return them, the oldest first."""
        return _read(read_private(self.file))

    def unfinished(self) -> list[BackgroundRun]:
        return [one for one in self.all() if not one.is_over]

    def put(self, run: BackgroundRun) -> None:
        """Remember a run, in the place of what was known of it."""

        def change(text: str) -> str:
            others = [one for one in _read(text) if one.session != run.session]
            spare = len(others) + 1 - KEPT
            dropped = [one.session for one in others if one.is_over][: max(0, spare)]
            kept = [*(one for one in others if one.session not in dropped), run]
            return json.dumps([fields_of(one) for one in sorted(kept, key=lambda one: one.began)])

        update(self.file, change)

    def end(self, run: BackgroundRun, state: str, at: int, error: str = "") -> None:
        """Remember how a run has ended."""
        self.put(replace(run, state=state, ended=at, error=error))

    def named(self, name: str) -> BackgroundRun:
        """Return the one of a name or an id, of which the beginning is enough, or the `last`."""
        runs = self.all()
        if name == "last" and runs:
            return runs[-1]
        exact = [one for one in runs if name in (one.name, one.session)]
        fitting = exact or [one for one in runs if one.name.startswith(name) or one.session.startswith(name)]
        if len(fitting) == 1:
            return fitting[0]
        known = ", ".join(one.name for one in (fitting or runs)[-10:])
        if fitting:
            raise UsageError(f"{name!r} may be any of these runs: {known}. Write the whole name.")
        raise UsageError(f"There is no run {name!r}. {f'There are: {known}.' if known else 'tw run --bg begins one.'}")


def _read(text: str) -> list[BackgroundRun]:
    try:
        entries: list[Json] = read_json(text or "[]")
        return [BackgroundRun(**one) for one in entries]
    except (ValueError, TypeError):
        return []
