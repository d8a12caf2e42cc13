"""A workspace: one folder opened in one process, its settings and services. The only place that builds things."""

import asyncio
import logging
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

from toolwright.agents import Agents, load_agents
from toolwright.call import Caller
from toolwright.config.load import load_config
from toolwright.config.trust import is_trusted
from toolwright.errors import UsageError
from toolwright.events import Bus
from toolwright.extension import Extension, ExtensionProblem, Hook, hooks_of, sources_of
from toolwright.folders import Folders
from toolwright.inbox import Answerer, Inbox, is_attended
from toolwright.permission.approvals import Approvals
from toolwright.permission.forms import given_rules
from toolwright.permission.gate import DryGate, Gate
from toolwright.permission.rules import Layer, Rule
from toolwright.registry import Registry
from toolwright.session.session import Session
from toolwright.session.store import Nowhere, PartStore, Store
from toolwright.settings import Settings
from toolwright.tool import Client, Offer, Result, Tool
from toolwright.tools import builtin
from toolwright.truncate import Limits, Truncator

if TYPE_CHECKING:
    from toolwright.files.store import Files
    from toolwright.models.connect import Connections
    from toolwright.models.model import Model
    from toolwright.process.jobs import Jobs
    from toolwright.process.sandbox import Sandbox
    from toolwright.process.scope import Scopes
    from toolwright.services import Colleagues, Modes, Questions, Subagents
    from toolwright.session.budget import Budget
    from toolwright.session.conversation import Conversation
    from toolwright.session.owner import Owner
    from toolwright.session.result import TurnResult
    from toolwright.session.sessions import Sessions
    from toolwright.session.title import Titles
    from toolwright.session.todo import StoredTodos
    from toolwright.session.turns import Turns, TurnSettings
    from toolwright.skills import Skills
    from toolwright.tools.batch import BatchLimits
    from toolwright.web.fetch import Fetcher
    from toolwright.web.search import Searcher

log = logging.getLogger(__name__)

T = TypeVar("T")
Rules = Sequence[Rule] | Mapping[str, Any] | str
Anything = Tool | Callable[..., Any]


@asynccontextmanager
async def open_workspace(
    path: str | Path = ".",
    *,
    rules: Rules = (),
    config: Mapping[str, Any] | None = None,
    model: "str | Model" = "",
    agent: str = "",
    tools: Sequence[Anything] = (),
    extensions: Sequence[Extension] = (),
    answer: Answerer | None = None,
    budget: "Budget | Mapping[str, Any] | None" = None,
    hooks: "Sequence[Hook | Callable[..., Any]]" = (),
    keep: bool = False,
    trust: bool = False,
    client: Client = "api",
    environment: Mapping[str, str] | None = None,
) -> AsyncIterator["Workspace"]:
    """Open a folder: read its settings, join its tools, start its extensions, and close all of it at the end.

    `rules` are permissions, as Rule records or as the `permission` of a configuration; `config` is more of what a
    configuration file would say. `answer` answers questions; without it every question is refused. `keep` stores the
    sessions on disk. `environment` stands in for the variables of the process.
    """
    workspace = Workspace(
        Path(path),
        rules=rules,
        config=config,
        model=model,
        agent=agent,
        tools=tools,
        extensions=extensions,
        answer=answer,
        budget=budget,
        hooks=hooks,
        keep=keep,
        trust=trust,
        client=client,
        environment=environment,
    )
    async with workspace:
        yield workspace


def run_sync(text: str, path: str | Path = ".", **more: Any) -> "TurnResult":
    """Answer one prompt in a folder, for scripts. Takes what `open_workspace` and `prompt` take."""
    prompting = {name: more.pop(name) for name in ("files", "system", "output", "variant") if name in more}

    async def run() -> "TurnResult":
        async with open_workspace(path, **more) as workspace, workspace.session() as session:
            return await session.prompt(text, **prompting)

    return asyncio.run(run())


class Workspace:
    """One folder opened in one process. Any number can be open at once."""

    def __init__(
        self,
        directory: Path,
        *,
        rules: Rules = (),
        config: Mapping[str, Any] | None = None,
        model: "str | Model" = "",
        agent: str = "",
        tools: Sequence[Anything] = (),
        extensions: Sequence[Extension] = (),
        answer: Answerer | None = None,
        budget: "Budget | Mapping[str, Any] | None" = None,
        hooks: "Sequence[Hook | Callable[..., Any]]" = (),
        keep: bool = False,
        trust: bool = False,
        client: Client = "api",
        environment: Mapping[str, str] | None = None,
    ) -> None:
        if not directory.is_dir():
            raise UsageError(f"{directory} is not a folder. Name the folder of a project.")
        self.environment = os.environ if environment is None else environment
        self.folders = Folders.of(self.environment).ready()
        self.extensions = (
            Extension(name="toolwright", tools=builtin()),
            *extensions,
            Extension(name="registered", tools=tools, hooks=hooks),
        )
        self.trusted = (
            trust or _is_true(self.environment.get("TOOLWRIGHT_TRUST")) or is_trusted(directory, self.folders)
        )
        self.config = load_config(
            directory, self.folders, self.environment, trusted=self.trusted, given=_given(config, self.extensions)
        )
        self.directory = self.config.directory
        self.bus = Bus()
        self.agents = _agents(self, rules, agent)
        self.registry = Registry(_circumstances(self.settings, client, self.environment, attended=is_attended(answer)))
        self.truncator = _truncator(self.settings, self.folders)
        self.inbox = Inbox(self.bus, answer)
        self.gate = Gate(self.inbox, Approvals(file=self.folders.approvals, project=self.config.root))
        self.hooks: list[Hook] = []
        self.caller = Caller(registry=self.registry, truncator=self.truncator, hooks=[])
        self.keep = keep
        self.model = model
        self.budget = budget
        self.problems: list[ExtensionProblem] = []
        """The extensions that are left out, and why."""
        self.sessions_open: dict[str, Session] = {}
        self._own_session: Session | None = None
        self._closed = False
        self._stack = AsyncExitStack()
        for extension in self.extensions:
            if extension.start is None:
                self._join(extension)

    def __repr__(self) -> str:
        return f"<Workspace {str(self.directory)[-200:]}{' closed' if self._closed else ''}>"

    async def __aenter__(self) -> "Workspace":
        for extension in self.extensions:
            if extension.start is not None:
                await self._start(extension, extension.start)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    # What people use.

    async def call(self, tool: str, /, **arguments: Any) -> Result:
        """Call a tool as the default agent would; all such calls share one session."""
        if self._own_session is None:
            self._own_session = self.session()
        return await self._own_session.call(tool, **arguments)

    def session(
        self,
        agent: str = "",
        id: str = "",  # noqa: A002 - the word the whole program uses
        *,
        rules: Rules = (),
        parent: Session | None = None,
        provider: str = "",
        model: str = "",
    ) -> Session:
        """A new session for an agent, or an earlier one by its id: `async with workspace.session() as session`.

        Under a parent it may do no more than the parent may.
        """
        self.require_open()
        if id in self.sessions_open:
            return self.sessions_open[id]
        session = Session(
            self,
            id=id,
            agent=agent,
            rules=given_rules(rules),
            parent=parent,
            provider=provider,
            model=model,
        )
        self.sessions_open[session.id] = session
        return session

    async def prompt(self, text: str, **more: Any) -> "TurnResult":
        """Answer one prompt in a session of its own."""
        async with self.session() as session:
            return await session.prompt(text, **more)

    @property
    def settings(self) -> Settings:
        return self.config.settings

    async def close(self) -> None:
        """Stop what runs, end every service, and let nothing be lost."""
        if self._closed:
            return
        for session in list(self.sessions_open.values()):
            await self._quietly(f"session {session.id}", partial(session.abort, "the workspace was closed"))
        self._closed = True
        await self._stack.aclose()
        self.truncator.remove_old()

    def require_open(self) -> None:
        if self._closed:
            raise UsageError(f"The workspace {self.directory} was closed. Open it again with open_workspace.")

    # Extensions.

    async def _start(self, extension: Extension, start: Callable[[Any], Any]) -> None:
        try:
            await self._stack.enter_async_context(start(self))
        except Exception as error:
            log.exception("the extension %s could not be started", extension.name)
            self.problems.append(ExtensionProblem(name=extension.name, reason=f"{type(error).__name__}: {error}"))
            return
        self._join(extension)

    def _join(self, extension: Extension) -> None:
        """Take in the tools and hooks of an extension; the user's own tools may take the place of others."""
        for source in sources_of(extension):
            if extension.name == "registered":
                self.registry.register(source.load())
            else:
                self.registry.add([source])
        for hook in hooks_of(extension):
            self.hooks.append(hook)
            if hook.call is not None:
                self.caller.hooks.append(hook.call)

    # Services: each is imported and made when it is first needed, and closed in reverse.

    def use(self, kind: type[T]) -> T:
        """The service of a type, for tools: `ctx.use(Files)`."""
        made = _SERVICES.get(kind.__name__)
        if made is None:
            raise UsageError(f"This workspace offers no {kind.__name__}.")
        return cast("T", made(self))

    @cached_property
    def store(self) -> Store:
        """Where sessions are kept: on disk, or in memory as long as the workspace is open."""
        if not self.keep:
            from toolwright.session.memory import MemoryStore

            return MemoryStore()
        from toolwright.session.storage import Storage

        return self.closing(Storage.open(self.folders.database))

    @property
    def parts(self) -> PartStore:
        """Where the calls of a session without a conversation are kept."""
        return self.store if self.keep else Nowhere()

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
        return files

    @cached_property
    def scopes(self) -> "Scopes":
        from toolwright.process.scope import Scopes

        return self.closing(Scopes())

    @cached_property
    def sandbox(self) -> "Sandbox":
        from toolwright.process.sandbox import Sandbox, SandboxSettings

        said = self.settings.sandbox
        return Sandbox(
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
        )

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
            )
        )

    @cached_property
    def skills(self) -> "Skills":
        from toolwright.skills import Skills, skill_folders

        return Skills(
            skill_folders(
                home=self.folders.home,
                root=self.config.root,
                directory=self.directory,
                config_folders=[folder.path for folder in self.config.folders],
            )
        )

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
    def colleagues(self) -> "Colleagues":
        from toolwright.session.known_agents import KnownAgents

        return KnownAgents(self.agents)

    @cached_property
    def subagents(self) -> "Subagents":
        from toolwright.session.subagents import ChildSessions

        return ChildSessions(
            self.agents, self.sessions, self.bus, self._end_jobs, self.settings.experimental.primary_tools
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

        return self.closing(open_connections(self.config, self.folders, self.environment, self.model))

    @cached_property
    def titles(self) -> "Titles":
        from toolwright.session.models import small_model
        from toolwright.session.title import Titles

        return self.closing(Titles(lambda model: small_model(self.connections, self.settings.small_model, model)))

    @cached_property
    def sessions(self) -> "Sessions":
        """The sessions of this project, after what dead processes left open has been closed."""
        from toolwright.session.sessions import Sessions

        sessions = Sessions(
            home=self,
            store=self.store,
            bus=self.bus,
            # A folder may have a name that is no text at all; as a key it has to be one.
            project_id=os.fsencode(self.config.root).decode("utf-8", "backslashreplace"),
            directory=str(self.directory),
            owner=self._owner,
        )
        sessions.repair_abandoned()
        return sessions

    @cached_property
    def _owner(self) -> "Owner":
        from toolwright.session.owner import Owner

        return Owner.new()

    # What sessions need.

    def turns_of(self, session: Session, conversation: "Conversation | None" = None) -> "Turns":
        """What takes the prompts of a session, wired to this workspace."""
        from toolwright.session.changes import Changes
        from toolwright.session.instructions import Instructions
        from toolwright.session.turns import Turns

        changes = Changes(self.files.journal)
        changes.follow(session.id)
        return Turns(
            session=session,
            conversation=conversation or self.sessions.begin(session),
            store=self.store,
            owner=self._owner,
            connect=self.connections.open,
            instructions=Instructions.of(self.config, self.folders),
            changes=changes,
            settings=self.turn_settings,
            named=self.titles,
        )

    @cached_property
    def turn_settings(self) -> "TurnSettings":
        """What holds for every turn here."""
        from toolwright.session.answering import CompactionSettings
        from toolwright.session.budget import Budget
        from toolwright.session.turns import TurnSettings

        said, given = self.settings, self.budget
        budget = said.budget if given is None else given
        if not isinstance(budget, Mapping | Budget):
            budget = Budget(steps=budget.steps, tokens=budget.tokens, cost=budget.cost, seconds=budget.seconds)
        compaction = said.compaction
        return TurnSettings(
            default_model=self.default_model,
            mentionable=tuple(agent.name for agent in self.agents.visible() if agent.mode != "primary"),
            budget=Budget(**budget) if isinstance(budget, Mapping) else budget,
            compaction=CompactionSettings(auto=compaction.auto, prune=compaction.prune, reserved=compaction.reserved),
            go_on_after_reject=said.experimental.continue_loop_on_deny,
            prompt_hooks=tuple(hook.prompt for hook in self.hooks if hook.prompt),
            request_hooks=tuple(hook.request for hook in self.hooks if hook.request),
            compaction_hooks=tuple(hook.compaction for hook in self.hooks if hook.compaction),
        )

    def dry_gate(self) -> DryGate:
        """A gate that only judges, for who wants to know what would be asked."""
        return DryGate(self.inbox, self.gate.approvals)

    @property
    def default_model(self) -> str:
        given = self.model
        return (given if isinstance(given, str) else given.info.full_name) or self.settings.model

    async def load_session(self, session: Session) -> None:
        """Read an earlier session from the store. UsageError if there is none of that id."""
        self.sessions.load(session)

    async def end_session(self, session_id: str) -> None:
        """Let go of everything that is kept for a session: its jobs, what it has read, its approvals, its list."""
        self.sessions_open.pop(session_id, None)
        self.inbox.cancel(session_id, "the session was closed")
        await self._end_jobs(session_id)
        self.gate.approvals.forget(session_id)
        if "files" in self.__dict__:
            self.files.forget(session_id)
        if "todos" in self.__dict__:
            self.todos.forget(session_id)

    def forget_changes(self, session_id: str) -> None:
        """Remove what would undo the changes of a session that was deleted."""
        self.files.journal.forget(session_id)

    async def _end_jobs(self, session_id: str) -> None:
        if "jobs" in self.__dict__:
            await self.jobs.end_session(session_id)

    # Closing.

    def closing(self, service: T) -> T:
        """Have a service closed with the workspace, the last made first."""
        name, close = type(service).__name__, getattr(service, "close")  # noqa: B009 - services are not all of one type
        self._stack.push_async_callback(self._quietly, name, close)
        return service

    async def _quietly(self, name: str, close: "Callable[[], Awaitable[None] | None]") -> None:
        """One that cannot be closed never keeps another from it."""
        try:
            ended = close()
            if ended is not None:
                await ended
        except Exception:
            log.exception("%s could not be closed", name)


_SERVICES: Mapping[str, Callable[[Workspace], object]] = {
    "BatchLimits": lambda workspace: workspace.batch_limits,
    "Colleagues": lambda workspace: workspace.colleagues,
    "Connections": lambda workspace: workspace.connections,
    "Fetcher": lambda workspace: workspace.fetcher,
    "Files": lambda workspace: workspace.files,
    "Jobs": lambda workspace: workspace.jobs,
    "Modes": lambda workspace: workspace.modes,
    "Questions": lambda workspace: workspace.questions,
    "Sandbox": lambda workspace: workspace.sandbox,
    "Scopes": lambda workspace: workspace.scopes,
    "Searcher": lambda workspace: workspace.searcher,
    "Skills": lambda workspace: workspace.skills,
    "Subagents": lambda workspace: workspace.subagents,
    "Todos": lambda workspace: workspace.todos,
    "Truncator": lambda workspace: workspace.truncator,
}
"""What tools may use, by the name of its type, so that offering a service does not import it."""


def _agents(workspace: Workspace, rules: Rules, default: str) -> Agents:
    agents = load_agents(workspace.config, workspace.folders, trusted=workspace.trusted, use=workspace.use)
    given = Layer("override", given_rules(rules))
    return replace(
        agents,
        general=(*agents.general, given) if given.rules else agents.general,
        default_name=default or agents.default_name,
    )


def _given(config: Mapping[str, Any] | None, extensions: Sequence[Extension]) -> dict[str, Any]:
    """What the caller and the extensions say, as one more configuration."""
    given: dict[str, Any] = {}
    for said in (*(extension.config() for extension in extensions), config or {}):
        for key, value in said.items():
            both = isinstance(value, Mapping) and isinstance(given.get(key), Mapping)
            given[key] = {**given[key], **value} if both else value
    return given


def _circumstances(settings: Settings, client: Client, environment: Mapping[str, str], *, attended: bool) -> Offer:
    said = settings.experimental

    def flag(setting: bool, *variables: str) -> bool:
        names = (*variables, "EXPERIMENTAL")
        named = (environment.get(f"{family}_{name}") for family in ("OPENCODE", "TOOLWRIGHT") for name in names)
        return setting or any(map(_is_true, named))

    search = environment.get("TOOLWRIGHT_SEARCH_URL") or settings.search.url
    return Offer(
        client=client,
        attended=attended,
        web_search=bool(search) or flag(said.web_search, "ENABLE_EXA", "EXPERIMENTAL_EXA"),
        code_search=settings.search.backend != "searxng",
        lsp=flag(said.lsp_tool, "EXPERIMENTAL_LSP_TOOL"),
        batch=said.batch_tool,
        plan_mode=flag(said.plan_mode, "EXPERIMENTAL_PLAN_MODE"),
    )


def _is_true(text: str | None) -> bool:
    return (text or "").lower() in ("1", "true")


def _truncator(settings: Settings, folders: Folders) -> Truncator:
    said = settings.truncate
    general = Limits(max_lines=said.max_lines, max_bytes=said.max_bytes, direction=said.direction)
    return Truncator(
        folder=folders.tool_output,
        limits=general,
        by_agent={name: _limits(limits, general) for name, limits in said.agent.items()},
        by_tool={name: _limits(limits, general) for name, limits in said.tool.items()},
    )


def _limits(said: Any, otherwise: Limits) -> Limits:
    return Limits(
        max_lines=said.max_lines or otherwise.max_lines,
        max_bytes=said.max_bytes or otherwise.max_bytes,
        direction=said.direction or otherwise.direction,
    )
