"""The only place that builds things: a folder opened as a workspace, with everything wired together."""

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolwright.agents import Agents, Standing, as_child, load_agents
from toolwright.call import Caller
from toolwright.config.load import Config, find_root, load_config
from toolwright.config.trust import Trust
from toolwright.errors import UsageError
from toolwright.events import Bus
from toolwright.folders import Folders
from toolwright.hooks import Hook
from toolwright.ids import new_id
from toolwright.permission.approvals import Approvals
from toolwright.permission.broker import Answerer, Broker, Reply, headless
from toolwright.permission.gate import Gate
from toolwright.permission.rules import Rule
from toolwright.registry import Client, Registry, Switches
from toolwright.session.session import Session
from toolwright.session.store import Nowhere, Store
from toolwright.shelf import Services
from toolwright.tool import Call, Result, Tool
from toolwright.tools import builtin
from toolwright.truncate import Limits, Truncator

if TYPE_CHECKING:
    from toolwright.messages import Message
    from toolwright.session.sessions import Sessions

NOBODY_TO_ASK = Reply(kind="reject", message="")


@dataclass(slots=True, kw_only=True)
class Workspace:
    """One folder opened in one process. Any number can be open at once."""

    config: Config
    folders: Folders
    agents: Agents
    registry: Registry
    broker: Broker
    bus: Bus
    truncator: Truncator
    services: Services
    trusted: bool
    environment: Mapping[str, str]
    keep: bool = False
    hooks: list[Hook] = field(default_factory=list[Hook])
    _store: Store | None = None
    _session: Session | None = None

    async def call(self, tool: str, /, **arguments: Any) -> Result:
        """Call a tool as the default agent would; all such calls share one session."""
        if self._session is None:
            self._session = self.session()
        return await self._session.run_call(Call(id=new_id("call"), tool=tool, arguments=arguments))

    def session(
        self,
        agent: str = "",
        *,
        rules: Sequence[Rule] = (),
        gate: Gate | None = None,
        provider: str = "",
        model: str = "",
        parent: Session | None = None,
    ) -> Session:
        """A new session for an agent. Under a parent it may do no more than the parent may."""

        def stand(name: str) -> Standing:
            record = self.agents[name]
            if parent is None:
                return self.agents.standing(record, rules)
            return self.agents.standing(as_child(record), rules, parent.standing.policy)

        return Session(
            directory=self.config.directory,
            standing=stand(agent or self.agents.default().name),
            caller=Caller(registry=self.registry, truncator=self.truncator, hooks=self.hooks),
            gate=gate or Gate(self.broker),
            bus=self.bus,
            store=self.store,
            services=self.services,
            provider=provider,
            model=model,
            callers=parent.sessions if parent else (),
            stand=stand,
        )

    @property
    def store(self) -> Store:
        """Where records go: the database, or nowhere."""
        if self._store is None:
            self._store = self._storage() if self.keep else Nowhere()
        return self._store

    @property
    def sessions(self) -> "Sessions":
        """The conversations of this project. They are kept on disk if the workspace was opened with `keep`."""
        from toolwright.session.sessions import Sessions

        return self.services.use(Sessions)

    async def prompt(self, text: str, *, agent: str = "", model: str = "") -> "Message":
        """Answer one prompt in a session of its own."""
        from toolwright.session.prompt import Prompt

        return await self.sessions.create().prompt(Prompt(text=text, agent=agent, model=model))

    async def close(self) -> None:
        """Stop what runs, end every service, and let nothing be lost."""
        for service in list(self.services.made.values()):
            if callable(close := getattr(service, "close", None)):
                answer = close()
                if asyncio.iscoroutine(answer):
                    await answer
        if self._store is not None:
            await self._store.close()
        self.truncator.remove_old()

    def _storage(self) -> Store:
        from toolwright.session.storage import Storage

        return Storage.open(self.folders.database)


@asynccontextmanager
async def open_workspace(
    path: str | Path = ".",
    *,
    answer: Answerer | None = None,
    trust: bool = False,
    client: Client = "api",
    tools: Sequence[Tool] = (),
    hooks: Sequence[Hook] = (),
    keep: bool = False,
    environment: Mapping[str, str] = os.environ,
) -> AsyncIterator[Workspace]:
    """Open a folder: read its configuration, join its tools, and close all of it at the end.

    `answer` answers permission questions; without it every question is refused. `keep` stores the sessions.
    """
    workspace = build_workspace(
        Path(path),
        answer=answer,
        trust=trust,
        client=client,
        tools=tools,
        hooks=hooks,
        keep=keep,
        environment=environment,
    )
    try:
        yield workspace
    finally:
        await workspace.close()


def build_workspace(
    directory: Path,
    *,
    answer: Answerer | None = None,
    trust: bool = False,
    client: Client = "api",
    tools: Sequence[Tool] = (),
    hooks: Sequence[Hook] = (),
    keep: bool = False,
    environment: Mapping[str, str] = os.environ,
) -> Workspace:
    """Everything, in reading order. Whoever calls this closes the workspace."""
    if not directory.is_dir():
        raise UsageError(f"{directory} is not a folder. Name the folder of the project with --directory.")
    folders = Folders.of(environment)
    trusted = trust or _is_true(environment.get("TOOLWRIGHT_TRUST")) or _is_trusted(directory, folders)
    config = load_config(directory, folders, environment, trusted=trusted)
    bus = Bus()
    services = Services()
    registry = Registry(_switches(config, client, environment, trusted=trusted))
    registry.add(builtin())
    for tool in tools:
        registry.register(tool)
    workspace = Workspace(
        config=config,
        folders=folders,
        agents=load_agents(config, folders, trusted=trusted, services=services),
        registry=registry,
        broker=Broker(
            bus=bus,
            approvals=Approvals(file=folders.approvals, project=config.root),
            answer=answer or headless(NOBODY_TO_ASK),
        ),
        bus=bus,
        truncator=_truncator(config, folders),
        services=services,
        trusted=trusted,
        environment=environment,
        keep=keep,
        hooks=list(hooks),
    )
    services.makers |= _makers(workspace)
    return workspace


def search_settings(config: Config, environment: Mapping[str, str], *, trusted: bool) -> dict[str, Any]:
    """Whom searches are sent to: not where a project wants them, unless it is trusted."""
    if url := environment.get("TOOLWRIGHT_SEARCH_URL"):
        return {"url": url}
    said: dict[str, Any] = (config.data if trusted else config.said_by("user", "override")).get("search", {})
    return said


def _switches(config: Config, client: Client, environment: Mapping[str, str], *, trusted: bool) -> Switches:
    def flag(setting: str, *variables: str) -> bool:
        names = (*variables, "EXPERIMENTAL")
        named = (environment.get(f"{family}_{name}") for family in ("OPENCODE", "TOOLWRIGHT") for name in names)
        return bool(config.get("experimental", setting)) or any(map(_is_true, named))

    search = search_settings(config, environment, trusted=trusted)
    return Switches(
        client=client,
        web_search=bool(search) or flag("web_search", "ENABLE_EXA", "EXPERIMENTAL_EXA"),
        code_search=search.get("backend") != "searxng",
        lsp=flag("lsp_tool", "EXPERIMENTAL_LSP_TOOL"),
        batch=bool(config.get("experimental", "batch_tool")),
        plan_mode=flag("plan_mode", "EXPERIMENTAL_PLAN_MODE"),
    )


def _is_trusted(directory: Path, folders: Folders) -> bool:
    return Trust(folders.trust).includes(find_root(directory.resolve()))


def _is_true(text: str | None) -> bool:
    return (text or "").lower() in ("1", "true")


def _truncator(config: Config, folders: Folders) -> Truncator:
    general = _limits(config.get("tool_output", default={}) | config.get("truncate", default={}), Limits())
    return Truncator(
        folder=folders.tool_output,
        limits=general,
        by_agent={name: _limits(value, general) for name, value in config.get("truncate", "agent", default={}).items()},
        by_tool={name: _limits(value, general) for name, value in config.get("truncate", "tool", default={}).items()},
    )


def _limits(value: Mapping[str, Any], otherwise: Limits) -> Limits:
    return Limits(
        max_lines=value.get("max_lines", otherwise.max_lines),
        max_bytes=value.get("max_bytes", otherwise.max_bytes),
        direction=value.get("direction", otherwise.direction),
    )


def _makers(workspace: Workspace) -> dict[str, Callable[[], Any]]:
    """The services tools may use; each is imported and made when the first call needs it."""

    def late(module: str, maker: str) -> Callable[[], Any]:
        return lambda: getattr(import_module(module), maker)(workspace)

    return {
        "toolwright.files.store.Files": late("toolwright.rooms.files", "files"),
        "toolwright.truncate.Truncator": lambda: workspace.truncator,
        "toolwright.process.scope.Scopes": late("toolwright.rooms.shell", "scopes"),
        "toolwright.process.sandbox.Sandbox": late("toolwright.rooms.shell", "sandbox"),
        "toolwright.process.jobs.Jobs": late("toolwright.rooms.shell", "jobs"),
        "toolwright.skills.Skills": late("toolwright.rooms.skills", "skills"),
        "toolwright.tools.batch.BatchLimits": late("toolwright.rooms.batch", "batch_limits"),
        "toolwright.web.fetch.Fetcher": late("toolwright.rooms.web", "fetcher"),
        "toolwright.web.search.Searcher": late("toolwright.rooms.web", "searcher"),
        "toolwright.services.Colleagues": late("toolwright.rooms.agents", "colleagues"),
        "toolwright.services.Todos": late("toolwright.conversations", "todos"),
        "toolwright.services.Questions": late("toolwright.conversations", "questions"),
        "toolwright.services.Subagents": late("toolwright.conversations", "subagents"),
        "toolwright.services.Modes": late("toolwright.conversations", "modes"),
        "toolwright.session.sessions.Sessions": late("toolwright.conversations", "open_sessions"),
        "toolwright.session.title.Titles": late("toolwright.conversations", "titles"),
        "toolwright.models.connect.Connections": late("toolwright.conversations", "connections"),
    }
