"""The workspace as the extensions of the configuration need it."""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from toolwright.agents import Agents
from toolwright.call import Caller
from toolwright.config.load import Config
from toolwright.events import Bus
from toolwright.extension import ExtensionProblem, Hook
from toolwright.inbox import Inbox
from toolwright.machine.folders import Folders
from toolwright.registry import Registry
from toolwright.session.session import Session

if TYPE_CHECKING:
    from toolwright.commands import Commands
    from toolwright.extensions.hosts import Hosts
    from toolwright.extensions.plugins import Plugins
    from toolwright.extensions.shell_hooks import ShellHooks
    from toolwright.models.connect import Connections
    from toolwright.process.programs.lookup import Lookup
    from toolwright.process.running.scope import Scopes
    from toolwright.session.sessions import Sessions


Requests = Callable[[str, Mapping[str, Any]], Awaitable[dict[str, Any]]]
"""Answers a call of a plugin's client: its name, such as `session.prompt`, and its path, query and body."""


class ExtensionHome(Protocol):
    """A workspace, as seen from an extension."""

    config: Config
    agents: Agents
    folders: Folders
    environment: Mapping[str, str]
    directory: Path
    registry: Registry
    caller: Caller
    bus: Bus
    inbox: Inbox
    hooks: list[Hook]
    problems: list[ExtensionProblem]
    reports: list[Callable[[], Iterable[ExtensionProblem]]]
    plugins: "Plugins | None"
    shell_hooks: "ShellHooks | None"
    requests: Requests | None
    trusted_for_once: bool
    sessions_open: dict[str, Session]

    @property
    def default_model(self) -> str: ...
    @property
    def connections(self) -> "Connections": ...
    @property
    def hosts(self) -> "Hosts": ...
    @property
    def scopes(self) -> "Scopes": ...
    @property
    def lookup(self) -> "Lookup": ...
    @property
    def sessions(self) -> "Sessions": ...
    @property
    def commands(self) -> "Commands": ...
