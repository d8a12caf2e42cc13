"""What a surface for people needs of the program: one protocol, and its local form over a workspace."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import Protocol

from toolwright.agents import Agent
from toolwright.commands import Command
from toolwright.errors import UsageError
from toolwright.events import Event
from toolwright.inbox import Question, Reply, RuleTrial
from toolwright.jsontypes import Json
from toolwright.messages import Assistant, Message, SessionInfo, User
from toolwright.models.info import ModelInfo
from toolwright.models.model import ModelError
from toolwright.permission.explain import explain, lines
from toolwright.record import record
from toolwright.request import Request
from toolwright.services import Todo
from toolwright.session.result import TurnResult
from toolwright.session.session import Session
from toolwright.session.undo import FileUndo, NothingToUndo, Selection, Undo
from toolwright.workspace import Workspace

FOLLOWED = 20_000
"""Events that wait for a surface that is busy, such as one whose user reads a question."""


@record(frozen=True, slots=True, kw_only=True)
class SessionUse:
    """What a session has taken so far, and how full the model's context is."""

    cost: float = 0.0
    tokens: int = 0
    context: int = 0
    """Tokens of the last request and its reply."""
    limit: int = 0
    """Tokens the model can take; 0 where nobody says."""
    by_agent: Mapping[str, float] = field(default_factory=dict[str, float])


@record(frozen=True, slots=True, kw_only=True)
class UsableModels:
    """Models that could be chosen as this machine is."""

    keys: tuple[str, ...] = ()
    """Models whose provider has a key, in the environment or stored."""
    local: tuple[str, ...] = ()
    """Models that a server on this machine serves."""


class Backend(Protocol):
    """One project, as a surface sees it: its sessions, what happens in them, and the questions that wait."""

    directory: Path
    """The folder of the project, wherever it is worked on."""
    here: Path
    """The folder of this machine in which the person's own commands run and files for them are written."""

    def follow(self) -> AsyncIterator[Event]:
        """Everything that happens from now on."""

    # Sessions.
    async def begin(self, agent: str = "") -> SessionInfo: ...
    async def resume(self, session_id: str) -> SessionInfo: ...
    async def sessions(self, limit: int) -> list[SessionInfo]: ...
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

    # Turns.
    async def prompt(
        self, session_id: str, text: str, *, agent: str = "", model: str = "", variant: str = ""
    ) -> TurnResult: ...
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
        """What storing these patterns instead of the offered ones would mean."""

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
    async def model_of(self, agent: str, session_id: str = "") -> str:
        """The model that would answer this agent's next prompt in a session; empty if none is chosen."""

    async def commands(self) -> list[Command]:
        """Prompts with a name: one is carried out by a prompt that begins with `/name`."""

    async def tools(self, agent: str) -> list[tuple[str, str]]:
        """The tools an agent has, each with the first line of its description."""

    async def approvals(self) -> list[tuple[str, str, str]]:
        """Scope, permission and pattern of every approval that holds here."""

    async def explain(self, tool: str, argument: str, agent: str) -> list[str]:
        """What a call would need, every rule that fits, and which one decides."""

    async def programs(self) -> list[tuple[str, str, str]]:
        """Kind, name and state of the MCP servers, language servers and formatters that are configured."""


class LocalBackend:
    """The protocol over a workspace of this process. The workspace must leave questions open: `answer=answer_later`."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.directory = self.here = workspace.directory

    def follow(self) -> AsyncIterator[Event]:
        return self.workspace.bus.follow(limit=FOLLOWED)

    async def begin(self, agent: str = "") -> SessionInfo:
        return self.workspace.sessions.create(agent=agent).info

    async def resume(self, session_id: str) -> SessionInfo:
        return (await self._session(session_id)).info

    async def sessions(self, limit: int) -> list[SessionInfo]:
        return await self.workspace.sessions.listed(limit, roots=True)

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
        return standing(await self.workspace.sessions.messages(session_id), (await self._session(session_id)).info)

    async def exported(self, session_id: str) -> Json:
        return await self.workspace.sessions.exported(session_id)

    async def use_of(self, session_id: str) -> SessionUse:
        return used(await self.messages(session_id), self._limit)

    async def todos(self, session_id: str) -> list[Todo]:
        return await self.workspace.todos.of(session_id)

    async def jobs(self, session_id: str) -> list[tuple[str, str]]:
        if "jobs" not in self.workspace.__dict__:
            return []
        return [(job.name, job.command) for job in self.workspace.jobs.running(session_id)]

    async def prompt(
        self, session_id: str, text: str, *, agent: str = "", model: str = "", variant: str = ""
    ) -> TurnResult:
        session = await self._session(session_id)
        return await session.prompt(text, agent=agent, model=model or None, variant=variant)

    async def steer(self, session_id: str, text: str) -> bool:
        return (await self._session(session_id)).turns.steer(text)

    async def abort(self, session_id: str) -> None:
        await (await self._session(session_id)).abort()
        # A command that a subagent carries out is a turn of the session below alone.
        below = [one for one in self.workspace.sessions_open.values() if session_id in one.callers]
        for session in below:
            await session.abort()

    async def compact(self, session_id: str, model: str = "") -> None:
        await (await self._session(session_id)).turns.compact(model)

    async def questions(self) -> list[Question]:
        return self.workspace.inbox.pending

    async def reply(self, question_id: str, reply: Reply) -> None:
        self.workspace.inbox.reply(question_id, reply)

    async def explained(self, question: Question) -> list[str]:
        session = await self._session(question.session_id)
        request = Request(permission=question.permission, patterns=question.patterns, always=question.always)
        approvals = self.workspace.gate.approvals.of((session.id, *session.callers))
        return lines(explain(session.ruled_agent.policy, request, approvals))

    async def tried(self, question: Question, patterns: Sequence[str]) -> RuleTrial:
        return question.tried(patterns)

    async def changes(self, session_id: str) -> list[FileUndo]:
        messages = await self.workspace.sessions.messages(session_id)
        undo = await self._undo(session_id)
        return undo.plan(Selection(turn=messages[0].info.id)) if messages and undo.changes() else []

    async def undo(self, session_id: str, selection: Selection, *, preview: bool = False) -> list[FileUndo]:
        undo = await self._undo(session_id)
        if selection.empty:
            selection = Selection(turn=last_turn(await self.messages(session_id)).id)
        try:
            plans = undo.plan(selection)
        except NothingToUndo:
            if preview or selection != Selection(turn=selection.turn):
                raise
            undo.leave_out(selection.turn)
            return []
        return plans if preview else await undo.revert(selection)

    async def redo(self, session_id: str) -> list[FileUndo]:
        return await (await self._undo(session_id)).unrevert()

    async def agents(self) -> list[Agent]:
        return [agent for agent in self.workspace.agents.visible() if agent.mode != "subagent"]

    async def models(self) -> list[str]:
        catalog = self.workspace.connections.catalog
        return [model.full_name for provider in catalog.providers() for model in catalog.models(provider.id)]

    async def mentionable(self) -> list[str]:
        return list(self.workspace.turn_settings.mentionable)

    async def variants(self, model: str) -> list[str]:
        from toolwright.models.families import variants

        return list(variants(self._info(model))) if model else []

    async def files(self, words: str) -> list[str]:
        from toolwright.files.search import find_files

        folder, _, name = words.rpartition("/")
        letters = "".join(one if one.isalnum() else "?" for one in name)
        found = await find_files(self.directory, f"**/*{letters}*" if letters else "**/*")
        return [path for path in found.paths if folder in path]

    async def usable_models(self) -> UsableModels:
        import asyncio

        from toolwright.auth import AuthFile
        from toolwright.models.connect import find_key
        from toolwright.models.local_servers import find_local_servers

        workspace = self.workspace
        catalog, stored = workspace.connections.catalog, AuthFile(workspace.folders.auth).records()
        keyed: list[str] = []
        for provider in catalog.providers():
            try:
                key = find_key(provider, workspace.environment, stored.get(provider.id))
            except ModelError:
                continue
            first = next(iter(catalog.models(provider.id)), None)
            if key is not None and first is not None:
                keyed.append(first.full_name)
        servers = await asyncio.to_thread(find_local_servers)
        local = [f"{server.provider}/{model.id}" for server in servers for model in server.models]
        return UsableModels(keys=tuple(keyed), local=tuple(local))

    async def model_of(self, agent: str, session_id: str = "") -> str:
        named = self.workspace.agents.by_name.get(agent)
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
        return [(scope, one.permission, one.pattern) for scope, one in self.workspace.gate.approvals.listed()]

    async def explain(self, tool: str, argument: str, agent: str) -> list[str]:
        from toolwright.policy.judging import requests_of

        session = self.workspace.session(agent)
        try:
            approvals = self.workspace.gate.approvals.of((session.id,))
            requests = await requests_of(self.workspace, session, tool, argument)
            found = [line for one in requests for line in lines(explain(session.ruled_agent.policy, one, approvals))]
            return found or [f"{tool} needs no permission for this."]
        finally:
            await session.close()

    async def programs(self) -> list[tuple[str, str, str]]:
        workspace = self.workspace
        servers = workspace.mcp.states() if workspace.settings.mcp else []
        found = [("MCP", one.name, one.error or f"{one.status}, {len(one.tools)} tools") for one in servers]
        for kind, said in (("LSP", workspace.settings.lsp), ("formatter", workspace.settings.formatter)):
            names = said if isinstance(said, Mapping) else ["all that are known"] if said else []
            found += ((kind, name, "on") for name in names)
        return [*found, *(("left out", one.name, one.reason) for one in workspace.left_out())]

    async def _session(self, session_id: str) -> Session:
        return await self.workspace.sessions.open(session_id)

    async def _undo(self, session_id: str) -> Undo:
        return await Undo.of(self.workspace.files, (await self._session(session_id)).conversation)

    def _info(self, name: str) -> ModelInfo:
        """What is known of a model; one that is in no list, such as a script, tells it when it is opened."""
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


def standing(messages: Sequence[Message], info: SessionInfo) -> list[Message]:
    """The messages of a session without those that were undone."""
    mark = (info.revert or {}).get("messageID")
    end = next((at for at, one in enumerate(messages) if one.info.id == mark), len(messages))
    return list(messages[:end])


def last_turn(messages: Sequence[Message]) -> User:
    """The last prompt that stands."""
    for message in reversed(messages):
        if isinstance(message.info, User) and message.text:
            return message.info
    raise UsageError("There is no turn left to undo in this session.")


def used(messages: Sequence[Message], limit: Callable[[str], int]) -> SessionUse:
    """What messages took; `limit` says how many tokens a model can take."""
    replies = [one.info for one in messages if isinstance(one.info, Assistant)]
    by_agent: dict[str, float] = {}
    for reply in replies:
        by_agent[reply.agent] = by_agent.get(reply.agent, 0.0) + reply.cost
    last = next((reply for reply in reversed(replies) if reply.tokens.total), None)
    return SessionUse(
        cost=sum(reply.cost for reply in replies),
        tokens=sum(reply.tokens.total for reply in replies),
        context=last.tokens.total if last else 0,
        limit=limit(f"{last.provider_id}/{last.model_id}") if last else 0,
        by_agent=by_agent,
    )


def first_sentence(text: str) -> str:
    """What stands first in a description."""
    first = next((line for line in text.splitlines() if line.strip()), "")
    return first.partition(". ")[0].strip()
