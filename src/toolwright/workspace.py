"""A workspace: one folder opened in one process, its settings and services. The only place that builds things."""

import asyncio
import logging
import os
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Never, TypeVar, cast

from toolwright.agents import Agents, load_agents
from toolwright.call import Caller, is_cancelled
from toolwright.config.load import load_config
from toolwright.config.trust import is_trusted
from toolwright.definition import Client, Result, Tool
from toolwright.errors import UsageError
from toolwright.events import Bus
from toolwright.extension import Extension, ExtensionProblem, Hook, enter, hooks_of, leave, sources_of
from toolwright.extensions import extensions_of
from toolwright.extensions.programs import program_extensions
from toolwright.extensions.tool_conditions import circumstances, given_settings, is_true, truncator_of
from toolwright.inbox import Answerer, Inbox, Question, Scope, is_attended
from toolwright.machine.folders import Folders
from toolwright.permission.approvals import Approvals
from toolwright.permission.forms import given_rules
from toolwright.permission.gate import DryGate, Gate
from toolwright.permission.rules import Layer, Rule
from toolwright.registry import Registry
from toolwright.session.input_checks import check_agent_given, check_words
from toolwright.session.prompting import Prompting
from toolwright.session.session import CLOSED, Session
from toolwright.tools import builtin
from toolwright.workspace_options import KnownPermissions, Opening, check_agent, own_extension, rules_given
from toolwright.workspace_services import SERVICES, Services

if TYPE_CHECKING:
    from toolwright.extensions.home import Requests
    from toolwright.extensions.plugins import Plugins
    from toolwright.extensions.shell_hooks import ShellHooks
    from toolwright.messages import Message
    from toolwright.models.model import Model
    from toolwright.session.agent import Agent, GivenAgents
    from toolwright.session.alone import CallDecision, CommandOutcome
    from toolwright.session.budget import Budget
    from toolwright.session.first_messages import GivenMessages
    from toolwright.session.prompt import AskedOptions
    from toolwright.session.records.conversation import Conversation
    from toolwright.session.result import TurnResult
    from toolwright.session.store import Store
    from toolwright.session.subagents.subagents import Elsewhere
    from toolwright.session.turn_events import TurnEvent
    from toolwright.session.turns.settings import TurnSettings
    from toolwright.session.turns.turns import Turns

log = logging.getLogger(__name__)
# What goes wrong is in the results; the log is for who asks for it.
logging.getLogger("toolwright").addHandler(logging.NullHandler())

T = TypeVar("T")
Rules = Sequence[Rule] | Mapping[str, Any] | str
Anything = Tool | Callable[..., Any]


class Workspace(Services, Prompting):
    """One folder opened in one process. Any number can be open at once: `async with open_workspace(".") as workspace`.

    Opening reads its settings, joins its tools and starts its extensions; all of it is closed at the end.

    `rules` are permissions, as Rule records or as the `permission` of a configuration; `config` is more of what a
    configuration file would say. `deps` is what tools find as `ctx.deps`. `answer` answers questions; without it every
    question is refused, and one that waits longer than `question_timeout` seconds. `keep` stores the sessions on disk;
    `store` keeps them wherever you like, and is yours to close. `environment` stands in for the variables of the
    process. `pure` leaves plugins out.
    """

    def __init__(
        self,
        path: str | Path = ".",
        *,
        rules: Rules = (),
        config: Mapping[str, Any] | None = None,
        model: "str | Model" = "",
        agent: "str | Agent[Any]" = "",
        agents: "Sequence[Agent[Any]]" = (),
        tools: Sequence[Anything] = (),
        extensions: Sequence[Extension] = (),
        deps: object = None,
        answer: Answerer | None = None,
        budget: "Budget | Mapping[str, Any] | None" = None,
        hooks: "Sequence[Hook | Callable[..., Any]]" = (),
        keep: bool = False,
        store: "Store | None" = None,
        trust: bool = False,
        client: Client = "api",
        environment: Mapping[str, str] | None = None,
        pure: bool = False,
        question_timeout: float | None = None,
    ) -> None:
        super().__init__()
        directory = Path(path)
        if not directory.is_dir():
            raise UsageError(f"{directory} is not a folder. Name the folder of a project.")
        Opening(
            model=model,
            tools=tools,
            extensions=extensions,
            hooks=hooks,
            answer=answer,
            budget=budget,
            store=store,
            client=client,
            config=config,
            environment=environment,
            agent=agent,
            agents=agents,
            switches={"keep": keep, "trust": trust, "pure": pure},
            question_timeout=question_timeout,
        ).check()
        self.environment = os.environ if environment is None else environment
        self.deps = deps
        self.folders = Folders.of(self.environment).ready()
        self.extensions = (
            Extension(name="toolwright", tools=builtin()),
            *extensions,
            own_extension(tools, hooks, deps),
        )
        self.trusted_for_once = trust or is_true(self.environment.get("TOOLWRIGHT_TRUST"))
        """True if the user trusts whatever the project brings while this is open, not only what it brought before."""
        self.trusted = self.trusted_for_once or is_trusted(directory, self.folders)
        self.config = load_config(
            directory,
            self.folders,
            self.environment,
            trusted=self.trusted,
            as_recorded=not self.trusted_for_once,
            given=given_settings(config, self.extensions),
        )
        for warning in self.config.warnings:
            log.warning("%s", warning)
        self.directory = self.config.directory
        self.extensions = (*self.extensions, *program_extensions(self))
        self.bus = Bus()
        layers = given_rules(rules)
        self.agents = _agents(self, layers)
        self.registry = Registry(circumstances(self.settings, client, self.environment, attended=is_attended(answer)))
        self.truncator = truncator_of(self.settings, self.folders, self.config.root)
        self.keep = keep or store is not None
        self.inbox = Inbox(self.bus, answer, question_timeout)
        # What nobody keeps leaves nothing behind; at a terminal it is a person who says always.
        scope: Scope = "project" if self.keep or client != "api" else "session"
        self.gate = Gate(self.inbox, Approvals(file=self.folders.approvals, project=self.config.root), scope)
        self.hooks: list[Hook] = []
        self.caller = Caller(registry=self.registry, truncator=self.truncator, hooks=[])
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
        self.elsewhere: Elsewhere | None = None
        """Has work handed to agents done in copies; set by who can, such as the command line."""
        self.sessions_open: dict[str, Session] = {}
        self._own_session: Session | None = None
        self._used: dict[type, object] = {}
        self.closed = False

        self.extensions = (*self.extensions, *extensions_of(self.config, self.environment, pure=pure))
        self._join_all()
        self.check_rules(layers)
        self._known_permissions.check(rules_given(self.agents), "config=")
        self._take_agents(agents, agent)

    def __repr__(self) -> str:
        return f"<Workspace {str(self.directory)[-200:]}{' closed' if self.closed else ''}>"

    async def __aenter__(self) -> "Workspace":
        self.put_right()
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
        service = self._used.get(kind)
        if service is None:
            if kind.__name__ not in SERVICES:
                raise UsageError(f"This workspace offers no {kind.__name__}.")
            service = self._used[kind] = SERVICES[kind.__name__](self)
        return cast("T", service)

    async def call(self, tool: str, /, *misplaced: Never, **arguments: Any) -> Result:
        """Call a tool as the default agent would; all such calls share one session."""
        return await self._own.call(tool, *misplaced, **arguments)

    async def decide(self, tool: str, /, **arguments: Any) -> "CallDecision":
        """Return what the rules make of a call: allow, ask or deny, and why. Nothing is done and nobody is asked."""
        return await self._own.decide(tool, **arguments)

    async def run(
        self, command: str, *, seconds: float | None = None, workdir: str | Path | None = None
    ) -> "CommandOutcome":
        """Run a command of the program's own in the box of the project. A rule that denies it holds all the same."""
        return await self._own.run(command, seconds=seconds, workdir=workdir)

    @property
    def _own(self) -> Session:
        """The session of calls that no session makes."""
        if self._own_session is None:
            self._own_session = self.session()
        return self._own_session

    def session(
        self,
        agent: "str | Agent[Any]" = "",
        id: str = "",  # noqa: A002 - the word the whole program uses
        *,
        rules: Rules = (),
        parent: Session | None = None,
        provider: str = "",
        model: str = "",
        messages: "GivenMessages" = (),
    ) -> Session:
        """A new session for an agent, or an earlier one by its id: `async with workspace.session() as session`.

        It begins with `messages`, those of another session or `{"role": "user", "content": "..."}`. Under a parent it
        may do no more than the parent may.
        """
        self.require_open()
        check_words(id=id)
        begins_with = _begins_with(messages, id) if messages else ()
        if id in self.sessions_open:
            return self.sessions_open[id]
        layers = given_rules(rules)
        self.check_rules(layers)
        session = Session(
            self,
            id=id,
            agent=agent,
            rules=layers,
            parent=parent,
            provider=provider,
            model=model,
            messages=begins_with,
        )
        self.sessions_open[session.id] = session
        return session

    async def _prompted(self, text: str, output: Any, options: "AskedOptions") -> "TurnResult[Any]":
        """The answer to one prompt in a session of its own."""
        async with self.session() as session:
            return await session._prompted(text, output, options)

    async def _streamed(
        self, text: str, output: Any, options: "AskedOptions"
    ) -> "AsyncGenerator[TurnEvent[Any], None]":
        async with self.session() as session, aclosing(session._streamed(text, output, options)) as events:
            async for event in events:
                yield event

    async def waiting(self) -> "list[Question]":
        """The questions with which earlier processes have left sessions of this project, the newest first."""
        from toolwright.session.turns.resuming import waiting_in

        self.require_open()
        questions = list[Question]()
        for info in await self.sessions.listed(roots=True):
            if info.id not in self.sessions_open:
                questions += waiting_in(await self.sessions.messages(info.id, 1))
        return questions

    async def close(self) -> None:
        """Stop what runs, end every service, and let nothing be lost."""
        if self.closed:
            return
        try:
            if "loops" in self.__dict__:
                await self.loops.close()
            for session in list(self.sessions_open.values()):
                await self.quietly(f"session {session.id}", partial(session.abort, "the workspace was closed"))
        finally:
            self.closed = True
            await self.stack.aclose()
        self.truncator.remove_old()

    def left_out(self) -> list[ExtensionProblem]:
        """Every extension and file of one that is left out, and why."""
        return [*self.problems, *(problem for report in self.reports for problem in report())]

    def work_for(self, other: "Workspace") -> None:
        """Put questions where another workspace does, and count what works in the background there."""
        self.inbox = self.gate.inbox = other.inbox
        self.__dict__["background"] = other.background

    def require_open(self) -> None:
        if self.closed:
            raise UsageError(f"The workspace {self.directory} was closed. Open it again with open_workspace.")

    def check_rules(self, rules: Iterable[Rule]) -> None:
        """Raise UsageError for rules of a program about what there is no permission for."""
        self._known_permissions.check(rules, "rules=")

    @cached_property
    def _known_permissions(self) -> KnownPermissions:
        own = [one for extension in self.extensions if extension.replaces for one in sources_of(extension)]
        return KnownPermissions.of(self.config, (*self.registry.ids(), *(one.load().permission for one in own)))

    def may_come(self, tool_id: str) -> bool:
        """Return whether a tool that is not known yet may be one of a server or of a file with several."""
        return tool_id.startswith(self._known_permissions.beginnings)

    # Agents.

    def agent_named(self, agent: "str | Agent[Any]") -> str:
        """The name of an agent; one that a program has made is taken in. UsageError if there is none."""
        check_agent_given(agent)
        return self.agents[agent].name if isinstance(agent, str) else self._given_agents.name_of(agent)

    @cached_property
    def _given_agents(self) -> "GivenAgents":
        from toolwright.session.agent import GivenAgents

        return GivenAgents(self)

    def _take_agents(self, agents: "Sequence[Agent[Any]]", default: "str | Agent[Any]") -> None:
        """Take in the agents of the program, and whom the settings let hand over."""
        if any(one.hand_over for one in self.agents.by_name.values()):
            from toolwright.session.agent import offer_hand_over

            offer_hand_over(self.registry, self.agents)
        for agent in agents:
            self.agent_named(agent)
        if default:
            name = self.agent_named(default)
            check_agent(self.agents, name)
            self.agents = replace(self.agents, default_name=name)

    # Extensions.

    async def _start(self, extension: Extension, start: Callable[[Any], Any]) -> None:
        try:
            context = start(self)
            await enter(context)
        except (Exception, asyncio.CancelledError) as error:
            if is_cancelled():
                raise
            log.exception("the extension %s could not be started", extension.name)
            reason = f"{type(error).__name__}: {error}"
            self.problems.append(ExtensionProblem(name=extension.origin or extension.name, reason=reason))
            return
        self.stack.push_async_callback(self.quietly, extension.name, partial(leave, context))
        self._join(extension)

    def _join_all(self) -> None:
        builtin_tools, *others = self.extensions
        self._join(builtin_tools)
        self.registry.fixed = frozenset(self.registry.ids())
        for extension in others:
            if extension.start is None:
                self._join(extension)
        if self.settings.mcp:
            self._add_servers()

    def _join(self, extension: Extension) -> None:
        """Take in the tools and hooks of an extension."""
        for source in sources_of(extension):
            if extension.replaces:
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
        """Return the turns of a session, wired to this workspace."""
        from toolwright.session.turns.instructions import Instructions
        from toolwright.session.turns.turns import Turns
        from toolwright.session.undo.changes import Changes

        changes = Changes(self.files.journal, self.files.hides)
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
            background=self.background,
            # A session that nobody will look up again needs no title.
            first_prompt=self.titles if self.keep else lambda *_: None,
        )

    @cached_property
    def turn_settings(self) -> "TurnSettings":
        """Return the settings of every turn here."""
        from toolwright.session.budget import Budget, budget_of
        from toolwright.session.turns.settings import CompactionSettings, TurnSettings

        section = self.settings
        compaction, bounds, usual = section.compaction, self.config.managed.budget, section.budget
        steps = Budget().steps if usual.steps is None else usual.steps
        budget = Budget(steps=steps, tokens=usual.tokens, cost=usual.cost, seconds=usual.seconds)
        return TurnSettings(
            default_model=self.default_model,
            mentionable=self.agents.mentionable(),
            budget=budget_of(self.budget) or budget,
            bounds=Budget(steps=bounds.steps, tokens=bounds.tokens, cost=bounds.cost, seconds=bounds.seconds),
            compaction=CompactionSettings(auto=compaction.auto, prune=compaction.prune, reserved=compaction.reserved),
            go_on_after_reject=section.experimental.continue_loop_on_deny,
            prompt_hooks=tuple(hook.prompt for hook in self.hooks if hook.prompt),
            request_hooks=tuple(hook.request for hook in self.hooks if hook.request),
            compaction_hooks=tuple(hook.compaction for hook in self.hooks if hook.compaction),
        )

    def dry_gate(self) -> DryGate:
        """A gate that only judges, for who wants to know what would be asked."""
        return DryGate(self.inbox, self.gate.approvals, self.gate.scope)

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
        if "background" in self.__dict__:
            await self.background.stop_below(session_id, CLOSED)
            self.background.forget(session_id)
        if "loops" in self.__dict__:
            await self.loops.forget(session_id)
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


def _open(*path: Any, **options: Any) -> Workspace:
    """Open a folder with its settings, tools and sessions: `async with open_workspace(".") as workspace`.

    Any number can be open at once. Leaving one closes everything in it. All of this is told in docs/python.md.

    path               the folder of a project
    rules              permissions: {"bash": "ask"}, or Rule records
    config             more of what a configuration file would say, such as {"mcp": {...}}
    model, agent       who answers prompts that name nobody: "provider/model" or a Model; a name or an Agent
    agents             agents of the program's own
    tools              functions and Tools to add
    extensions, hooks  what else joins: Extension records; functions around calls
    deps               what tools find as ctx.deps
    answer             who answers questions: a function of a Question, which gives "once", "always", "reject", a Reply,
                       or None for later; without it every question is refused
    question_timeout   seconds that a question waits
    budget             how much each turn may take: Budget(steps=, tokens=, cost=, seconds=)
    keep, store        whether sessions are kept on disk; a place of your own for them
    trust              whether the project's own settings and code take effect
    environment        in the place of the process's own variables
    client             who shows the conversation
    pure               whether plugins are left out

    What the workspace is used by:

    await call(tool, **arguments)      a call, as the default agent would make it: a Result
    session(agent="", id="")           a conversation, new or an earlier one: async with ... as session
    await prompt(text, ...)            one prompt in a session of its own: a TurnResult
    stream(text, ...)                  the same as it happens: TextDelta, ToolStarted, ..., Finished
    await decide(tool, **arguments)    what the rules make of a call: a CallDecision
    await run(command)                 a command in the sandbox of the project: a CommandOutcome
    inbox.pending, inbox.reply(id, x)  the questions that wait, and their answers
    await waiting()                    the questions with which earlier processes have left sessions
    bus.subscribe(f), bus.follow()     everything that happens, in all sessions
    left_out(), config.warnings        what of extensions and settings has no effect, and why
    """
    return Workspace(*path, **options)


if TYPE_CHECKING:
    open_workspace = Workspace
else:
    # A function, because the help of a class lists all it is made of; its parameters are those of the class.
    open_workspace = _open
    open_workspace.__wrapped__ = Workspace
    open_workspace.__name__ = open_workspace.__qualname__ = "open_workspace"


def _begins_with(messages: "GivenMessages", session_id: str) -> "Sequence[Message]":
    from toolwright.session.first_messages import check_messages

    if session_id:
        raise UsageError("messages= is for a new session: one with an id has messages of its own.")
    return check_messages(messages)


def _agents(workspace: Workspace, rules: tuple[Rule, ...]) -> Agents:
    agents = load_agents(workspace.config, workspace.folders, trusted=workspace.trusted, use=workspace.use)
    return replace(agents, general=(*agents.general, Layer("override", rules))) if rules else agents
