"""Tools from the `tool/` and `tools/` folders beside the settings, looked for again before a call that may mean one."""

import asyncio
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any

from toolwright.definition import MAX_NAME, Result, Tool, ToolContext
from toolwright.errors import ToolError
from toolwright.extensions.hosts import Hosts
from toolwright.extensions.manifests import manifest_tool
from toolwright.extensions.memory import Memory
from toolwright.protocols.json_types import Json
from toolwright.record import record
from toolwright.registry import Registry, plain_name, ready

KINDS = ("tool", "tools")
ENDINGS = (".py", ".js", ".ts", ".mjs", ".mts", ".json")
OTHERS = ("package.json", "package-lock.json", "tsconfig.json", "jsconfig.json", "deno.json", "biome.json")
"""JSON files beside tools that are settings of other programs."""
MOST_FILES = 500
LARGEST = 1_000_000
PATIENCE = 10.0
"""Seconds that a list of tools waits for files that are being loaded; later ones join the next list."""
Stamp = tuple[int, int, int]


@record(frozen=True, slots=True, kw_only=True)
class ToolFolder:
    """A folder of settings whose tools count."""

    path: Path
    is_project: bool


@record(frozen=True, slots=True, kw_only=True)
class FileTools:
    """Contents of a file: its tools, and the files it was made from with their stamps."""

    tools: tuple[Tool, ...] = ()
    files: Mapping[str, Stamp] = field(default_factory=dict[str, Stamp])
    problem: str = ""


@record(frozen=True, slots=True)
class Loading:
    """A file that is being loaded, since a moment by the clock of the loop."""

    task: asyncio.Task[FileTools]
    begun: float


@record(slots=True, kw_only=True, eq=False)
class ToolFiles:
    """The tools of one workspace that lie in files. `refresh` makes the registry say what the folders say."""

    places: Sequence[ToolFolder]
    registry: Registry
    hosts: Hosts
    memory: Memory
    still_trusted: Callable[[], bool] = lambda: True
    """Tells whether what a project brings may still run, asked when some of it has changed."""
    problems: dict[str, str] = field(default_factory=dict[str, str])
    """By file: why it is left out, or one of its tools."""
    _seen: dict[str, Stamp] = field(default_factory=dict[str, Stamp])
    _known: dict[str, FileTools] = field(default_factory=dict[str, FileTools])
    _loading: "dict[str, Loading]" = field(default_factory=dict)
    _mine: set[str] = field(default_factory=set[str])
    _first: bool = True
    _folders: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        self._folders = tuple(str(place.path / kind) for place in self.places for kind in KINDS)

    async def refresh(self, wanted: str = "") -> None:
        """Look at the folders; what is new, changed or gone counts from now on.

        For one tool, the files that may bring it are waited for; for a list of all, every file, but not for long.
        """
        self._look_again()
        waiting = [loading for file, loading in self._loading.items() if not wanted or _may_bring(file, wanted)]
        now = asyncio.get_running_loop().time()
        left = None if wanted else max((loading.begun + PATIENCE - now for loading in waiting), default=0.0)
        if waiting and (left is None or left > 0):
            await asyncio.wait([loading.task for loading in waiting], timeout=left)
            self._look_again()

    async def find(self, tool_id: str) -> None:
        """ToolError if a file that should bring a tool is left out."""
        await self.refresh(tool_id)
        for file, problem in self.problems.items():
            if tool_id not in self.registry and _may_bring(file, tool_id):
                raise ToolError(f"{file} is left out: {problem.rstrip('.')}.", "missing")

    def _look_again(self) -> None:
        seen = self._look()
        if self._first or seen != self._seen or any(loading.task.done() for loading in self._loading.values()):
            self._take(seen, self._first or self.still_trusted())
            self._seen, self._first = self._look(), False

    async def close(self) -> None:
        """Load nothing any more."""
        tasks = [loading.task for loading in self._loading.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _look(self) -> dict[str, Stamp]:
        """Every file there is, and those that were imported by one, with their stamps."""
        seen: dict[str, Stamp] = {}
        for folder in self._folders:
            _look_in(folder, seen)
        for described in self._known.values():
            for file in described.files:
                if file not in seen and (stamp := _stamp(file)) is not None:
                    seen[file] = stamp
        return seen

    def _take(self, seen: Mapping[str, Stamp], allowed: bool) -> None:
        files = self._files(seen)
        changed = [file for file in files if self._is_changed(file, seen)]
        removed = [file for file in (*self._known, *self._loading) if file not in files]
        for file in (*changed, *removed):
            self.problems.pop(file, None)
            if (loading := self._loading.pop(file, None)) is not None:
                loading.task.cancel()
            if self._known.pop(file, None) is not None:
                self.hosts.retire(Path(file))
        trusted = [file for file in changed if allowed or not self._is_project(file)]
        for file in set(changed) - set(trusted):
            self.problems[file] = "changed since you trusted the project; tw trust shows how and asks anew"
        now = asyncio.get_running_loop().time()
        self._loading |= {file: Loading(asyncio.create_task(self._describe(file)), now) for file in trusted}
        if self._collect() or changed or removed or self._first:
            self._register(files)

    def _is_changed(self, file: str, seen: Mapping[str, Stamp]) -> bool:
        if file in self._loading:
            return seen[file] != self._seen.get(file)
        known = self._known.get(file)
        if known is None or file not in known.files:
            return True
        return any(seen.get(one) != stamp for one, stamp in known.files.items())

    def _collect(self) -> bool:
        """Take in the files that have been loaded; whether there were any."""
        done = [file for file, loading in self._loading.items() if loading.task.done()]
        for file in done:
            described = self._known[file] = self._loading.pop(file).task.result()
            self.problems.pop(file, None)
            if described.problem:
                self.problems[file] = described.problem
        self.problems |= dict.fromkeys(self._loading, "it is still being loaded")
        return bool(done)

    def _files(self, seen: Mapping[str, Stamp]) -> list[str]:
        """The files of tools themselves, in the order in which they count."""
        return [
            file
            for folder in self._folders
            for file in sorted(seen)
            if os.path.dirname(file) == folder  # noqa: PTH120 - on text
        ]

    def _is_project(self, file: str) -> bool:
        return any(place.is_project and Path(file).is_relative_to(place.path) for place in self.places)

    def _register(self, files: Sequence[str]) -> None:
        self.registry.remove(self._mine)
        self._mine.clear()
        taken: dict[str, str] = {}
        for file in files:
            for tool in self._known[file].tools if file in self._known else ():
                keeper = self.registry.origin(tool.id) if tool.id in self.registry else taken.get(tool.id)
                if keeper is not None:
                    self.problems.setdefault(file, f"its tool {tool.id} is left out: {keeper} already has that name")
                    continue
                taken[tool.id] = file
                self.registry.add([ready(tool, file)])
        self._mine.update(taken)

    async def _describe(self, file: str) -> FileTools:
        """Return what a file holds, from the cache if nothing of it has changed since it was last loaded."""
        path, stamp = Path(file), _stamp(file)
        own = {file: stamp} if stamp is not None else {}
        try:
            if stamp is None or stamp[1] > LARGEST:
                raise ToolError(f"{file} cannot be read, or has more than {LARGEST:,} bytes.")
            if path.suffix == ".json":
                return FileTools(tools=(manifest_tool(path, tool_id(path, "default"), self.hosts),), files=own)
            loaded = self.memory.recall(file)
            if loaded is None:
                loaded = await self.hosts.load(path)
                self.memory.store(file, loaded)
            tools = tuple(self._tool(path, one) for one in loaded["tools"])
        except (ToolError, OSError, ValueError, LookupError, TypeError) as error:
            return FileTools(files=own, problem=_short(str(error), file).rstrip("."))
        files = {one: known for one in loaded["files"] if (known := _stamp(one)) is not None}
        nothing = "" if tools else "it exports no tool: a record with description, args and execute"
        return FileTools(tools=tools, files=files | own, problem=nothing)

    def _tool(self, path: Path, definition: Json) -> Tool:
        name, hosts = str(definition["name"]), self.hosts
        parameters = definition["parameters"]

        async def run(ctx: ToolContext, arguments: Json) -> Result:
            return await hosts.call(path, name, with_defaults(arguments, parameters), ctx)

        return Tool(
            id=tool_id(path, name),
            description=str(definition["description"]),
            parameters=parameters,
            run=run,
            asks=bool(definition.get("asks")),
            act=definition.get("act"),
            reaches=definition.get("reaches"),
            about=definition.get("about"),
            untrusted=bool(definition.get("untrusted")),
            permission=str(definition.get("permission") or ""),
        )


def tool_id(path: Path, name: str) -> str:
    """`default` and the name of the file are the file's; any other is added to it. What no provider takes is `_`."""
    base = path.stem
    full = base if name in ("default", base) else f"{base}_{name}"
    plain = plain_name(full)
    if not plain:
        raise ToolError(f"{full!r} is no name for a tool: it needs a letter.")
    return plain[:MAX_NAME]


def with_defaults(arguments: Json, schema: Json) -> Json:
    """The arguments, with the defaults of those that were left out."""
    properties: Mapping[str, Any] = schema.get("properties") or {}
    filled = {
        name: one["default"]
        for name, one in properties.items()
        if isinstance(one, dict) and "default" in one and name not in arguments
    }
    return {**filled, **arguments} if filled else arguments


def _look_in(folder: str, seen: dict[str, Stamp]) -> None:
    try:
        entries = os.scandir(folder)
    except OSError:
        return
    with entries:
        for entry in entries:
            if (
                entry.name.endswith(ENDINGS)
                and not entry.name.endswith(".d.ts")
                and entry.name not in OTHERS
                and len(seen) < MOST_FILES
            ):
                stamp = _stamp(entry.path)
                if stamp is not None:
                    seen[entry.path] = stamp


def _stamp(file: str) -> Stamp | None:
    try:
        status = os.stat(file)  # noqa: PTH116 - on text, for every call
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino


def _may_bring(file: str, tool_id: str) -> bool:
    """Tell whether a tool is named as those of a file are."""
    stem = plain_name(Path(file).stem)
    return tool_id == stem or tool_id.startswith(f"{stem}_")


def _short(text: str, file: str) -> str:
    """Return a problem without the name of the file, which stands before it."""
    return text.removeprefix(f"{file}:").removeprefix(f"{file} ").strip()
