"""Results of tasks, and the file of such results: one line each, written once, read again to go on."""

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import Any
from urllib.parse import quote

from toolwright.errors import UsageError
from toolwright.record import record

FIELDS = (
    "id",
    "repeat",
    "passed",
    "patch",
    "session_id",
    "steps",
    "tokens",
    "cost",
    "seconds",
    "refused",
    "error",
    "worker",
    "tools",
)


_LONGEST = 120
"""Letters of a file's name that are a task's id."""


@record(frozen=True, slots=True, kw_only=True)
class TaskResult:
    """One run of one task."""

    id: str
    repeat: int = 0
    passed: bool = False
    patch: str = ""
    """What was changed, for `git apply`."""
    session_id: str = ""
    steps: int = 0
    tokens: int = 0
    cost: float = 0.0
    seconds: float = 0.0
    refused: int = 0
    """Calls that a rule did not allow, or that nobody was there to allow."""
    error: str | None = None
    worker: str = ""
    tools: Mapping[str, tuple[int, int]] = field(default_factory=dict[str, tuple[int, int]])
    """For each tool its calls, and how many of them failed."""
    session: Mapping[str, Any] = field(default_factory=dict[str, Any], repr=False)
    """The whole session, as it is exported."""

    def as_json(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in FIELDS}


def read_results(folder: Path) -> list[TaskResult]:
    """The results in a folder. A last line that was cut short by a killed process is dropped."""
    file = folder / "results.jsonl"
    try:
        lines = file.read_text("utf-8").split("\n")
    except FileNotFoundError:
        return []
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{file} cannot be read: {error}.") from error
    results = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
            results.append(TaskResult(**{name: value[name] for name in FIELDS if name in value}))
        except (ValueError, TypeError) as error:
            if number == len(lines):
                break
            raise UsageError(f"{file}:{number} is no result: {error}.") from error
    return results


def file_name(task: str, number: int) -> str:
    """A run as the name of a file, whatever letters the task's id has."""
    name = quote(task, safe=" ")
    if len(name) > _LONGEST:
        name = f"{name[:_LONGEST]}-{hashlib.sha256(task.encode()).hexdigest()[:12]}"
    return f"{name}.{number}"


class Results:
    """Writes results to a folder, each on disk before the next task is told of it."""

    def __init__(self, folder: Path, *, resume: bool) -> None:
        self.folder = folder
        self.done = read_results(folder)
        if self.done and not resume:
            raise UsageError(f"{folder} has {len(self.done)} results already. Go on with --resume, or name another.")
        try:
            (folder / "sessions").mkdir(parents=True, exist_ok=True)
            whole = "".join(json.dumps(one.as_json(), ensure_ascii=False) + "\n" for one in self.done)
            fresh = folder / "results.jsonl.new"
            fresh.write_text(whole, "utf-8")
            fresh.replace(folder / "results.jsonl")
            self._file = (folder / "results.jsonl").open("a", encoding="utf-8")
        except OSError as error:
            raise UsageError(f"{folder} cannot be written: {error.strerror}.") from error

    def add(self, result: TaskResult) -> str:
        """Write one result down; the line."""
        line = json.dumps(result.as_json(), ensure_ascii=False)
        try:
            if result.session_id:
                session = json.dumps(result.session, ensure_ascii=False)
                (self.folder / "sessions" / f"{result.session_id}.json").write_text(session, "utf-8")
            self._file.write(line + "\n")
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as error:
            raise UsageError(
                f"The result of {result.id} cannot be written to {self.folder}: {error.strerror}. Nothing else is"
                " lost: make room and go on with --resume."
            ) from error
        self.done.append(result)
        return line

    def close(self) -> None:
        self._file.close()
