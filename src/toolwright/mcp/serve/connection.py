"""One client of ours: its requests answered, in whichever family it speaks."""

import asyncio
import json
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import field
from typing import Any

from toolwright.deadline import time_limit
from toolwright.mcp.client.link import keep
from toolwright.mcp.protocol import (
    COMPLETE,
    HANDSHAKE,
    INPUT_REQUIRED,
    META_CAPABILITIES,
    META_SERVER,
    META_VERSION,
    STATELESS,
    VERSION_UNSUPPORTED,
    meta_of,
    object_of,
    ourselves,
    text_of,
)
from toolwright.mcp.serve.prompts import completions, prompt_of, prompts_of
from toolwright.mcp.serve.resources import Offered
from toolwright.mcp.serve.roots import roots_in, rules_within
from toolwright.mcp.serve.service import INSTRUCTIONS, Ask, Service, Tell, ToolCaller
from toolwright.protocols.json_types import Json
from toolwright.protocols.jsonrpc import INVALID_PARAMS, METHOD_NOT_FOUND, RpcClosed, RpcError
from toolwright.record import record
from toolwright.session.session import Session
from toolwright.text.ids import new_id

PATIENCE = 600.0
"""Seconds that a call waits for the answer to what it has asked, where no connection holds it."""
ROOTS = 10.0
"""Seconds for a client to say which folders it has opened."""
LOGGED = ("debug", "info")
"""Levels at which a client wants to know what a call says of itself."""

Request = Callable[[str, Json], Awaitable[Any]]
"""Asks the client something, in the older family."""
Notify = Callable[[str, Json], Awaitable[None]]


async def _unheard(_: str, __: Json) -> None:
    """For a client that is not told of anything between its requests."""


@record(slots=True, kw_only=True)
class PendingCall:
    """A call that has asked something in the newer family, and waits for the request to come again."""

    params: str
    """The call as it was, which must be the same when it comes again."""
    work: "asyncio.Task[Json]"
    questions: "asyncio.Queue[tuple[Json, asyncio.Future[Json]]]"
    answered: "asyncio.Future[Json]"


@record(slots=True, kw_only=True)
class ServedClient:
    """The state of one client: its session, what it can do, and the calls that wait for it."""

    service: Service
    session: Session
    capabilities: Json = field(default_factory=dict[str, Any])
    push: Notify = _unheard
    """Tells the client something that belongs to no request."""
    _logs: bool = False
    _offered: Offered = field(init=False)
    _rooted: bool = False
    """True once the folders that the client has opened are known."""
    _waiting: dict[str, PendingCall] = field(default_factory=dict[str, PendingCall])
    _tasks: "set[asyncio.Task[Any]]" = field(default_factory=set)

    def __post_init__(self) -> None:
        self._offered = Offered(resources=self.service.resources())

    async def answer(self, method: str, params: Any, request: Request | None, notify: Notify) -> Json:
        """The result of a request, or RpcError. `request` is the way to ask the client, in the older family."""
        meta = meta_of(params)
        values = object_of(params)
        if META_VERSION in meta:
            return await self._answer_stateless(method, values, notify)
        match method:
            case "initialize":
                return self._introduce(values)
            case "ping":
                return {}
            case "logging/setLevel":
                self._logs = values.get("level") in LOGGED
                return {}
            case "tools/call":
                await self._keep_within_roots(request)
                tell = _teller(meta.get("progressToken"), notify)
                log = _logger(text_of(values.get("name")), notify) if self._logs else None
                return await self.service.call(self.session, values, self._asker(request), tell, log)
            case "resources/subscribe" if self._offered.resources:
                self._offered.follow(text_of(values.get("uri")), self._tell_changed)
                return {}
            case "resources/unsubscribe" if self._offered.resources:
                self._offered.leave(text_of(values.get("uri")))
                return {}
            case _:
                await self._keep_within_roots(request)
                return await self._looked_up(method, values, self._asker(request))

    async def _looked_up(self, method: str, values: Json, ask: Ask | None) -> Json:
        """The result of a request that both families have and that calls no tool."""
        if method == "tools/list":
            return {"tools": await self.service.tools(self.session)}
        # Where only some tools are offered, nothing else is.
        match method if not self.service.only else "":
            case "prompts/list":
                return {"prompts": prompts_of(self.service.workspace)}
            case "prompts/get":
                with self.service.answers.calling(new_id("call"), ToolCaller(session_id=self.session.id, ask=ask)):
                    return await prompt_of(self.service.workspace, self.session, values)
            case "completion/complete":
                return await completions(self.service.workspace, self.session, values)
            case "resources/list" if self._offered.resources:
                return {"resources": self._offered.listed()}
            case "resources/templates/list" if self._offered.resources:
                return {"resourceTemplates": self._offered.templates()}
            case "resources/read" if self._offered.resources:
                return await self._offered.read(text_of(values.get("uri")))
            case _:
                raise _unknown(method)

    def _able(self, *, older: bool) -> Json:
        """Return our capabilities, as the protocol lists them."""
        if self.service.only:
            return {"tools": {}}
        able: Json = {"tools": {}, "prompts": {}, "completions": {}} | ({"logging": {}} if older else {})
        return able | ({"resources": {"subscribe": True} if older else {}} if self._offered.resources else {})

    def _tell_changed(self, uri: str) -> None:
        keep(asyncio.ensure_future(self.push("notifications/resources/updated", {"uri": uri})), self._tasks)

    async def close(self) -> None:
        self._offered.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self.session.close()

    # The older family.

    def _introduce(self, params: Json) -> Json:
        wanted = text_of(params.get("protocolVersion"))
        self.capabilities = object_of(params.get("capabilities"))
        return {
            "protocolVersion": wanted if wanted in HANDSHAKE else HANDSHAKE[0],
            "capabilities": self._able(older=True),
            "serverInfo": ourselves(),
            "instructions": INSTRUCTIONS,
        }

    def notified(self, method: str, _: Any) -> None:
        if method == "notifications/roots/list_changed":
            self._rooted = False

    async def _keep_within_roots(self, request: Request | None) -> None:
        """Ask which folders the client has opened, if it can say, and stay within those that are part of ours."""
        if self._rooted or request is None or not isinstance(self.capabilities.get("roots"), dict):
            return
        self._rooted = True
        try:
            async with time_limit(ROOTS):
                roots = roots_in(await request("roots/list", {}))
        except (TimeoutError, RpcError, RpcClosed):
            return
        self.session.take_rules(rules_within(roots, self.service.workspace.directory))

    def _asker(self, request: Request | None) -> Ask | None:
        if request is None or not _can_ask(self.capabilities):
            return None

        async def ask(form: Json) -> Json:
            try:
                return object_of(await request("elicitation/create", form))
            except (RpcError, RpcClosed):
                return {"action": "cancel"}

        return ask

    # The newer family.

    async def _answer_stateless(self, method: str, params: Json, notify: Notify) -> Json:
        meta = meta_of(params)
        if meta.get(META_VERSION) != STATELESS:
            data = {"supported": [STATELESS], "requested": meta.get(META_VERSION)}
            raise RpcError("That version is not spoken here.", VERSION_UNSUPPORTED, data)
        fresh = {"ttlMs": 0, "cacheScope": "private"}
        match method:
            case "server/discover":
                return _whole({"supportedVersions": [STATELESS], "capabilities": self._able(older=False)} | fresh) | {
                    "instructions": INSTRUCTIONS
                }
            case "tools/call":
                return await self._call_in_rounds(params, meta, notify)
            case _:
                lists = method.endswith("/list") or method == "resources/read"
                return _whole(await self._looked_up(method, params, None) | (fresh if lists else {}))

    async def _call_in_rounds(self, params: Json, meta: Any, notify: Notify) -> Json:
        """Run a call until it is done or asks something; then it waits until the request comes again."""
        state = params.get("requestState")
        waiting = self._begun(params, meta, notify) if state is None else self._resumed(params, state)
        asked = asyncio.ensure_future(waiting.questions.get())
        work: list[asyncio.Future[Any]] = [waiting.work, asked]
        try:
            await asyncio.wait(work, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            waiting.work.cancel()
            raise
        finally:
            if not asked.done():
                asked.cancel()
        if not asked.done() or asked.cancelled():
            return _whole(await waiting.work)
        form, waiting.answered = asked.result()
        return self._put_aside(waiting, form)

    def _begun(self, params: Json, meta: Any, notify: Notify) -> PendingCall:
        questions: asyncio.Queue[tuple[Json, asyncio.Future[Json]]] = asyncio.Queue()
        loop = asyncio.get_running_loop()

        async def ask(form: Json) -> Json:
            answered: asyncio.Future[Json] = loop.create_future()
            questions.put_nowait((form, answered))
            try:
                async with time_limit(PATIENCE):
                    return await answered
            except TimeoutError:
                return {"action": "cancel"}

        able = _can_ask(object_of(meta.get(META_CAPABILITIES)))
        tell = _teller(meta.get("progressToken"), notify)
        work = asyncio.create_task(self.service.call(self.session, params, ask if able else None, tell))
        keep(work, self._tasks)
        return PendingCall(params=_mark(params), work=work, questions=questions, answered=loop.create_future())

    def _put_aside(self, waiting: PendingCall, form: Json) -> Json:
        state = secrets.token_urlsafe(24)
        self._waiting[state] = waiting
        waiting.work.add_done_callback(lambda _: self._waiting.pop(state, None))
        asked = {"answer": {"method": "elicitation/create", "params": form}}
        return {"resultType": INPUT_REQUIRED, "inputRequests": asked, "requestState": state}

    def _resumed(self, params: Json, state: Any) -> PendingCall:
        waiting = self._waiting.get(state) if isinstance(state, str) else None
        if waiting is None or waiting.params != _mark(params):
            raise RpcError("No call waits for that answer any more. Make the call anew.", INVALID_PARAMS)
        del self._waiting[state]
        if not waiting.answered.done():
            waiting.answered.set_result(object_of(object_of(params.get("inputResponses")).get("answer")))
        return waiting


def _can_ask(capabilities: Json) -> bool:
    """Tell whether the client can show a form; one that says no more than that it can ask can."""
    elicitation = capabilities.get("elicitation")
    return isinstance(elicitation, dict) and (not elicitation or "form" in elicitation)


def _teller(token: Any, notify: Notify) -> Tell | None:
    if not isinstance(token, str | int):
        return None

    async def tell(progress: Json) -> None:
        await notify("notifications/progress", {"progressToken": token, **progress})

    return tell


def _logger(tool: str, notify: Notify) -> Tell:
    async def log(data: Json) -> None:
        await notify("notifications/message", {"level": "info", "logger": tool, **data})

    return log


def _whole(result: Json) -> Json:
    meta = object_of(result.get("_meta")) | {META_SERVER: ourselves()}
    return result | {"resultType": COMPLETE, "_meta": meta}


def _mark(params: Json) -> str:
    return json.dumps([params.get("name"), params.get("arguments")], sort_keys=True)


def _unknown(method: str) -> RpcError:
    return RpcError(f"There is no method {method!r}.", METHOD_NOT_FOUND)
