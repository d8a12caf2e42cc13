"""Steps of a run as they are saved, so that another worker can go on with it."""

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any

from toolwright.errors import UsageError
from toolwright.evaluate.results import file_name
from toolwright.fleet.folders import Changes
from toolwright.protocols.json_types import Json
from toolwright.record import record


@record(frozen=True, slots=True, kw_only=True)
class SavedStep:
    """Outcome of one step: the records and files that are new or have changed since the step before."""

    session_id: str
    folder: str
    """The place of the copy; the session speaks of this path, so the next one has to stand there too."""
    base: str
    """The id that sets one beginning of a task apart from another."""
    sessions: Mapping[str, Json]
    """For the session and those of its subagents: `info`, `messages`, `removed` and `todos`, as far as they are new."""
    files: Changes
    seen: Mapping[str, tuple[str, bool]] = field(default_factory=dict[str, tuple[str, bool]])
    """The files that the session has read: a hash, and whether it was all of the file."""
    seconds: float = 0.0
    steps: int = 0
    over: bool = False
    """True if the turn has come to its end, and only the check is left."""
    error: str | None = None

    def as_json(self) -> Json:
        return {name: getattr(self, name) for name in self.__slots__}


@record(slots=True, kw_only=True)
class Saved:
    """All steps of a run together."""

    session_id: str = ""
    folder: str = ""
    base: str = ""
    sessions: dict[str, Json] = field(default_factory=dict[str, Any])
    files: dict[str, Json | None] = field(default_factory=dict[str, Any])
    seen: dict[str, Sequence[Any]] = field(default_factory=dict[str, Any])
    seconds: float = 0.0
    steps: int = 0
    over: bool = False
    error: str | None = None

    def add(self, step: Mapping[str, Any]) -> None:
        for name in ("session_id", "folder", "base", "seconds", "steps", "over", "error"):
            setattr(self, name, step[name])
        for session_id, new in step["sessions"].items():
            self._add_session(session_id, new)
        self.files |= step["files"]
        self.seen |= step["seen"]

    def exports(self) -> list[Json]:
        """The sessions as they are exported, the one that was prompted among them."""
        return [
            {"info": one["info"], "messages": list(one["messages"].values()), "todos": one["todos"]}
            for one in self.sessions.values()
        ]

    def _add_session(self, session_id: str, new: Json) -> None:
        known = self.sessions.setdefault(session_id, {"info": None, "messages": {}, "todos": None})
        known["info"] = new["info"]
        known["todos"] = new["todos"] if new["todos"] is not None else known["todos"]
        for name in new["removed"]:
            known["messages"].pop(name, None)
        for message in new["messages"]:
            known["messages"][message["info"]["id"]] = message


class SavedSteps:
    """A folder with a file for each run that is under way: a line for each of its steps."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(f"{folder} cannot be made: {error.strerror}.") from error

    def add(self, task: str, number: int, step: SavedStep) -> None:
        """Write a step down. Only what the end of the machine may take is not sure of it: that step is done again."""
        try:
            with self._file(task, number).open("a", encoding="ascii") as file:
                file.write(json.dumps(step.as_json()) + "\n")
        except OSError as error:
            raise UsageError(
                f"A step of {task} cannot be written to {self.folder}: {error.strerror}. Make room and go on with"
                " --resume."
            ) from error

    def load(self, task: str, number: int) -> Saved | None:
        """Return what is saved of a run; a last line that was cut short by a killed process is dropped."""
        try:
            lines = self._file(task, number).read_text("ascii").splitlines()
        except FileNotFoundError:
            return None
        saved = Saved()
        for line in lines:
            try:
                step = json.loads(line)
            except ValueError:
                break
            saved.add(step)
        return saved if saved.session_id else None

    def drop(self, task: str, number: int) -> None:
        self._file(task, number).unlink(missing_ok=True)

    def end(self) -> None:
        """Nothing is left to go on with."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def _file(self, task: str, number: int) -> Path:
        return self.folder / f"{file_name(task, number)}.jsonl"
