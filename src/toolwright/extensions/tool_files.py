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
from toolwright.jsontypes import Json
from toolwright.record import record
from toolwright.registry import Registry, plain_name, ready

KINDS = ("tool", "tools")
ENDINGS = (".py", ".js", ".ts", ".mjs", ".mts", ".json")
MOST_FILES = 500
LARGEST = 1_000_000
Stamp = tuple[int, int, int]


@record(frozen=True, slots=True, kw_only=True)
class ToolFolder:
    """A folder of settings whose tools count."""

    path: Path
    is_project: bool


@record(frozen=True, slots=True, kw_only=True)
class Described:
    """What a file holds: its tools, and the files it was made from with their stamps."""

    tools: tuple[Tool, ...] = ()
    files: Mapping[str, Stamp] = field(default_factory=dict[str, Stamp])
    problem: str = ""


@record(slots=True, kw_only=True, eq=False)
class ToolFiles:
    """The tools of one workspace that lie in files. `refresh` makes the registry say what the folders say."""

    places: Sequence[ToolFolder]
    registry: Registry
    hosts: Hosts
    memory: Memory
    still_trusted: Callable[[], bool] = lambda: True
    """Whether what a project brings may still run, asked when some of it has changed."""
    problems: dict[str, str] = field(default_factory=dict[str, str])
    """By file: why it is left out, or one of its tools."""
    _seen: dict[str, Stamp] = field(default_factory=dict[str, Stamp])
    _known: dict[str, Described] = field(default_factory=dict[str, Described])
    _mine: set[str] = field(default_factory=set[str])
    _looking: asyncio.Lock = field(default_factory=asyncio.Lock)
    _first: bool = True
    _folders: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        self._folders = tuple(str(place.path / kind) for place in self.places for kind in KINDS)

    async def refresh(self) -> None:
        """Look at the folders; what is new, changed or gone counts from now on."""
        if self._look() == self._seen and not self._first:
            return
        async with self._looking:
            seen = self._look()
            if seen == self._seen and not self._first:
                return
            allowed = self._first or self.still_trusted()
            await self._take(seen, allowed)
            self._seen, self._first = self._look(), False

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

    async def _take(self, seen: Mapping[str, Stamp], allowed: bool) -> None:
        files = self._files(seen)
        changed = [
            file
            for file in files
            if (known := self._known.get(file)) is None
            or any(seen.get(one) != stamp for one, stamp in known.files.items())
            or file not in known.files
        ]
        gone = [file for file in self._known if file not in files]
        for file in (*changed, *gone):
            self.problems.pop(file, None)
            if self._known.pop(file, None) is not None:
                self.hosts.retire(Path(file))
        trusted = [file for file in changed if allowed or not self._is_project(file)]
        for file in set(changed) - set(trusted):
            self.problems[file] = "changed since you trusted the project; tw trust shows how and asks anew"
        found = await asyncio.gather(*(self._describe(file) for file in trusted))
        for file, described in zip(trusted, found, strict=True):
            self._known[file] = described
            if described.problem:
                self.problems[file] = described.problem
        if changed or gone or self._first:
            self._register(files)

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

    async def _describe(self, file: str) -> Described:
        """What a file holds, from the cache if nothing of it has changed since it was last loaded."""
        path, stamp = Path(file), _stamp(file)
        own = {file: stamp} if stamp is not None else {}
        try:
            if stamp is None or stamp[1] > LARGEST:
                raise ToolError(f"{file} cannot be read, or has more than {LARGEST:,} bytes.")
            if path.suffix == ".json":
                return Described(tools=(manifest_tool(path, tool_id(path, "default"), self.hosts),), files=own)
            said = self.memory.recall(file)
            if said is None:
                said = await self.hosts.load(path)
                self.memory.store(file, said)
            tools = tuple(self._tool(path, one) for one in said["tools"])
        except (ToolError, OSError, ValueError) as error:
            return Described(files=own, problem=_short(str(error), file))
        files = {one: found for one in said["files"] if (found := _stamp(one)) is not None}
        nothing = "" if tools else "it exports no tool: a record with description, args and execute"
        return Described(tools=tools, files=files | own, problem=nothing)

    def _tool(self, path: Path, said: Json) -> Tool:
        name, hosts = str(said["name"]), self.hosts
        parameters = said["parameters"]

        async def run(ctx: ToolContext, arguments: Json) -> Result:
            return await hosts.call(path, name, with_defaults(arguments, parameters), ctx)

        return Tool(
            id=tool_id(path, name),
            description=str(said["description"]),
            parameters=parameters,
            run=run,
            asks=bool(said.get("asks")),
            permission=str(said.get("permission") or ""),
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
            if entry.name.endswith(ENDINGS) and not entry.name.endswith(".d.ts") and len(seen) < MOST_FILES:
                stamp = _stamp(entry.path)
                if stamp is not None:
                    seen[entry.path] = stamp


def _stamp(file: str) -> Stamp | None:
    try:
        status = os.stat(file)  # noqa: PTH116 - on text, for every call
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino


def _short(text: str, file: str) -> str:
    """What is wrong, without the name of the file, which stands before it."""
    return text.removeprefix(f"{file}:").removeprefix(f"{file} ").strip()
