"""The hosts of a workspace: one for each Python environment that files ask for, and one for JavaScript."""

from collections.abc import Mapping, Sequence
from dataclasses import field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolwright.definition import Result, ToolContext
from toolwright.errors import ToolError
from toolwright.extensions.environments import javascript_command, needs_of, python_command
from toolwright.extensions.host import Host
from toolwright.extensions.imports import JAVASCRIPT, hash_of, javascript_imports
from toolwright.machine.folders import Folders
from toolwright.process.paths.safe_stat import is_in
from toolwright.protocols.json_types import Json
from toolwright.record import record

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from toolwright.extensions.home import Requests
    from toolwright.process.programs.lookup import Lookup
    from toolwright.process.running.scope import Scopes


@record(slots=True, kw_only=True, eq=False)
class Hosts:
    """Finds the host that a file runs in. Nothing is started before something is asked of it."""

    scopes: "Callable[[], Scopes]"
    folders: Folders
    environment: Mapping[str, str]
    lookup: "Lookup"
    directory: Path
    worktree: Path
    requests: "Callable[[], Requests | None]" = lambda: None
    """Returns what answers a plugin's client, None if nothing does."""
    config_folders: Sequence[Path] = ()
    """Folders whose package.json is installed for JavaScript."""
    known: "Callable[[], Sequence[str] | None]" = lambda: None
    """The hashes of what of the project may run; None for all of it."""
    exempt: Sequence[Path] = ()
    """Folders that are the user's, should they lie in the project."""
    refused: "Callable[[Path], None]" = lambda _path: None
    """Told of code of the project that was not run."""
    _hosts: dict[str, Host] = field(default_factory=dict[str, Host])
    _of_file: dict[Path, Host] = field(default_factory=dict[Path, Host])

    async def load(self, path: Path) -> Json:
        """The tools of a file."""
        self.check(path)
        loaded: Any = await self.of(path).load(str(path))
        return {"tools": list(loaded["tools"]), "files": [*loaded["files"], *map(str, _imports(path))]}

    async def imports(self, path: Path) -> list[Path]:
        """Return the files that importing one takes. One in Python is imported for it."""
        if path.suffix in JAVASCRIPT:
            return _imports(path)
        answer: Any = await self.of(path).request("imports", {"path": str(path)})
        return [Path(file) for file in answer["files"]]

    def check(self, path: Path) -> None:
        """Raise ToolError if JavaScript would import code of the project that may not run. Python is asked later."""
        known = self.known() if path.suffix in JAVASCRIPT else None
        if known is None:
            return
        for file in (path, *_imports(path)):
            if is_in(file, [self.worktree]) and not is_in(file, self.exempt) and hash_of(file) not in known:
                self.refused(file)
                name = file.relative_to(self.worktree)
                raise ToolError(f"{name} has changed since you trusted the project, or was no part of it; see tw trust")

    async def call(self, path: Path, name: str, arguments: Json, ctx: ToolContext) -> Result:
        self.check(path)
        host = self.of(path)
        if not host.has_loaded(str(path)):
            await host.load(str(path))
        return await host.call(str(path), name, arguments, ctx, self.worktree)

    def of(self, path: Path, name: str = "", before: "Callable[[], Awaitable[None]] | None" = None) -> Host:
        """The host for a file, or for one of several of its kind by name; `before` makes what the file needs."""
        if path not in self._of_file:
            self._of_file[path] = self._host_for(path, name, before)
        return self._of_file[path]

    def retire(self, path: Path) -> None:
        """A file has changed: what is under way goes on with the old one, the next call with the new one."""
        if (host := self._of_file.pop(path, None)) is not None:
            host.retire()

    async def close(self) -> None:
        for host in self._hosts.values():
            await host.close()

    def _project(self) -> Json:
        known = self.known()
        return {
            "root": str(self.worktree),
            "known": None if known is None else list(known),
            "exempt": [str(folder) for folder in self.exempt],
        }

    @property
    def around(self) -> dict[str, str]:
        """The environment of programs that tools are."""
        return self.lookup.around_theirs(self.environment)

    def _host_for(self, path: Path, name: str, before: "Callable[[], Awaitable[None]] | None") -> Host:
        if path.suffix not in JAVASCRIPT:
            needs = needs_of(path, path.read_text("utf-8", "replace") if path.suffix == ".py" else "")
            prepare = partial(python_command, needs, self.folders, self.lookup, self.environment)
            key = f"python {needs.key}"
        else:
            prepare, key = partial(self._javascript, before), "javascript"
        key = f"{key} {name}"
        if key not in self._hosts:
            self._hosts[key] = Host(
                name=key.strip(),
                argv=(),
                prepare=prepare,
                scopes=self.scopes,
                cwd=self.directory,
                env={**self.around, "TOOLWRIGHT_HOST": "1"},
                requests=self.requests,
                project=self._project,
                refused=lambda file: self.refused(Path(file)),
            )
        return self._hosts[key]

    async def _javascript(self, before: "Callable[[], Awaitable[None]] | None") -> Sequence[str]:
        if before is not None:
            await before()
        return await javascript_command(self.config_folders, self.lookup, self.environment)


def _imports(path: Path) -> list[Path]:
    """Return what a file in JavaScript imports; nothing for others."""
    return javascript_imports(path) if path.suffix in JAVASCRIPT else []
