"""A project on a server, as surfaces see it: the same protocol as over a workspace of this process."""

from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote, unquote, urlsplit

from toolwright.agents import Agent
from toolwright.app.background import AgentAtWork
from toolwright.app.looping import LoopView
from toolwright.app.model_choices import ModelChoice, ProviderChoice
from toolwright.app.project import FOLLOWED, SessionUse, UsableModels, used
from toolwright.app.shown import Looks
from toolwright.app.undoing import last_turn, standing
from toolwright.app.words import first_sentence
from toolwright.client.calls import ServerError, ServerGone, message_of, session_of
from toolwright.client.client import Client
from toolwright.client.events import question_of
from toolwright.client.files import data_url
from toolwright.client.link import EventLink
from toolwright.client.reading import agent_of, command_of, todo_of, undo_of, undo_of_change
from toolwright.client.turns import RemoteTurns
from toolwright.commands import Command
from toolwright.config.auth import ACCOUNT
from toolwright.deadline import time_limit
from toolwright.errors import UsageError
from toolwright.events import Event
from toolwright.inbox import Question, Reply, RuleTrial
from toolwright.messages import Message, SessionInfo, User
from toolwright.proof.evidence import described
from toolwright.proof.goal import Goal, goal_of
from toolwright.protocols.client_json import from_json
from toolwright.protocols.json_types import Json
from toolwright.record import fields_of
from toolwright.services import Todo
from toolwright.session.prompt import Prompt
from toolwright.session.result import TurnResult
from toolwright.session.storage.search import Hit
from toolwright.session.typed_answer import answered_in_form
from toolwright.session.undo.file_back import FileUndo, NothingToUndo, Selection

if TYPE_CHECKING:
    from toolwright.session.turns.loops import LoopPlan

T = TypeVar("T")
RESTART = 30.0
"""Seconds that a server which has gone is given to come back before a session can be begun."""
_OTHERS = "This server is no toolwright: it {}."


class RemoteProject:
    """The protocol over a client. What OpenCode's own server does not offer is left out or refused in a sentence."""

    def __init__(self, client: Client, directory: Path, *, ours: bool) -> None:
        self.client = client
        self.directory = directory
        self.here = directory if "//127.0.0.1" in client.address and directory.is_dir() else Path.cwd()
        self._ours = ours
        self._looks = Looks(directory=str(directory))
        self._link = EventLink(client, replays=ours)
        self._turns = RemoteTurns(client, self._link, ours=ours)
        self._models: dict[str, Json] | None = None
        self._known: dict[str, Any] = {}

    @classmethod
    async def open(cls, client: Client) -> "RemoteProject":
        """The project that the client names, or the first of the server."""
        try:
            health = await client.send("GET", "/global/health")
            folder = Path((await client.send("GET", "/path"))["directory"])
            project = cls(client, folder, ours="toolwright" in str(health["version"]))
            await project._link.open()
        except (KeyError, TypeError) as error:
            await client.close()
            raise UsageError(
                f"{client.address} is not a server of toolwright or OpenCode. Check the address."
            ) from error
        except BaseException:
            await client.close()
            raise
        return project

    async def close(self) -> None:
        await self._link.close()
        await self.client.close()

    def follow(self) -> AsyncIterator[Event]:
        return self._looks.events(self._link.bus.follow(limit=FOLLOWED))

    # Sessions.

    def subscribe(self, hear: Callable[[Event], None]) -> Callable[[], None]:
        return self._link.bus.subscribe(lambda event: hear(self._looks.event(event)))

    async def begin(self, agent: str = "", title: str = "") -> SessionInfo:
        """A new session, also where the server is just being started anew."""
        chosen = agent if self._ours else ""
        try:
            info = await self.client.create_session(agent=chosen, title=title)
        except ServerGone:
            with suppress(TimeoutError):
                async with time_limit(RESTART):
                    await self._link.back()
            info = await self.client.create_session(agent=chosen, title=title)
        self._link.watch(info.id)
        return info

    async def resume(self, session_id: str) -> SessionInfo:
        info = await self.client.session(session_id)
        below = await self.client.send("GET", f"/session/{session_id}/children")
        self._link.watch(info.id, *(one["id"] for one in below))
        return info

    async def session(self, session_id: str) -> SessionInfo:
        return await self.client.session(session_id)

    async def sessions(self, limit: int, *, below: bool = False) -> list[SessionInfo]:
        infos = await self.client.send("GET", "/session", None, roots="false" if below else "true", limit=str(limit))
        return [session_of(one) for one in infos if below or not one.get("parentID")]

    async def search(self, words: str) -> list[Hit]:
        if not self._ours:
            return []
        hits = await self.client.send("GET", "/tw/search", None, words=words)
        return [from_json(Hit, one) for one in hits]

    async def delete(self, session_id: str) -> None:
        await self.client.delete_session(session_id)

    async def rename(self, session_id: str, title: str) -> SessionInfo:
        return session_of(await self.client.send("PATCH", f"/session/{session_id}", {"title": title}))

    async def fork(self, session_id: str, before: str = "") -> SessionInfo:
        body = {"messageID": before} if before else {}
        info = session_of(await self.client.send("POST", f"/session/{session_id}/fork", body))
        self._link.watch(info.id)
        return info

    async def messages(self, session_id: str) -> list[Message]:
        messages = await self.client.messages(session_id)
        self._link.telling.seen(session_id, messages)
        return [self._looks.message(one) for one in standing(messages, await self.client.session(session_id))]

    async def exported(self, session_id: str) -> Json:
        if self._ours:
            value: Json = await self.client.send("GET", f"/tw/session/{session_id}/export")
            return value
        info = await self.client.send("GET", f"/session/{session_id}")
        return {"info": info, "messages": await self.client.send("GET", f"/session/{session_id}/message")}

    async def use_of(self, session_id: str) -> SessionUse:
        return await self._last_known(f"use {session_id}", self._use_of(session_id))

    async def _use_of(self, session_id: str) -> SessionUse:
        messages, info = await self.client.messages(session_id), await self.client.session(session_id)
        models = await self._known_models()

        def limit(name: str) -> int:
            return int(models.get(name, {}).get("limit", {}).get("context") or 0)

        return used(messages, info, limit)

    async def todos(self, session_id: str) -> list[Todo]:
        asking = self.client.send("GET", f"/session/{session_id}/todo")
        todos = await self._last_known(f"todos {session_id}", asking)
        return [todo_of(number, one) for number, one in enumerate(todos)]

    async def jobs(self, session_id: str) -> list[tuple[str, str]]:
        jobs = await self.client.send("GET", f"/tw/session/{session_id}/jobs") if self._ours else []
        return [(one["name"], one["command"]) for one in jobs]

    async def background(self, session_id: str) -> list[AgentAtWork]:
        agents = await self.client.send("GET", f"/tw/session/{session_id}/agents") if self._ours else []
        return [AgentAtWork(**one) for one in agents]

    async def loops(self, session_id: str) -> list[LoopView]:
        loops = await self.client.send("GET", f"/tw/session/{session_id}/loops") if self._ours else []
        return [LoopView(**one) for one in loops]

    async def begin_loop(self, session_id: str, prompt: Prompt, plan: "LoopPlan") -> LoopView:
        if not self._ours:
            raise UsageError("This server knows no loops: it is no toolwright.")
        words = {"text": prompt.text, "agent": prompt.agent, "model": str(prompt.model), "variant": prompt.variant}
        body = words | {"until": _commands_of(prompt.until)} if prompt.until else words
        return LoopView(**await self.client.send("POST", f"/tw/session/{session_id}/loops", body | fields_of(plan)))

    async def stop_loops(self, session_id: str, name: str = "") -> list[str]:
        if not self._ours:
            raise UsageError("This server knows no loops: it is no toolwright.")
        query = f"?name={quote(name)}" if name else ""
        stopped: list[str] = await self.client.send("DELETE", f"/tw/session/{session_id}/loops{query}")
        return stopped

    # Turns.

    async def prompt(self, session_id: str, prompt: Prompt) -> TurnResult:
        if prompt.budget is not None:
            raise UsageError("A prompt to a server takes no limits: they are those of the server's settings.")
        output = prompt.output
        if output is not None and prompt.command:
            raise UsageError("A command on a server takes no form for its answer.")
        words = {"agent": prompt.agent, "model": str(prompt.model), "variant": prompt.variant, "system": prompt.system}
        chosen: Json = {name: value for name, value in words.items() if value}
        if output is None:
            chosen |= {"until": _commands_of(prompt.until)} if prompt.until else {}
            return await self._turns.prompt(session_id, prompt.text, chosen | _files(prompt), prompt.command)
        chosen["system"] = f"{prompt.system}\n\n{output.describe()}".strip()

        async def ask(repair: str) -> TurnResult:
            return await self._turns.prompt(session_id, repair, {**chosen, "tools": []})

        first = await self._turns.prompt(session_id, prompt.text, chosen | _files(prompt))
        return await answered_in_form(output, first, ask)

    async def check_goal(self, command: str) -> None:
        if not self._ours:
            raise UsageError(f"This server knows no goals such as {command!r:.60}: it is no toolwright.")

    async def evidence(self, session_id: str) -> list[str]:
        if not self._ours:
            return []
        return described(await self.client.send("GET", f"/tw/session/{session_id}/evidence"))

    async def steer(self, session_id: str, text: str) -> bool:
        if not self._ours:
            return False
        return bool((await self.client.send("POST", f"/tw/session/{session_id}/steer", {"text": text}))["heard"])

    async def abort(self, session_id: str) -> None:
        await self._turns.abort(session_id)

    async def compact(self, session_id: str, model: str = "") -> None:
        provider, _, name = (model or await self.model_of("", session_id)).partition("/")
        body = {"providerID": provider, "modelID": name}
        await self.client.send("POST", f"/session/{session_id}/summarize", body)

    # Questions.

    async def questions(self) -> list[Question]:
        open_questions = [("permission.asked", one) for one in await self.client.send("GET", "/permission")]
        open_questions += [("question.asked", one) for one in await self.client.send("GET", "/question")]
        read = (question_of({"type": kind, "properties": one}) for kind, one in open_questions)
        return [await self._with_call(one) for one in read if one is not None]

    async def _with_call(self, question: Question) -> Question:
        """The whole call, where the server says only in which message it stands."""
        if question.tool or not question.message_id:
            return question
        try:
            path = f"/session/{question.session_id}/message/{question.message_id}"
            message = message_of(await self.client.send("GET", path))
        except ServerError:
            return question
        call = next((one for one in message.calls if one.call_id == question.call_id), None)
        if call is None:
            return question
        return replace(question, tool=call.tool, arguments=call.state.input, agent=message.info.agent)

    async def reply(self, question_id: str, reply: Reply) -> None:
        question = next((one for one in await self.questions() if one.id == question_id), None)
        if question is None:
            raise UsageError(f"No question {question_id!r} is waiting; it may have been answered or its turn stopped.")
        await self.client.settle(question, reply)

    async def explained(self, question: Question) -> list[str]:
        if not self._ours:
            return [_OTHERS.format("does not say which rules it asks by")]
        explanation = await self.client.send("GET", "/tw/permission/explain", None, request=question.id)
        return _why(explanation)

    async def tried(self, question: Question, patterns: Sequence[str]) -> RuleTrial:
        if not self._ours:
            return RuleTrial(settles=False, reason="this server stores only the rules that it offers")
        body: Json = {"patterns": list(patterns)}
        trial = await self.client.send("POST", f"/tw/permission/{question.id}/try", body)
        return RuleTrial(settles=trial["settles"], reason=trial["reason"], earlier=tuple(trial["earlier"]))

    # Changes.

    async def changes(self, session_id: str) -> list[FileUndo]:
        if not self._ours:
            return await self._changed(session_id, "")
        messages = await self.client.messages(session_id)
        try:
            return await self._undone(session_id, Selection(turn=messages[0].info.id), preview=True) if messages else []
        except NothingToUndo:
            return []
        except UsageError:
            # Somebody has changed a file since: nothing can be undone, and all can be shown.
            return await self._changed(session_id, "")

    async def undo(self, session_id: str, selection: Selection, *, preview: bool = False) -> list[FileUndo]:
        if self._ours:
            return await self._undone(session_id, selection, preview=preview)
        if not selection.empty:
            raise UsageError(_OTHERS.format("undoes whole turns and nothing less"))
        turn = last_turn(await self.messages(session_id)).id
        plans = await self._changed(session_id, turn)
        if not preview:
            await self.client.revert(session_id, turn)
        return plans

    async def redo(self, session_id: str) -> list[FileUndo]:
        if self._ours:
            answer = await self.client.send("POST", f"/tw/session/{session_id}/unrevert", {"contents": True})
            return [undo_of(one) for one in answer["files"]]
        if (await self.client.session(session_id)).revert is None:
            raise UsageError("Nothing was undone in this session.")
        await self.client.unrevert(session_id)
        return []

    async def _undone(self, session_id: str, selection: Selection, *, preview: bool) -> list[FileUndo]:
        body: Json = {"turn": selection.turn, "call": selection.call, "file": selection.file, "preview": preview}
        body |= {"hunks": list(selection.hunks), "contents": True}
        try:
            answer = await self.client.send("POST", f"/tw/session/{session_id}/revert", body)
        except ServerError as error:
            raise NothingToUndo(str(error)) if error.name == NothingToUndo.__name__ else error from error
        return [undo_of(one) for one in answer["files"]]

    async def _changed(self, session_id: str, turn: str) -> list[FileUndo]:
        return [undo_of_change(one, str(self.directory)) for one in await self.client.diff(session_id, turn)]

    # What there is.

    async def agents(self) -> list[Agent]:
        return [one for one in await self._agents() if one.mode != "subagent"]

    async def mentionable(self) -> list[str]:
        return [one.name for one in await self._agents() if one.mode != "primary"]

    async def _agents(self) -> list[Agent]:
        agents = [agent_of(one) for one in await self.client.send("GET", "/agent")]
        return [one for one in agents if not one.hidden]

    async def models(self) -> list[str]:
        return list(await self._known_models())

    async def model_choices(self) -> list[ModelChoice]:
        answer = await self.client.send("GET", "/provider")
        ready = set(answer.get("connected", ()))
        models = [(one["id"], name, model) for one in answer["all"] for name, model in one["models"].items()]
        return [_choice(f"{provider}/{name}", model, provider in ready) for provider, name, model in models]

    async def recent_models(self) -> list[str]:
        return []

    async def remember_model(self, name: str) -> None:
        """Do nothing: chosen models are remembered by the server's user."""

    async def providers(self) -> list[ProviderChoice]:
        answer = await self.client.send("GET", "/provider")
        ready = set(answer.get("connected", ()))
        return [ProviderChoice(id=one["id"], name=one["name"], ready=one["id"] in ready) for one in answer["all"]]

    async def store_key(self, provider: str, key: str) -> None:
        from toolwright.config.auth import checked_key

        await self.client.send("PUT", f"/auth/{provider}", {"type": "api", "key": checked_key(key)})
        self._models = None

    async def log_in(self, provider: str, show: Callable[[str], None]) -> None:
        ways = (await self.client.send("GET", "/provider/auth")).get(provider.partition(ACCOUNT)[0], [])
        way = next((at for at, one in enumerate(ways) if one["type"] == "oauth"), None)
        if way is None:
            raise UsageError(f"There is no login to {provider}; store a key instead.")
        begun = await self.client.send("POST", f"/provider/{provider}/oauth/authorize", {"method": way})
        if begun is not None:
            show(begun["instructions"] or begun["url"])
            await self.client.send("POST", f"/provider/{provider}/oauth/callback", {"method": way})

    async def _known_models(self) -> dict[str, Json]:
        """The models by their full names. Read once: the list is long, and changes when a server is set up anew."""
        if self._models is None:
            answer = await self.client.send("GET", "/provider")
            every = ((one["id"], name, model) for one in answer["all"] for name, model in one["models"].items())
            self._models = {f"{provider}/{name}": model for provider, name, model in every}
        return self._models

    async def variants(self, model: str) -> list[str]:
        return list((await self._known_models()).get(model, {}).get("variants") or ())

    async def files(self, words: str) -> list[str]:
        paths: list[str] = await self.client.send("GET", "/find/file", None, query=words, dirs="false")
        return paths

    async def usable_models(self) -> UsableModels:
        answer = await self.client.send("GET", "/config/providers")
        return UsableModels(keys=tuple(f"{provider}/{model}" for provider, model in answer["default"].items()))

    async def model_of(self, agent: str, session_id: str = "") -> str:
        return await self._last_known(f"model {agent} {session_id}", self._model_of(agent, session_id))

    async def _model_of(self, agent: str, session_id: str) -> str:
        named = next((one for one in await self._agents() if one.name == agent), None)
        if named is not None and named.model:
            return named.model
        messages = await self.client.messages(session_id) if session_id else []
        last = next((one.info for one in reversed(messages) if isinstance(one.info, User)), None)
        if last is not None and (used := str(last.model)):
            return used
        chosen: str = (await self.client.send("GET", "/config")).get("model", "")
        return chosen or next(iter((await self.usable_models()).keys if not self._ours else ()), "")

    async def _last_known(self, what: str, asking: Coroutine[Any, Any, T]) -> T:
        """Return what was last known while the server does not answer: edges of a screen keep what they show."""
        try:
            self._known[what] = answer = await asking
        except ServerGone:
            if what not in self._known:
                raise
            answer = self._known[what]
        return answer

    async def commands(self) -> list[Command]:
        return [command_of(one) for one in await self.client.send("GET", "/command")]

    async def tools(self, agent: str) -> list[tuple[str, str]]:
        provider, _, name = (await self.model_of(agent)).partition("/")
        query = {"provider": provider, "model": name, "agent": agent}
        tools = await self.client.send("GET", "/experimental/tool", None, **query)
        return [(one["id"], first_sentence(one["description"])) for one in tools]

    async def approvals(self) -> list[tuple[str, str, str]]:
        approvals = await self.client.send("GET", "/tw/approvals") if self._ours else []
        return [(one["scope"], one["permission"], one["pattern"]) for one in approvals]

    async def explain(self, tool: str, argument: str, agent: str) -> list[str]:
        if not self._ours:
            return [_OTHERS.format("does not say what a call would need")]
        query = {"tool": tool, "argument": argument, "agent": agent}
        explanation = await self.client.send("GET", "/tw/permission/explain", None, **query)
        return _why(explanation) or [f"{tool} needs no permission for this."]

    async def programs(self) -> list[tuple[str, str, str]]:
        servers = await self.client.send("GET", "/mcp")
        programs = [("MCP", name, str(one.get("error") or one.get("status"))) for name, one in servers.items()]
        programs += (("LSP", one["name"], one["status"]) for one in await self.client.send("GET", "/lsp"))
        for formatter in await self.client.send("GET", "/formatter"):
            programs.append(("formatter", formatter["name"], "on" if formatter.get("enabled") else "off"))
        return programs


def _choice(name: str, model: Json, ready: bool) -> ModelChoice:
    cost, limit = model.get("cost") or {}, model.get("limit") or {}
    able = {
        "reasoning": model.get("reasoning"),
        "images": model.get("attachment"),
        "no tools": not model.get("tool_call"),
    }
    return ModelChoice(
        full_name=name,
        name=str(model.get("name", "")),
        context=int(limit.get("context") or 0),
        input_price=float(cost.get("input") or 0),
        output_price=float(cost.get("output") or 0),
        can=tuple(one for one, can in able.items() if can),
        ready=ready,
    )


def _files(prompt: Prompt) -> Json:
    """Return the attached files in a form for a server that cannot see our files."""
    urls = [one.url for one in prompt.files]
    return {"files": [data_url(Path(unquote(urlsplit(one).path))) if one.startswith("file:") else one for one in urls]}


def _commands_of(goal: Goal) -> str:
    """The one command that must hold, as a server takes it."""
    command = goal.conditions[0].command
    if goal != goal_of(command or None):
        raise UsageError("A server takes one command as the goal of a prompt, and nothing besides.")
    return command


def _why(explanation: Json) -> list[str]:
    return [line for one in explanation["requests"] for line in one["why"]]
