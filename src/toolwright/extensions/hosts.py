"""The hosts of a workspace: one for each Python environment that files ask for, and one for JavaScript."""

from collections.abc import Mapping, Sequence
from dataclasses import field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolwright.definition import Result, ToolContext
from toolwright.extensions.environments import javascript_command, needs_of, python_command
from toolwright.extensions.host import Host
from toolwright.folders import Folders
from toolwright.jsontypes import Json
from toolwright.record import record

if TYPE_CHECKING:
    from collections.abc import Callable

    from toolwright.extensions.home import Requests
    from toolwright.process.scope import Scopes


@record(slots=True, kw_only=True, eq=False)
class Hosts:
    """Finds the host that a file runs in. Nothing is started before something is asked of it."""

    scopes: "Callable[[], Scopes]"
    folders: Folders
    environment: Mapping[str, str]
    directory: Path
    worktree: Path
    requests: "Callable[[], Requests | None]" = lambda: None
    """What answers a plugin's client, if anything does."""
    config_folders: Sequence[Path] = ()
    """Whose package.json is installed for JavaScript."""
    _hosts: dict[str, Host] = field(default_factory=dict[str, Host])
    _of_file: dict[Path, Host] = field(default_factory=dict[Path, Host])

    async def load(self, path: Path) -> Json:
        """The tools of a file."""
        said: Any = await self.of(path).request("load", {"path": str(path)})
        return {"tools": list(said["tools"]), "files": list(said["files"])}

    async def call(self, path: Path, name: str, arguments: Json, ctx: ToolContext) -> Result:
        return await self.of(path).call(str(path), name, arguments, ctx, self.worktree)

    def of(self, path: Path, name: str = "") -> Host:
        """The host for a file, or for one of several of its kind by name."""
        if path not in self._of_file:
            self._of_file[path] = self._host_for(path, name)
        return self._of_file[path]

    def retire(self, path: Path) -> None:
        """A file has changed: what is under way goes on with the old one, the next call with the new one."""
        if (host := self._of_file.pop(path, None)) is not None:
            host.retire()

    async def close(self) -> None:
        for host in self._hosts.values():
            await host.close()

    def _host_for(self, path: Path, name: str) -> Host:
        if path.suffix not in (".js", ".ts", ".mjs", ".mts"):
            needs = needs_of(path, path.read_text("utf-8", "replace") if path.suffix == ".py" else "")
            prepare = partial(python_command, needs, self.folders, self.environment)
            key = f"python {needs.key}"
        else:
            prepare, key = partial(javascript_command, self.config_folders, self.environment), "javascript"
        key = f"{key} {name}"
        if key not in self._hosts:
            self._hosts[key] = Host(
                name=key.strip(),
                argv=(),
                prepare=prepare,
                scopes=self.scopes,
                cwd=self.directory,
                env={**self.environment, "TOOLWRIGHT_HOST": "1"},
                requests=self.requests,
            )
        return self._hosts[key]
