"""The services of a workspace: each is imported and made when it is first needed, and closed in reverse."""

import asyncio
import logging
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, cast

from toolwright.agents import Agents
from toolwright.call import is_cancelled
from toolwright.calls.truncate import Truncator
from toolwright.config.load import Config
from toolwright.errors import ToolwrightError
from toolwright.events import Bus
from toolwright.extension import Extension
from toolwright.extensions import active_folders, foreign_commands, user_folders
from toolwright.inbox import Inbox
from toolwright.machine.copy_facts import CopyFacts
from toolwright.machine.folders import Folders
from toolwright.machine.own_files import Ours
from toolwright.registry import Registry
from toolwright.session.session import Session
from toolwright.session.store import Store
from toolwright.settings import Settings

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
    from toolwright.network.clients import KnownDestinations
    from toolwright.network.sessions import Networks
    from toolwright.permission.rules import Policy
    from toolwright.process.jobs.jobs import Jobs
    from toolwright.process.programs.lookup import Lookup
    from toolwright.process.running.scope import Scopes
    from toolwright.process.sandbox.sandbox import Sandbox
    from toolwright.services import Modes, OtherAgents, Questions, Subagents
    from toolwright.session.flows import FlowFacts
    from toolwright.session.records.todo import StoredTodos
    from toolwright.session.sessions import SessionHome, Sessions
    from toolwright.session.storage.owner import Owner
    from toolwright.session.subagents.background import BackgroundAgents
    from toolwright.session.subagents.subagents import Elsewhere
    from toolwright.session.turns.loops import Loops
    from toolwright.session.turns.title import Titles
    from toolwright.skills import Skills
    from toolwright.tools.batch import BatchLimits
    from toolwright.web.fetch import Fetcher
    from toolwright.web.search import Searcher

log = logging.getLogger(__name__)

T = TypeVar("T")


class Services:
    """The services of a workspace for its sessions and tools. Their ingredients are set by the workspace."""

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
    trusted_for_once: bool
    closed: bool
    keep: bool
    requests: "Requests | None"
    elsewhere: "Elsewhere | None"
    given_store: Store | None
    model: "str | Model"
    sessions_open: dict[str, Session]

    def __init__(self) -> None:
        self.stack = AsyncExitStack()

    @property
    def default_model(self) -> str:
        """`provider/model` for prompts that name none."""
        model = self.model
        return (model if isinstance(model, str) else model.info.full_name) or self.settings.model

    @property
    def settings(self) -> Settings:
        return self.config.settings

    @cached_property
    def store(self) -> Store:
        """Return the store of sessions: the one that was given, on disk, or in memory while the workspace is open."""
        if self.given_store is not None:
            return self.given_store
        if not self.keep:
            from toolwright.session.storage.in_memory import MemoryStore

            return MemoryStore()
        from toolwright.session.storage.on_disk import Storage

        return self.closing(Storage.open(self.folders.database))

    @cached_property
    def files(self) -> "Files":
        from toolwright.events import FileEdited, FileWatcherUpdated
        from toolwright.files.paths import Tree
        from toolwright.files.store import Event, Files

        files = Files(
            Tree(self.directory),
            self.folders.data,
            drift=self.settings.edit.drift,
            encoding=self.settings.encoding,
            form=self.settings.read.form,
        )

        def tell(path: Path, event: Event) -> None:
            if event != "unlink":
                self.bus.publish(FileEdited(file=str(path)))
            self.bus.publish(FileWatcherUpdated(file=str(path), event=event))

        files.hides = self._hides
        files.on_edited.append(tell)
        # What a rule says of a file holds under every name that it has.
        files.tree.other_names = lambda path: self.sandbox.masks.listings.names_of(path)
        files.committed += (one.committed for one in self.extensions if one.committed is not None)
        files.buffers = next((one.buffers for one in self.extensions if one.buffers is not None), None)
        return files

    def put_right(self) -> None:
        """Finish off what a killed process has left half written, of which nobody should work."""
        try:
            left = any((self.folders.data / "pending").iterdir())
        except OSError:
            return
        if left:
            # Whoever makes it looks at what is left.
            _ = self.files

    def _hides(self, path: Path) -> bool:
        """Return whether the rules for every agent deny reading a file."""
        pattern = self.files.tree.exactly(path).absolute_pattern
        return self._general_policy.decide("read", pattern).action == "deny"

    @cached_property
    def _general_policy(self) -> "Policy":
        from toolwright.agents import Agent

        return self.agents.ruled(Agent(name="")).policy

    @cached_property
    def copy_facts(self) -> CopyFacts | None:
        """Return the record of the copy that this project is, if it is one."""
        return CopyFacts.of(self.folders, self.directory)

    @cached_property
    def scopes(self) -> "Scopes":
        from toolwright.process.running.scope import Scopes

        return self.closing(Scopes())

    @cached_property
    def lookup(self) -> "Lookup":
        """Finds the programs that we start for ourselves."""
        from toolwright.process.paths.safe_stat import place_named
        from toolwright.process.programs.lookup import Lookup

        home, root = self.folders.home, self.config.root
        return Lookup.of(
            self.environment,
            project=(self.directory, root),
            home=home,
            own=self.folders.written,
            writable=(place_named(one, home=home, root=root) for one in self.settings.sandbox.writable),
            trusted=self.trusted,
        )

    @cached_property
    def sandbox(self) -> "Sandbox":
        from toolwright.process.sandbox.sandbox import Sandbox, SandboxSettings

        section = self.settings.sandbox
        sandbox = Sandbox(
            SandboxSettings(
                mode=section.mode,
                writable=section.writable,
                readable=section.readable,
                network=section.network,
                reveal=section.reveal,
                capture=section.capture,
                own_network=self.copy_facts is not None and self.settings.copies.network == "own",
            ),
            directory=self.files.tree.directory,
            root=self.files.tree.root,
            ours=Ours.of(self.environment, self.folders),
            scopes=self.scopes,
            environment=self.environment,
            lookup=self.lookup,
        )
        return self.closing(sandbox)

    @cached_property
    def jobs(self) -> "Jobs":
        """Commands of the shell, in the box of this project, without the secrets of our environment."""
        from toolwright.network.keys import variables_of
        from toolwright.process.jobs.jobs import Jobs, ShellSettings
        from toolwright.process.programs.environment import SECRETS, Withholding

        section = self.settings.environment
        own = tuple(variables_of(self.settings.sandbox.keys))
        allowed = tuple(one for one in section.allow if one not in own)
        withheld = Withholding(names=(*SECRETS, *own, *section.deny), except_for=allowed)
        return self.closing(
            Jobs(
                self.scopes,
                self.sandbox,
                ShellSettings(shell=self.settings.shell, withhold=withheld),
                environment={**self.environment, **(self.copy_facts.variables if self.copy_facts else {})},
                lookup=self.lookup,
                new_file=self.truncator.new_file,
                terminals=next((one.terminals for one in self.extensions if one.terminals is not None), None),
            )
        )

    @cached_property
    def known_destinations(self) -> "KnownDestinations":
        """Return the destinations of the user's own clients, for which nobody is asked."""
        from toolwright.network.clients import ClientSurroundings, KnownDestinations

        around = ClientSurroundings(
            root=self.files.tree.root,
            home=self.folders.home,
            environment=self.environment,
            lookup=self.lookup,
        )
        return self.closing(KnownDestinations(around))

    @cached_property
    def flow_facts(self) -> "FlowFacts":
        """By what the outward acts of a session are weighed that has seen texts of others."""
        from toolwright.session.flows import FlowFacts

        return FlowFacts(
            root=self.config.root,
            trusted=self.trusted,
            secret_variables=self.settings.environment.allow,
            known=lambda: self.known_destinations.all(),
            has_door=self._has_door,
            changed=lambda session_id: (Path(one.path) for one in self.files.journal.entries(session_id)),
        )

    async def _has_door(self) -> bool:
        held = await self.sandbox.holds_network_by() in ("namespace", "gate")
        return held and self.jobs.terminals is None

    @cached_property
    def networks(self) -> "Networks":
        """The networks of sessions whose rules speak of destinations."""
        from toolwright.network.keys import Keys
        from toolwright.network.logins import LoginSockets
        from toolwright.network.outward import Outward
        from toolwright.network.sessions import Networks
        from toolwright.network.ssh_agent import Machine

        # Before them, so that they are closed first.
        scopes, known, jobs = self.scopes, self.known_destinations, self.jobs
        keys = Keys(self.settings.sandbox.keys, self.environment)
        outward = Outward(self.environment)
        logins = LoginSockets(
            Machine(home=self.folders.home, environment=self.environment, lookup=self.lookup), self.sandbox
        )
        return self.closing(Networks(scopes, known.all, self.folders.state, outward, keys, jobs.spaces, logins))

    async def network_problem(self) -> str:
        """Say why rules about destinations would hold no command here; empty if they would."""
        if not self.settings.sandbox.network:
            return "sandbox.network is false, so commands have no network at all."
        match await self.sandbox.holds_network_by():
            case "namespace":
                return await self.networks.problem()
            case "gate" | "proxy":
                return ""
            case _:
                return "that takes a sandbox by bubblewrap or Landlock."

    @cached_property
    def languages(self) -> "Languages":
        """Language servers, started when they are first wanted."""
        from toolwright.extensions.programs import make_languages

        return self.closing(make_languages(self))

    @cached_property
    def formatters(self) -> "Formatters":
        from toolwright.extensions.programs import make_formatters

        return make_formatters(self)

    @cached_property
    def skills(self) -> "Skills":
        from toolwright.skills import Skills, skill_folders

        brought = [folder for plugin in self.config.claude_plugins for folder in plugin.skills]
        own = skill_folders(
            home=self.folders.home,
            root=self.config.root,
            directory=self.directory,
            config_folders=[folder.path for folder in self.config.folders],
            foreign=self.settings.foreign.skills,
        )
        return Skills([*brought, *own])

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
                lookup=self.lookup,
                directory=self.directory,
                worktree=self.config.root,
                requests=lambda: self.requests,
                config_folders=active_folders(self.config),
                known=self._known_code,
                exempt=user_folders(self.config, self.folders),
                refused=self._want_code,
            )
        )

    def _known_code(self) -> Sequence[str] | None:
        """Return the hashes of the project's code that may run outside of a sandbox: looked at when it was trusted."""
        from toolwright.config.trust import Trust

        if self.trusted_for_once:
            return None
        return tuple(Trust(self.folders.trust).hashes(self.config.root).values()) if self.trusted else ()

    def _want_code(self, path: Path) -> None:
        """Have the user look at a file of the project the next time that they trust it."""
        from toolwright.config.trust import Trust

        if self.trusted:
            Trust(self.folders.trust).want(self.config.root, path)

    @cached_property
    def commands(self) -> "Commands":
        """The prompts with a name."""
        from toolwright.commands import Commands

        folders = foreign_commands(self.config, self.folders)
        commands = Commands(config=self.config, foreign=folders, skills=lambda: self.skills.all())
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

        section, url = self.settings.search, self.environment.get("TOOLWRIGHT_SEARCH_URL")
        settings = SearchSettings(
            url=url or section.url or ENDPOINT,
            headers={} if url else section.headers,
            timeout=section.timeout,
            backend="mcp" if url else section.backend,
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
        from toolwright.session.records.todo import StoredTodos

        return StoredTodos(self.bus, self.store)

    @cached_property
    def questions(self) -> "Questions":
        from toolwright.session.records.choices import InboxQuestions

        return InboxQuestions(self.inbox)

    @cached_property
    def other_agents(self) -> "OtherAgents":
        from toolwright.session.subagents.known_agents import KnownAgents

        return KnownAgents(self.agents)

    @cached_property
    def subagents(self) -> "Subagents":
        from toolwright.session.subagents.subagents import ChildSessions

        return ChildSessions(
            self.agents,
            self.sessions,
            self.bus,
            self.background,
            self.end_jobs,
            self.settings.experimental.primary_tools,
            lambda: self.elsewhere,
        )

    @cached_property
    def background(self) -> "BackgroundAgents":
        """The subagents that work in the background."""
        from toolwright.session.subagents.background import BackgroundAgents, BackgroundLimits

        section = self.settings.background
        return BackgroundAgents(
            limits=BackgroundLimits(agents=section.agents, total=section.total, seconds=section.seconds)
        )

    @cached_property
    def loops(self) -> "Loops":
        """The prompts that are put again and again."""
        from toolwright.session.turns.loops import Loops

        return Loops()

    @cached_property
    def modes(self) -> "Modes":
        from toolwright.session.subagents.plan_mode import AgentModes

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
        """Return the tokens a model can take in; 0 if nobody knows."""
        if not model:
            return 0
        try:
            return self.connections.open(f"{provider}/{model}").info.limits.context
        except ToolwrightError:
            return 0

    @cached_property
    def titles(self) -> "Titles":
        from toolwright.session.models import small_model
        from toolwright.session.turns.title import Titles

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
        from toolwright.session.storage.owner import Owner

        return Owner.new()

    async def end_jobs(self, session_id: str) -> None:
        """End the commands that a session has left running."""
        if "jobs" in self.__dict__:
            await self.jobs.end_session(session_id)
        if "networks" in self.__dict__:
            await self.networks.end_session(session_id)

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
    "Agents": lambda services: services.agents,
    "BatchLimits": lambda services: services.batch_limits,
    "OtherAgents": lambda services: services.other_agents,
    "Connections": lambda services: services.connections,
    "Fetcher": lambda services: services.fetcher,
    "Files": lambda services: services.files,
    "FlowFacts": lambda services: services.flow_facts,
    "Folders": lambda services: services.folders,
    "Jobs": lambda services: services.jobs,
    "Networks": lambda services: services.networks,
    "Languages": lambda services: services.languages,
    "Lookup": lambda services: services.lookup,
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
"""Services for tools, by the name of their type, so that offering one does not import it."""
