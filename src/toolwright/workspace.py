"""A workspace: one folder opened in one process, its settings and services. The only place that builds things."""

import asyncio
import logging
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

from toolwright.agents import Agents, load_agents
from toolwright.call import Caller, is_cancelled
from toolwright.circumstances import circumstances, given_settings, is_true, truncator_of
from toolwright.config.load import load_config
from toolwright.config.trust import is_trusted
from toolwright.definition import Client, Result, Tool
from toolwright.errors import UsageError
from toolwright.events import Bus
from toolwright.extension import Extension, ExtensionProblem, Hook, hooks_of, sources_of
from toolwright.extensions import extensions_of
from toolwright.folders import Folders
from toolwright.inbox import Answerer, Inbox, is_attended
from toolwright.permission.approvals import Approvals
from toolwright.permission.forms import given_rules
from toolwright.permission.gate import DryGate, Gate
from toolwright.permission.rules import Layer, Rule
from toolwright.programs import program_extensions
from toolwright.registry import Registry
from toolwright.session.session import Session
from toolwright.tools import builtin
from toolwright.workspace_services import SERVICES, Services

if TYPE_CHECKING:
    from toolwright.extensions.home import Requests
    from toolwright.extensions.plugins import Plugins
    from toolwright.extensions.shell_hooks import ShellHooks
    from toolwright.models.model import Model
    from toolwright.session.budget import Budget
    from toolwright.session.conversation import Conversation
    from toolwright.session.result import TurnResult
    from toolwright.session.store import Store
    from toolwright.session.turn_settings import TurnSettings
    from toolwright.session.turns import Turns

log = logging.getLogger(__name__)
# What goes wrong is in the results; the log is for who asks for it.
logging.getLogger("toolwright").addHandler(logging.NullHandler())

T = TypeVar("T")
Rules = Sequence[Rule] | Mapping[str, Any] | str
Anything = Tool | Callable[..., Any]


class Workspace(Services):
    """One folder opened in one process. Any number can be open at once: `async with open_workspace(".") as workspace`.

    Opening reads its settings, joins its tools and starts its extensions; all of it is closed at the end.

    `rules` are permissions, as Rule records or as the `permission` of a configuration; `config` is more of what a
    configuration file would say. `answer` answers questions; without it every question is refused. `keep` stores the
    sessions on disk; `store` keeps them wherever you like, and is yours to close. `environment` stands in for the
    variables of the process. `pure` leaves plugins out.
    """

    def __init__(
        self,
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
        store: "Store | None" = None,
        trust: bool = False,
        client: Client = "api",
        environment: Mapping[str, str] | None = None,
        pure: bool = False,
    ) -> None:
        super().__init__()
        directory = Path(path)
        if not directory.is_dir():
            raise UsageError(f"{directory} is not a folder. Name the folder of a project.")
        _check_given(extensions, answer, budget)
        self.environment = os.environ if environment is None else environment
        self.folders = Folders.of(self.environment).ready()
        self.extensions = (
            Extension(name="toolwright", tools=builtin()),
            *extensions,
            Extension(name="registered", tools=tools, hooks=hooks),
        )
        self.trusted_for_once = trust or is_true(self.environment.get("TOOLWRIGHT_TRUST"))
        """Whether the user trusts whatever the project brings while this is open, not only what it brought before."""
        self.trusted = self.trusted_for_once or is_trusted(directory, self.folders)
        self.config = load_config(
            directory,
            self.folders,
            self.environment,
            trusted=self.trusted,
            as_recorded=not self.trusted_for_once,
            given=given_settings(config, self.extensions),
        )
        self.directory = self.config.directory
        self.extensions = (*self.extensions, *program_extensions(self))
        self.bus = Bus()
        self.agents = _agents(self, rules, agent)
        self.registry = Registry(circumstances(self.settings, client, self.environment, attended=is_attended(answer)))
        self.truncator = truncator_of(self.settings, self.folders)
        self.inbox = Inbox(self.bus, answer)
        self.gate = Gate(self.inbox, Approvals(file=self.folders.approvals, project=self.config.root))
        self.hooks: list[Hook] = []
        self.caller = Caller(registry=self.registry, truncator=self.truncator, hooks=[])
        self.keep = keep or store is not None
        self.given_store = store
        self.model = model
        self.budget = budget
        self.problems: list[ExtensionProblem] = []
        """The extensions that are left out, and why."""
        self.reports: list[Callable[[], Iterable[ExtensionProblem]]] = []
        """Ask these for more of them: what is left out may change while the workspace is open."""
        self.plugins: Plugins | None = None
        """The plugins, where there are any."""
        self.shell_hooks: ShellHooks | None = None
        """The hooks of the settings, where there are any."""
        self.requests: Requests | None = None
        """Answers what plugins ask by their client; set by who can, such as the command line."""
        self.sessions_open: dict[str, Session] = {}
        self._own_session: Session | None = None
        self._used: dict[type, object] = {}
        self.closed = False

        self.extensions = (*self.extensions, *extensions_of(self.config, self.environment, pure=pure))
        self._join_all()

    def __repr__(self) -> str:
        return f"<Workspace {str(self.directory)[-200:]}{' closed' if self.closed else ''}>"

    async def __aenter__(self) -> "Workspace":
        try:
            for extension in self.extensions:
                if extension.start is not None:
                    await self._start(extension, extension.start)
        except BaseException:
            await self.close()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    # What people use.

    def use(self, kind: type[T]) -> T:
        """The service of a type, for tools: `ctx.use(Files)`."""
        found = self._used.get(kind)
        if found is None:
            if kind.__name__ not in SERVICES:
                raise UsageError(f"This workspace offers no {kind.__name__}.")
            found = self._used[kind] = SERVICES[kind.__name__](self)
        return cast("T", found)

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

    async def close(self) -> None:
        """Stop what runs, end every service, and let nothing be lost."""
        if self.closed:
            return
        for session in list(self.sessions_open.values()):
            await self.quietly(f"session {session.id}", partial(session.abort, "the workspace was closed"))
        self.closed = True
        await self.stack.aclose()
        self.truncator.remove_old()

    def left_out(self) -> list[ExtensionProblem]:
        """Every extension and file of one that is left out, and why."""
        return [*self.problems, *(problem for report in self.reports for problem in report())]

    def require_open(self) -> None:
        if self.closed:
            raise UsageError(f"The workspace {self.directory} was closed. Open it again with open_workspace.")

    # Extensions.

    async def _start(self, extension: Extension, start: Callable[[Any], Any]) -> None:
        try:
            context = start(self)
            await context.__aenter__()
        except (Exception, asyncio.CancelledError) as error:
            if is_cancelled():
                raise
            log.exception("the extension %s could not be started", extension.name)
            self.problems.append(ExtensionProblem(name=extension.name, reason=f"{type(error).__name__}: {error}"))
            return
        self.stack.push_async_callback(self.quietly, extension.name, partial(context.__aexit__, None, None, None))
        self._join(extension)

    def _join_all(self) -> None:
        for extension in self.extensions:
            if extension.start is None:
                self._join(extension)
            if extension.name == "toolwright":
                self.registry.fixed = frozenset(self.registry.ids())
        if self.settings.mcp:
            self._add_servers()

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

    def _add_servers(self) -> None:
        """Join the MCP servers; none of them is started before it is needed."""
        added = self.mcp.extensions()
        self.extensions += added
        for extension in added:
            if extension.start is None:
                self._join(extension)

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
            owner=self.owner,
            connect=self.connections.open,
            instructions=Instructions.of(self.config, self.folders),
            changes=changes,
            settings=self.turn_settings,
            # A session that nobody will look up again needs no title.
            named=self.titles if self.keep else lambda *_: None,
        )

    @cached_property
    def turn_settings(self) -> "TurnSettings":
        """What holds for every turn here."""
        from toolwright.session.answering import CompactionSettings
        from toolwright.session.budget import Budget
        from toolwright.session.turn_settings import TurnSettings

        said, given = self.settings, self.budget
        budget = said.budget if given is None else given
        if not isinstance(budget, Mapping | Budget):
            steps = Budget().steps if budget.steps is None else budget.steps
            budget = Budget(steps=steps, tokens=budget.tokens, cost=budget.cost, seconds=budget.seconds)
        compaction, bounds = said.compaction, self.config.managed.budget
        return TurnSettings(
            default_model=self.default_model,
            mentionable=tuple(agent.name for agent in self.agents.visible() if agent.mode != "primary"),
            budget=Budget(**budget) if isinstance(budget, Mapping) else budget,
            bounds=Budget(steps=bounds.steps, tokens=bounds.tokens, cost=bounds.cost, seconds=bounds.seconds),
            compaction=CompactionSettings(auto=compaction.auto, prune=compaction.prune, reserved=compaction.reserved),
            go_on_after_reject=said.experimental.continue_loop_on_deny,
            prompt_hooks=tuple(hook.prompt for hook in self.hooks if hook.prompt),
            request_hooks=tuple(hook.request for hook in self.hooks if hook.request),
            compaction_hooks=tuple(hook.compaction for hook in self.hooks if hook.compaction),
        )

    def dry_gate(self) -> DryGate:
        """A gate that only judges, for who wants to know what would be asked."""
        return DryGate(self.inbox, self.gate.approvals)

    async def load_session(self, session: Session) -> None:
        """Read an earlier session from the store. UsageError if there is none of that id."""
        try:
            await self.sessions.load(session)
        except BaseException:
            self.sessions_open.pop(session.id, None)
            raise

    async def end_session(self, session_id: str) -> None:
        """Let go of everything that is kept for a session: its jobs, what it has read, its approvals, its list."""
        self.sessions_open.pop(session_id, None)
        self.inbox.cancel(session_id, "the session was closed")
        await self.end_jobs(session_id)
        self.gate.approvals.forget(session_id)
        if "files" in self.__dict__:
            self.files.forget(session_id)
        if "todos" in self.__dict__:
            self.todos.forget(session_id)

    def forget_changes(self, session_id: str) -> None:
        """Remove what would undo the changes of a session that was deleted."""
        self.files.journal.forget(session_id)
        self.truncator.forget(session_id)


open_workspace = Workspace


def run_sync(text: str, path: str | Path = ".", **more: Any) -> "TurnResult":
    """Answer one prompt in a folder, for scripts. Takes what `open_workspace` and `prompt` take.

    `tools` are functions and Tools to add, or the ids of the only tools that are offered.
    """
    if _is_async():
        raise UsageError("run_sync cannot run inside async code. Write `await workspace.prompt(...)` there.")
    names = ("files", "system", "output", "variant")
    prompting: dict[str, Any] = {name: more.pop(name) for name in names if name in more}
    tools = more.get("tools")
    if tools and all(isinstance(one, str) for one in tools):
        prompting["tools"] = more.pop("tools")

    async def run() -> "TurnResult":
        async with open_workspace(path, **more) as workspace, workspace.session() as session:
            return await session.prompt(text, **prompting)

    return asyncio.run(run())


def _is_async() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _check_given(extensions: Sequence[object], answer: object, budget: object) -> None:
    """What a program without types may get wrong, told where it is wrong and not where it is used."""
    for extension in extensions:
        if not isinstance(extension, Extension):
            raise UsageError(f"extensions= has {extension!r:.60}: give Extension(tools=[...], hooks=[...]).")
    if answer is not None and not callable(answer):
        raise UsageError(f"answer={answer!r:.60} cannot be asked: give a function of a Question.")
    if not (budget is None or isinstance(budget, Mapping) or hasattr(budget, "steps")):
        raise UsageError(f"budget={budget!r:.60} is no budget: give Budget(steps=, tokens=, cost=, seconds=).")


def _agents(workspace: Workspace, rules: Rules, default: str) -> Agents:
    agents = load_agents(workspace.config, workspace.folders, trusted=workspace.trusted, use=workspace.use)
    given = Layer("override", given_rules(rules))
    return replace(
        agents,
        general=(*agents.general, given) if given.rules else agents.general,
        default_name=default or agents.default_name,
    )
