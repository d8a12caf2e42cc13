"""A task: where an agent starts, what it is told, and how to see whether it is done; and the files that list them."""

from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import field, fields
from pathlib import Path
from typing import Any

from toolwright.errors import UsageError
from toolwright.protocols.json_text import read_json
from toolwright.record import record
from toolwright.session.budget import budget_of

Check = str | Callable[[Path], "bool | Awaitable[bool]"]

_TYPES: dict[str, tuple[tuple[type, ...], str]] = {
    "id": ((str,), "a text"),
    "prompt": ((str,), "a text"),
    "folder": ((str, Path), "a path"),
    "repo": ((str, Path), "a path or an address"),
    "ref": ((str,), "a text"),
    "agent": ((str,), "a text"),
    "budget": ((dict,), "an object"),
    "files": ((dict,), "an object of paths and texts"),
    "timeout": ((int, float), "a number of seconds"),
}


@record(frozen=True, kw_only=True)
class Task:
    """One thing to be done. It starts in a copy of `folder`, or of `repo` at `ref`, or in an empty folder."""

    id: str
    prompt: str
    folder: str | Path = ""
    repo: str | Path = ""
    ref: str = "HEAD"
    agent: str = ""
    model: Any = ""
    """`provider/model`, or from Python a model itself."""
    budget: Mapping[str, Any] = field(default_factory=dict[str, Any])
    files: Mapping[str, str] = field(default_factory=dict[str, str])
    """Files to add before the start: path and text. They are no part of the patch."""
    check: Check = ""
    """A command in the copy that ends with 0 if the task is done, or from Python a function of the folder."""
    timeout: float = 1800.0
    """Seconds for the run and the check together."""

    def __post_init__(self) -> None:
        for name, (kinds, what) in _TYPES.items():
            value = getattr(self, name)
            if not isinstance(value, kinds) or isinstance(value, bool):
                raise UsageError(f"{name} is {value!r}, but must be {what}.")
        if not self.id or not self.prompt.strip():
            raise UsageError("a task needs an id and a prompt.")
        if self.folder and self.repo:
            raise UsageError("a task starts from a folder or from a repo, not from both.")
        if self.timeout <= 0:
            raise UsageError(f"timeout is {self.timeout}, but must be more than 0 seconds.")
        budget_of(self.budget)
        for path, text in self.files.items():
            if Path(path).is_absolute() or ".." in Path(path).parts or not isinstance(text, str):
                raise UsageError(f"files: {path!r} must be a path inside the folder, with a text.")


@record(frozen=True, slots=True, kw_only=True)
class TaskProblem:
    """A line that is no task."""

    line: int
    reason: str


def read_tasks(file: Path) -> tuple[list[Task], list[TaskProblem]]:
    """The tasks of a file of JSON lines, or of a list in YAML; and the lines that are none.

    Folders are looked for beside the file.
    """
    try:
        text = file.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise UsageError(f"{file} cannot be read: {reason}.") from error
    entries = _yaml(text, file) if file.suffix in (".yaml", ".yml") else _lines(text)
    tasks: dict[str, Task] = {}
    problems = []
    for line, value in entries:
        try:
            task = _task(value, file.parent)
            if task.id in tasks:
                raise UsageError(f"there is a task {task.id!r} already.")
            tasks[task.id] = task
        except UsageError as error:
            problems.append(TaskProblem(line=line, reason=str(error)))
    return list(tasks.values()), problems


def _lines(text: str) -> Iterator[tuple[int, Any]]:
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                yield number, read_json(line)
            except ValueError as error:
                yield number, UsageError(f"it is not JSON: {error}.")


def _yaml(text: str, file: Path) -> Iterator[tuple[int, Any]]:
    import yaml

    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
        values = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise UsageError(f"{file} is not YAML: {' '.join(str(error).split())}.") from error
    if not isinstance(values, list) or node is None:
        raise UsageError(f"{file} must be a list of tasks.")
    for item, value in zip(node.value, values, strict=True):
        yield item.start_mark.line + 1, value


def _task(value: Any, beside: Path) -> Task:
    if isinstance(value, UsageError):
        raise value
    if not isinstance(value, dict):
        raise UsageError(f"a task is an object, not {type(value).__name__}.")
    known = {one.name for one in fields(Task)}
    if unknown := sorted(set(map(str, value)) - known):
        raise UsageError(f"unknown: {', '.join(unknown)}. A task has {', '.join(sorted(known))}.")
    if missing := [name for name in ("id", "prompt") if name not in value]:
        raise UsageError(f"{' and '.join(missing)} is missing.")
    for name in ("model", "check"):
        if not isinstance(value.get(name, ""), str):
            raise UsageError(f"{name} must be a text.")
    entry = dict(value)
    for name in ("folder", "repo"):
        place = entry.get(name)
        if isinstance(place, str) and place and (beside / place).exists():
            entry[name] = beside / place
    return Task(**entry)
