"""The services of a workspace: each is imported and made when it is first needed, and closed in reverse."""

import asyncio
import logging
import os
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, cast

from toolwright.agents import Agents
from toolwright.call import is_cancelled
from toolwright.config.load import Config
from toolwright.errors import ToolwrightError
from toolwright.events import Bus
from toolwright.extension import Extension
from toolwright.extensions import active_folders, foreign_folders
from toolwright.folders import Folders
from toolwright.inbox import Inbox
from toolwright.registry import Registry
from toolwright.session.session import Session
from toolwright.session.store import Store
from toolwright.settings import Settings
from toolwright.truncate import Truncator

if TYPE_CHECKING:
    from toolwright.commands import Commands
    from toolwright.extensions.home import Requests
    from toolwright.extensions.hosts import Hosts
    from toolwright.files.store import Files
    from toolwright.format.formatting import Formatters
    from toolwright.lsp.languages import Languages
    from toolwright.mcp.client.servers import Servers
    from toolwright.models.connect import Connections
    from toolwright.models.model import Model
    from toolwright.process.jobs import Jobs
    from toolwright.process.sandbox import Sandbox
    from toolwright.process.scope import Scopes
    from toolwright.services import Modes, OtherAgents, Questions, Subagents
    from toolwright.session.owner import Owner
    from toolwright.session.sessions import SessionHome, Sessions
    from toolwright.session.title import Titles
    from toolwright.session.todo import StoredTodos
    from toolwright.skills import Skills
    from toolwright.tools.batch import BatchLimits
    from toolwright.web.fetch import Fetcher
    from toolwright.web.search import Searcher

log = logging.getLogger(__name__)

T = TypeVar("T")


class Services:
    """What a workspace offers its sessions and tools. What they are made from is set by the workspace."""

    config: Config
    folders: Folders
    environment: Mapping[str, str]
    extensions: tuple[Extension, ...]
    directory: Path
    bus: Bus
    agents: Agents
    registry: Registry
    truncator: Truncator
    inbox: Inbox
    trusted: bool
    closed: bool
    keep: bool
    requests: "Requests | None"
    given_store: Store | None
    model: "str | Model"
    sessions_open: dict[str, Session]

    def __init__(self) -> None:
        self.stack = AsyncExitStack()

    @property
    def default_model(self) -> str:
        """`provider/model` for prompts that name none."""
        given = self.model
        return (given if isinstance(given, str) else given.info.full_name) or self.settings.model

    @property
    def settings(self) -> Settings:
        return self.config.settings

    @cached_property
    def store(self) -> Store:
        """Where sessions are kept: in the store that was given, on disk, or in memory while the workspace is open."""
        if self.given_store is not None:
            return self.given_store
        if not self.keep:
            from toolwright.session.memory import MemoryStore

            return MemoryStore()
        from toolwright.session.storage import Storage

        return self.closing(Storage.open(self.folders.database))

    @cached_property
    def files(self) -> "Files":
        from toolwright.events import FileEdited, FileWatcherUpdated
        from toolwright.files.paths import Tree
        from toolwright.files.store import Event, Files

        files = Files(
            Tree(self.directory), self.folders.data, drift=self.settings.edit.drift, encoding=self.settings.encoding
        )

        def tell(path: Path, event: Event) -> None:
            if event != "unlink":
                self.bus.publish(FileEdited(file=str(path)))
            self.bus.publish(FileWatcherUpdated(file=str(path), event=event))

        files.on_edited.append(tell)
        files.committed += (one.committed for one in self.extensions if one.committed is not None)
        files.buffers = next((one.buffers for one in self.extensions if one.buffers is not None), None)
        return files

    @cached_property
    def scopes(self) -> "Scopes":
        from toolwright.process.scope import Scopes

        return self.closing(Scopes())

    @cached_property
    def sandbox(self) -> "Sandbox":
        from toolwright.process.sandbox import Sandbox, SandboxSettings

        said = self.settings.sandbox
        sandbox = Sandbox(
            SandboxSettings(
                mode=said.mode,
                writable=said.writable,
                readable=said.readable,
                network=said.network,
                reveal=said.reveal,
            ),
            directory=self.files.tree.directory,
            root=self.files.tree.root,
            data=self.folders.data,
            scopes=self.scopes,
            home=self.folders.home,
            config=(self.folders.config, self.folders.reference_config),
            environment=self.environment,
        )
        return self.closing(sandbox)

    @cached_property
    def jobs(self) -> "Jobs":
        """Commands of the shell, in the box of this project, without the secrets of our environment."""
        from toolwright.process.environment import SECRETS, Withholding
        from toolwright.process.jobs import Jobs, ShellSettings

        said = self.settings.environment
        withheld = Withholding(names=(*SECRETS, *said.deny), except_for=said.allow)
        return self.closing(
            Jobs(
                self.scopes,
                self.sandbox,
                ShellSettings(shell=self.settings.shell, withhold=withheld),
                environment=self.environment,
                new_file=self.truncator.new_file,
                terminals=next((one.terminals for one in self.extensions if one.terminals is not None), None),
            )
        )

    @cached_property
    def languages(self) -> "Languages":
        """Language servers, started when they are first wanted."""
        from toolwright.programs import make_languages

        return self.closing(make_languages(self))

    @cached_property
    def formatters(self) -> "Formatters":
        from toolwright.programs import make_formatters

        return make_formatters(self)

    @cached_property
    def skills(self) -> "Skills":
        from toolwright.skills import Skills, skill_folders

        return Skills(
            skill_folders(
                home=self.folders.home,
                root=self.config.root,
                directory=self.directory,
                config_folders=[folder.path for folder in self.config.folders],
                foreign=self.settings.foreign.skills,
            )
        )

    @cached_property
    def hosts(self) -> "Hosts":
        """The programs in which tools and plugins of other people run."""
        from toolwright.extensions.hosts import Hosts

        scopes = self.scopes  # before the hosts, so that they are closed before it
        return self.closing(
            Hosts(
                scopes=lambda: scopes,
                folders=self.folders,
                environment=self.environment,
                directory=self.directory,
                worktree=self.config.root,
                requests=lambda: self.requests,
                config_folders=active_folders(self.config),
            )
        )

    @cached_property
    def commands(self) -> "Commands":
        """The prompts with a name."""
        from toolwright.commands import Commands

        commands = Commands(config=self.config, foreign=foreign_folders(self.config, self.folders, "commands"))
        if self.settings.mcp:
            self.mcp.join_commands(commands)
        return commands

    @cached_property
    def fetcher(self) -> "Fetcher":
        """Pages of the web."""
        from toolwright.web.fetch import Fetcher

        return Fetcher(environment=self.environment)

    @cached_property
    def searcher(self) -> "Searcher":
        from toolwright.web.search import ENDPOINT, Searcher, SearchSettings

        said, url = self.settings.search, self.environment.get("TOOLWRIGHT_SEARCH_URL")
        settings = SearchSettings(
            url=url or said.url or ENDPOINT,
            headers={} if url else said.headers,
            timeout=said.timeout,
            backend="mcp" if url else said.backend,
        )
        return Searcher(settings=settings, environment=self.environment)

    @cached_property
    def mcp(self) -> "Servers":
        """The MCP servers of the settings; none is started by asking for them."""
        from toolwright.mcp.client.servers import Servers

        return self.closing(Servers(self))

    @cached_property
    def batch_limits(self) -> "BatchLimits":
        from toolwright.tools.batch import BatchLimits

        return BatchLimits(max_calls=self.settings.batch.max_calls, alone=self.registry.why_alone)

    @cached_property
    def todos(self) -> "StoredTodos":
        from toolwright.session.todo import StoredTodos

        return StoredTodos(self.bus, self.store)

    @cached_property
    def questions(self) -> "Questions":
        from toolwright.session.questions import InboxQuestions

        return InboxQuestions(self.inbox)

    @cached_property
    def other_agents(self) -> "OtherAgents":
        from toolwright.session.known_agents import KnownAgents

        return KnownAgents(self.agents)

    @cached_property
    def subagents(self) -> "Subagents":
        from toolwright.session.subagents import ChildSessions

        return ChildSessions(
            self.agents, self.sessions, self.bus, self.end_jobs, self.settings.experimental.primary_tools
        )

    @cached_property
    def modes(self) -> "Modes":
        from toolwright.session.modes import AgentModes

        root = self.config.root
        inside = (root / ".git").exists()
        return AgentModes(self.sessions, root / ".toolwright" / "plans" if inside else self.folders.plans)

    @cached_property
    def connections(self) -> "Connections":
        """The models there are, and the user's keys for them."""
        from toolwright.session.models import open_connections

        lists = (self.default_model, *(agent.model for agent in self.agents.by_name.values()))
        return self.closing(open_connections(self.config, self.folders, self.environment, self.model, lists))

    def context_of(self, provider: str, model: str) -> int:
        """How many tokens a model can take in; 0 if nobody knows."""
        if not model:
            return 0
        try:
            return self.connections.open(f"{provider}/{model}").info.limits.context
        except ToolwrightError:
            return 0

    @cached_property
    def titles(self) -> "Titles":
        from toolwright.session.models import small_model
        from toolwright.session.title import Titles

        return self.closing(Titles(lambda model: small_model(self.connections, self.settings.small_model, model)))

    @cached_property
    def sessions(self) -> "Sessions":
        """The sessions of this project."""
        from toolwright.session.sessions import Sessions

        return Sessions(
            home=cast("SessionHome", self),
            store=self.store,
            bus=self.bus,
            # A folder may have a name that is no text at all; as a key it has to be one.
            project_id=os.fsencode(self.config.root).decode("utf-8", "backslashreplace"),
            directory=str(self.directory),
            owner=self.owner,
        )

    @cached_property
    def owner(self) -> "Owner":
        from toolwright.session.owner import Owner

        return Owner.new()

    async def end_jobs(self, session_id: str) -> None:
        """End the commands that a session has left running."""
        if "jobs" in self.__dict__:
            await self.jobs.end_session(session_id)

    # Closing.

    def closing(self, service: T) -> T:
        """Have a service closed with the workspace, the last made first."""
        name, close = type(service).__name__, getattr(service, "close")  # noqa: B009 - services are not all of one type
        self.stack.push_async_callback(self.quietly, name, close)
        return service

    async def quietly(self, name: str, close: "Callable[[], Awaitable[None] | None]") -> None:
        """One that cannot be closed never keeps another from it."""
        try:
            ended = close()
            if ended is not None:
                await ended
        except (Exception, asyncio.CancelledError):
            if is_cancelled():
                raise
            log.exception("%s could not be closed", name)


SERVICES: Mapping[str, Callable[[Services], object]] = {
    "BatchLimits": lambda services: services.batch_limits,
    "OtherAgents": lambda services: services.other_agents,
    "Connections": lambda services: services.connections,
    "Fetcher": lambda services: services.fetcher,
    "Files": lambda services: services.files,
    "Jobs": lambda services: services.jobs,
    "Languages": lambda services: services.languages,
    "Modes": lambda services: services.modes,
    "Questions": lambda services: services.questions,
    "Sandbox": lambda services: services.sandbox,
    "Scopes": lambda services: services.scopes,
    "Servers": lambda services: services.mcp,
    "Searcher": lambda services: services.searcher,
    "Skills": lambda services: services.skills,
    "Subagents": lambda services: services.subagents,
    "Todos": lambda services: services.todos,
    "Truncator": lambda services: services.truncator,
}
"""What tools may use, by the name of its type, so that offering a service does not import it."""
