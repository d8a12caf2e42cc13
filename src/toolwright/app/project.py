"""Projects as surfaces for people need them: one protocol, and its local form over a workspace."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from toolwright.agents import Agent
from toolwright.app.background import AgentAtWork, agents_below
from toolwright.app.looping import LoopView, loops_of, stop_loops, view_of_loop
from toolwright.app.model_choices import ModelChoice, ProviderChoice, RecentModels
from toolwright.app.shown import looks_of
from toolwright.app.undoing import redo, standing, standing_changes, undo
from toolwright.app.words import first_sentence
from toolwright.commands import Command
from toolwright.errors import UsageError
from toolwright.events import Event
from toolwright.inbox import Question, Reply, RuleTrial
from toolwright.messages import Assistant, Message, SessionInfo
from toolwright.models.info import ModelInfo
from toolwright.models.model import ModelError
from toolwright.proof.conditions import check_conditions
from toolwright.proof.evidence import described
from toolwright.proof.goal import goal_of
from toolwright.protocols.json_types import Json
from toolwright.record import record
from toolwright.services import Todo
from toolwright.session.asking import answered
from toolwright.session.prompt import Prompt
from toolwright.session.result import TurnResult
from toolwright.session.session import Session
from toolwright.session.undo.file_back import FileUndo, Selection
from toolwright.text.ids import new_id
from toolwright.workspace import Workspace

if TYPE_CHECKING:
    from toolwright.session.storage.search import Hit
    from toolwright.session.turns.loops import LoopPlan

FOLLOWED = 20_000
"""Events that wait for a surface that is busy, such as one whose user reads a question."""


@record(frozen=True, slots=True, kw_only=True)
class SessionUse:
    """Use of a session so far: cost, tokens, and how full the model's context is."""

    cost: float = 0.0
    tokens: int = 0
    context: int = 0
    """Tokens of the last request and its reply."""
    limit: int = 0
    """Tokens the model can take; 0 where nobody says."""
    by_agent: Mapping[str, float] = field(default_factory=dict[str, float])


FUZZY = 24
"""Letters of a name by which files are looked for."""


@record(frozen=True, slots=True, kw_only=True)
class UsableModels:
    """Models that could be chosen as this machine is."""

    keys: tuple[str, ...] = ()
    """Models whose provider has a key, in the environment or stored."""
    local: tuple[str, ...] = ()
    """Models that a server on this machine serves."""


class Project(Protocol):
    """One project, as a surface sees it: its sessions, what happens in them, and the questions that wait."""

    directory: Path
    """The folder of the project, wherever it is worked on."""
    here: Path
    """The folder of this machine in which the person's own commands run and files for them are written."""

    def follow(self) -> AsyncIterator[Event]:
        """Everything that happens from now on."""

    def subscribe(self, hear: Callable[[Event], None]) -> Callable[[], None]:
        """Tell of everything as it happens, until the function that is returned is called."""

    # Sessions.
    async def begin(self, agent: str = "", title: str = "") -> SessionInfo: ...
    async def resume(self, session_id: str) -> SessionInfo: ...
    async def session(self, session_id: str) -> SessionInfo:
        """Return what is known of a session of this project."""

    async def sessions(self, limit: int, *, below: bool = False) -> list[SessionInfo]:
        """The last used first; those of subagents too, if `below` is wanted."""

    async def search(self, words: str) -> "list[Hit]":
        """The sessions in which all of these words were said or called, the best first."""

    async def delete(self, session_id: str) -> None: ...
    async def rename(self, session_id: str, title: str) -> SessionInfo: ...
    async def fork(self, session_id: str, before: str = "") -> SessionInfo:
        """A copy, of all messages or of those before one."""

    async def messages(self, session_id: str) -> list[Message]: ...
    async def exported(self, session_id: str) -> Json: ...
    async def use_of(self, session_id: str) -> SessionUse: ...
    async def todos(self, session_id: str) -> list[Todo]: ...
    async def jobs(self, session_id: str) -> list[tuple[str, str]]:
        """Name and command of what a session has left running in the background."""

    async def background(self, session_id: str) -> list[AgentAtWork]:
        """The agents that work in the background below a session, and those that are done. Each is told something by
        `steer` and stopped by `abort`, with its own session."""

    async def loops(self, session_id: str) -> list[LoopView]:
        """The prompts that are put again and again in a session, and those that were."""

    async def begin_loop(self, session_id: str, prompt: Prompt, plan: "LoopPlan") -> LoopView:
        """Put a prompt again and again, as the plan says."""

    async def stop_loops(self, session_id: str, name: str = "") -> list[str]:
        """Stop the loop of a name, or all of a session; return which."""

    # Turns.
    async def prompt(self, session_id: str, prompt: Prompt) -> TurnResult:
        """Answer a prompt. Its `command` is carried out; so is one that the text begins with."""

    async def check_goal(self, command: str) -> None:
        """Raise UsageError for a goal that cannot be met as it stands."""

    async def evidence(self, session_id: str) -> list[str]:
        """Tell whether the work of a session is shown to be done, and what speaks for and against it."""

    async def steer(self, session_id: str, text: str) -> bool:
        """Tell the agent something before its next step; False if it is not at work."""

    async def abort(self, session_id: str) -> None: ...
    async def compact(self, session_id: str, model: str = "") -> None: ...

    # Questions.
    async def questions(self) -> list[Question]: ...
    async def reply(self, question_id: str, reply: Reply) -> None: ...
    async def explained(self, question: Question) -> list[str]:
        """Why it is asked: every rule that fits, with its file and line."""

    async def tried(self, question: Question, patterns: Sequence[str]) -> RuleTrial:
        """Return what storing these patterns instead of the offered ones would mean."""

    # Changes.
    async def changes(self, session_id: str) -> list[FileUndo]:
        """All that the session has changed and not undone, as its undoing."""

    async def undo(self, session_id: str, selection: Selection, *, preview: bool = False) -> list[FileUndo]:
        """Undo what is selected; the last turn that still stands if nothing is."""

    async def redo(self, session_id: str) -> list[FileUndo]: ...

    # What there is.
    async def agents(self) -> list[Agent]: ...
    async def mentionable(self) -> list[str]:
        """The agents that a prompt may call by `@name`."""

    async def models(self) -> list[str]: ...
    async def variants(self, model: str) -> list[str]:
        """The degrees of thinking a model can be asked for."""

    async def files(self, words: str) -> list[str]:
        """Files of the project whose path holds these letters, the newest first."""

    async def usable_models(self) -> UsableModels: ...
    async def model_choices(self) -> list[ModelChoice]:
        """The models with what they cost and can do, and whether there is a key for them."""

    async def recent_models(self) -> list[str]:
        """The models that were chosen last."""

    async def remember_model(self, name: str) -> None: ...
    async def providers(self) -> list[ProviderChoice]: ...
    async def store_key(self, provider: str, key: str) -> None:
        """Keep the key of a provider, readable by the user alone."""

    async def log_in(self, provider: str, show: Callable[[str], None]) -> None:
        """Have the person log in to a provider; `show` tells what to do."""

    async def model_of(self, agent: str, session_id: str = "") -> str:
        """The model that would answer this agent's next prompt in a session; empty if none is chosen."""

    async def commands(self) -> list[Command]:
        """Prompts with a name: one is carried out by a prompt that begins with `/name`."""

    async def tools(self, agent: str) -> list[tuple[str, str]]:
        """The tools an agent has, each with the first line of its description."""

    async def approvals(self) -> list[tuple[str, str, str]]:
        """Scope, permission and pattern of every approval that holds here."""

    async def explain(self, tool: str, argument: str, agent: str) -> list[str]:
        """Return what a call would need, every rule that fits, and which one decides."""

    async def programs(self) -> list[tuple[str, str, str]]:
        """Kind, name and state of the MCP servers, language servers and formatters that are configured."""


class LocalProject:
    """The protocol over a workspace of this process. The workspace must leave questions open: `answer=answer_later`."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.directory = self.here = workspace.directory
        self.looks = looks_of(workspace)

    def follow(self) -> AsyncIterator[Event]:
        return self.looks.events(self.workspace.bus.follow(limit=FOLLOWED))

    def subscribe(self, hear: Callable[[Event], None]) -> Callable[[], None]:
        return self.workspace.bus.subscribe(lambda event: hear(self.looks.event(event)))

    async def begin(self, agent: str = "", title: str = "") -> SessionInfo:
        return self.workspace.sessions.create(agent=agent, title=title).info

    async def resume(self, session_id: str) -> SessionInfo:
        return (await self._session(session_id)).info

    async def session(self, session_id: str) -> SessionInfo:
        return await self.workspace.sessions.own(session_id)

    async def sessions(self, limit: int, *, below: bool = False) -> list[SessionInfo]:
        return await self.workspace.sessions.listed(limit, roots=not below)

    async def search(self, words: str) -> "list[Hit]":
        return await self.workspace.sessions.search(words)

    async def delete(self, session_id: str) -> None:
        await self.workspace.sessions.delete(session_id)

    async def rename(self, session_id: str, title: str) -> SessionInfo:
        conversation = (await self._session(session_id)).conversation
        conversation.change(replace(conversation.info, title=title))
        return conversation.info

    async def fork(self, session_id: str, before: str = "") -> SessionInfo:
        return await self.workspace.sessions.fork(session_id, before)

    async def messages(self, session_id: str) -> list[Message]:
        """Without those that were undone."""
        conversation = (await self._session(session_id)).conversation
        return [self.looks.message(one) for one in standing(await conversation.all_messages(), conversation.info)]

    async def exported(self, session_id: str) -> Json:
        return await self.workspace.sessions.exported(session_id)

    async def use_of(self, session_id: str) -> SessionUse:
        conversation = (await self._session(session_id)).conversation
        return used(await conversation.all_messages(), conversation.info, self._limit)

    async def todos(self, session_id: str) -> list[Todo]:
        return await self.workspace.todos.of(session_id)

    async def jobs(self, session_id: str) -> list[tuple[str, str]]:
        if "jobs" not in self.workspace.__dict__:
            return []
        return [(job.name, job.command) for job in self.workspace.jobs.running(session_id)]

    async def background(self, session_id: str) -> list[AgentAtWork]:
        return agents_below(self.workspace, session_id)

    async def loops(self, session_id: str) -> list[LoopView]:
        return loops_of(self.workspace, session_id)

    async def begin_loop(self, session_id: str, prompt: Prompt, plan: "LoopPlan") -> LoopView:
        return view_of_loop(self.workspace.loops.begin(await self._session(session_id), prompt, plan))

    async def stop_loops(self, session_id: str, name: str = "") -> list[str]:
        return await stop_loops(self.workspace, session_id, name)

    async def prompt(self, session_id: str, prompt: Prompt) -> TurnResult:
        prompt = prompt if prompt.message_id else replace(prompt, message_id=new_id("msg"))
        return await answered(await self._session(session_id), prompt)

    async def check_goal(self, command: str) -> None:
        if wanted := goal_of(command):
            check_conditions(wanted, str(self.directory))

    async def evidence(self, session_id: str) -> list[str]:
        from toolwright.session.goals.stored_evidence import judge_of

        return described((await (await judge_of(self.workspace, session_id)).evidence()).as_json())

    async def steer(self, session_id: str, text: str) -> bool:
        return (await self._session(session_id)).turns.steer(text)

    async def abort(self, session_id: str) -> None:
        await (await self._session(session_id)).abort()

    async def compact(self, session_id: str, model: str = "") -> None:
        await (await self._session(session_id)).turns.compact(model)

    async def questions(self) -> list[Question]:
        return self.workspace.inbox.pending

    async def reply(self, question_id: str, reply: Reply) -> None:
        self.workspace.inbox.reply(question_id, reply)

    async def explained(self, question: Question) -> list[str]:
        from toolwright.app.explaining import explain_waiting, lines

        return [line for one in explain_waiting(self.workspace.gate, question.id) or () for line in lines(one)]

    async def tried(self, question: Question, patterns: Sequence[str]) -> RuleTrial:
        return question.tried(patterns)

    async def changes(self, session_id: str) -> list[FileUndo]:
        return await standing_changes(self.workspace, await self._session(session_id))

    async def undo(self, session_id: str, selection: Selection, *, preview: bool = False) -> list[FileUndo]:
        return await undo(self.workspace, await self._session(session_id), selection, preview=preview)

    async def redo(self, session_id: str) -> list[FileUndo]:
        return await redo(self.workspace, await self._session(session_id))

    async def agents(self) -> list[Agent]:
        return [agent for agent in self.workspace.agents.visible() if agent.mode != "subagent"]

    async def models(self) -> list[str]:
        catalog = self.workspace.connections.catalog
        return [model.full_name for provider in catalog.providers() for model in catalog.models(provider.id)]

    async def mentionable(self) -> list[str]:
        return list(self.workspace.turn_settings.mentionable)

    async def variants(self, model: str) -> list[str]:
        from toolwright.models.known.families import variants

        return list(variants(self._info(model))) if model else []

    async def files(self, words: str) -> list[str]:
        from toolwright.files.search import find_files

        folder, _, name = words.rpartition("/")
        # What stands in the name as it was typed comes before what only has its letters in their order.
        letters = [one if one.isalnum() else "?" for one in name[:FUZZY]]
        matches = await find_files(self.directory, f"**/*{'*'.join(letters)}*" if letters else "**/*")
        fitting = [path for path in matches.paths if folder in path]
        return sorted(fitting, key=lambda path: name.lower() not in path.rpartition("/")[2].lower())

    async def model_choices(self) -> list[ModelChoice]:
        from toolwright.app.models import readiness

        catalog = self.workspace.connections.catalog
        ready = {one.id: readiness(self.workspace, one)[0] for one in catalog.providers()}
        return [
            _choice(model, is_ready=is_ready)
            for provider, is_ready in ready.items()
            for model in catalog.models(provider)
            if model.status != "deprecated"
        ]

    @property
    def _recent(self) -> RecentModels:
        return RecentModels(file=self.workspace.folders.data / "models.jsonl")

    async def recent_models(self) -> list[str]:
        return self._recent.names()

    async def remember_model(self, name: str) -> None:
        self._recent.remember(name)

    async def providers(self) -> list[ProviderChoice]:
        from toolwright.app.logins import ProviderLogins
        from toolwright.app.models import readiness

        known = self.workspace.connections.catalog.providers()
        logins = {name for name, ways in (await ProviderLogins(self.workspace).ways()).items() if ways[0].authorizes}
        return [
            ProviderChoice(
                id=one.id, name=one.name, ready=readiness(self.workspace, one)[0], login=one.service in logins
            )
            for one in known
        ]

    async def store_key(self, provider: str, key: str) -> None:
        import asyncio

        from toolwright.config.auth import AuthFile, checked_key

        await asyncio.to_thread(AuthFile(self.workspace.folders.auth).put, provider, checked_key(key))
        self.workspace.connections.use_stored(provider)

    async def log_in(self, provider: str, show: Callable[[str], None]) -> None:
        from toolwright.app.logins import ProviderLogins

        logins = ProviderLogins(self.workspace)
        try:
            await logins.log_in(provider, show)
        finally:
            await logins.close()

    async def usable_models(self) -> UsableModels:
        import asyncio

        from toolwright.config.auth import AuthFile
        from toolwright.models.connect import find_key
        from toolwright.models.known.local_servers import find_local_servers

        workspace = self.workspace
        catalog, stored = workspace.connections.catalog, AuthFile(workspace.folders.auth).records()
        keyed: list[str] = []
        for provider in catalog.providers():
            try:
                has_login = workspace.connections.has_login(provider.id)
                ready = has_login or find_key(provider, workspace.environment, stored.get(provider.id)) is not None
            except ModelError:
                continue
            first = next(iter(catalog.models(provider.id)), None)
            if ready and first is not None:
                keyed.append(first.full_name)
        servers = await asyncio.to_thread(find_local_servers)
        local = [f"{server.provider}/{model.id}" for server in servers for model in server.models]
        return UsableModels(keys=tuple(keyed), local=tuple(local))

    async def model_of(self, agent: str, session_id: str = "") -> str:
        named = self.workspace.agents.find(agent)
        last = (await self._session(session_id)).conversation.last_user() if session_id else None
        return (named.model if named else "") or (str(last.model) if last else "") or self.workspace.default_model

    async def commands(self) -> list[Command]:
        return self.workspace.commands.all()

    async def tools(self, agent: str) -> list[tuple[str, str]]:
        session = self.workspace.session(agent)
        try:
            registry = self.workspace.registry
            return [(name, first_sentence(registry[name].description)) for name in session.offered()]
        finally:
            await session.close()

    async def approvals(self) -> list[tuple[str, str, str]]:
        return [(scope, one.permission, one.text) for scope, one in self.workspace.gate.approvals.listed()]

    async def explain(self, tool: str, argument: str, agent: str) -> list[str]:
        from toolwright.app.explaining import explain_argument

        explained = await explain_argument(self.workspace, tool, argument, agent)
        return [line for passage in explained.passages for line in passage]

    async def programs(self) -> list[tuple[str, str, str]]:
        workspace = self.workspace
        servers = workspace.mcp.states() if workspace.settings.mcp else []
        programs = [("MCP", one.name, one.error or f"{one.status}, {len(one.tools)} tools") for one in servers]
        for kind, setting in (("LSP", workspace.settings.lsp), ("formatter", workspace.settings.formatter)):
            names = setting if isinstance(setting, Mapping) else ["all that are known"] if setting else []
            programs += ((kind, name, "on") for name in names)
        return [*programs, *(("left out", one.name, one.reason) for one in workspace.left_out())]

    async def _session(self, session_id: str) -> Session:
        return await self.workspace.sessions.open(session_id)

    def _info(self, name: str) -> ModelInfo:
        """Return what is known of a model; one that is in no list, such as a script, tells it when it is opened."""
        try:
            return self.workspace.connections.catalog.find(name)
        except (UsageError, ModelError):
            return self.workspace.connections.open(name).info

    def _limit(self, name: str) -> int:
        try:
            return self._info(name).limits.context or 0
        except (UsageError, ModelError):
            return 0


def answer_later(_: Question) -> Reply | None:
    """Leaves every question open: whoever shows it answers by its id."""
    return None


def _choice(model: ModelInfo, *, is_ready: bool) -> ModelChoice:
    able = {"reasoning": model.reasoning, "images": "image" in model.accepts, "no tools": not model.tools}
    return ModelChoice(
        full_name=model.full_name,
        name=model.name,
        context=model.limits.context,
        input_price=model.prices.input,
        output_price=model.prices.output,
        can=tuple(name for name, can in able.items() if can),
        ready=is_ready,
    )


def used(messages: Sequence[Message], info: SessionInfo, limit: Callable[[str], int]) -> SessionUse:
    """Return what a session took, with what was undone; `limit` says how many tokens a model can take."""
    replies = [one.info for one in messages if isinstance(one.info, Assistant)]
    spent = info.spent or {}
    by_agent: dict[str, float] = dict(spent.get("cost", {}))
    for reply in replies:
        by_agent[reply.agent] = by_agent.get(reply.agent, 0.0) + reply.cost
    stands = [one.info for one in standing(messages, info) if isinstance(one.info, Assistant)]
    last = next((reply for reply in reversed(stands) if reply.tokens.total), None)
    return SessionUse(
        cost=sum(by_agent.values()),
        tokens=sum(reply.tokens.total for reply in replies) + int(spent.get("tokens", 0)),
        context=last.tokens.total if last else 0,
        limit=limit(f"{last.provider_id}/{last.model_id}") if last else 0,
        by_agent=by_agent,
    )
