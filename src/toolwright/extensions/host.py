"""A host: a program of ours in which other people's tools and plugins run, spoken to in JSON lines."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from toolwright.definition import Attachment, Result, ToolContext
from toolwright.errors import Kind, ToolError
from toolwright.jsontypes import Json
from toolwright.process.scope import Scopes
from toolwright.process.spoken import Speech, SpokenProgram
from toolwright.record import record
from toolwright.request import Request
from toolwright.rpc import Dialect, RpcClosed, RpcError

if TYPE_CHECKING:
    from toolwright.extensions.home import Requests

HOST = Dialect(framing="lines", cancel="cancel", cancel_key="id")
ASIDE = 'exec 3>&1 1>&2 4<&0 0</dev/null; exec "$@"'
"""Our pipes on descriptors 3 and 4, so that what a tool prints or reads is no part of the conversation."""
FAREWELL = 0.5
"""Seconds a stopped call has to notice that it was stopped."""
_KINDS = frozenset(get_args(Kind))


class HostFailure(ToolError):
    """What was asked of a host failed there, or the host is gone."""


@record(slots=True, kw_only=True, eq=False)
class Host:
    """One program for all files that share an environment. Started when it is first needed, and again if it dies."""

    name: str
    argv: Sequence[str]
    scopes: Callable[[], Scopes]
    cwd: Path
    env: Mapping[str, str]
    prepare: "Callable[[], Awaitable[Sequence[str]]] | None" = None
    """Makes what it needs before its first start, and says what to start; in place of `argv`."""
    requests: "Callable[[], Requests | None]" = lambda: None
    """What answers a plugin's client, if anything does."""
    _link: "HostRun | None" = None
    _starting: asyncio.Lock = field(default_factory=asyncio.Lock)
    _retired: "set[HostRun]" = field(default_factory=set)
    _contexts: dict[str, ToolContext] = field(default_factory=dict[str, ToolContext])

    async def request(self, method: str, params: Json) -> Any:
        """The answer of the host. HostFailure if it has none."""
        link = await self._linked()
        link.busy += 1
        try:
            return await link.peer.request(method, params)
        except RpcError as error:
            data = error.data if isinstance(error.data, dict) else {}
            kind: Any = data.get("kind") if data.get("kind") in _KINDS else "crash"
            raise HostFailure(str(error) or "It failed without saying why.", kind) from error
        except RpcClosed as error:
            raise HostFailure(await link.last_words()) from error
        except asyncio.CancelledError:
            await self._drop_if_deaf(link)
            raise
        finally:
            link.busy -= 1
            if link in self._retired and not link.busy:
                self._retired.discard(link)
                await link.close()

    async def call(self, path: str, name: str, arguments: Json, ctx: ToolContext, worktree: Path) -> Result:
        """Run a tool there; it asks, tells how it gets on and is stopped as if it ran here."""
        context = {
            "sessionID": ctx.session_id,
            "messageID": ctx.message_id,
            "callID": ctx.call_id,
            "agent": ctx.agent,
            "directory": str(ctx.directory),
            "worktree": str(worktree),
        }
        self._contexts[ctx.call_id] = ctx
        try:
            answer = await self.request(
                "call", {"path": path, "name": name, "arguments": arguments, "context": context}
            )
        finally:
            del self._contexts[ctx.call_id]
        return result_of(answer)

    @property
    def is_running(self) -> bool:
        return self._link is not None and not self._link.peer.ended.is_set()

    def retire(self) -> None:
        """Let calls under way end where they are; the next request starts the program anew."""
        if self._link is not None:
            self._retired.add(self._link)
            self._link = None

    async def close(self) -> None:
        links = [*self._retired, *([self._link] if self._link else [])]
        self._retired.clear()
        self._link = None
        await asyncio.gather(*(link.close() for link in links))

    async def _linked(self) -> "HostRun":
        async with self._starting:
            for idle in [link for link in self._retired if not link.busy]:
                self._retired.discard(idle)
                await idle.close()
            if self._link is not None and self._link.peer.ended.is_set():
                await self._link.close()
                self._link = None
            if self._link is None:
                argv = await self.prepare() if self.prepare is not None else self.argv
                self._link = await HostRun.start(
                    self.scopes(), ["/bin/sh", "-c", ASIDE, self.name, *argv], self.cwd, self.env, self
                )
            return self._link

    async def _drop_if_deaf(self, link: "HostRun") -> None:
        """A call that was stopped and does not heed it would go on unseen: end the program in which it runs."""
        if link.busy > 1 or link.peer.ended.is_set():
            return
        try:
            async with asyncio.timeout(FAREWELL):
                await link.peer.request("idle")
        except (TimeoutError, RpcClosed, RpcError):
            if self._link is link:
                self._link = None
            await link.close()

    # What the host asks of us.

    async def answer(self, method: str, params: Any) -> Any:
        if method == "client":
            return await self._answer_client(params)
        ctx = self._contexts.get(params.get("call", ""))
        if ctx is None:
            raise RpcError("That call is over.", data={"kind": "aborted"})
        try:
            if method == "ask":
                await ctx.ask_all(_request(params))
                return None
            result = await ctx.call(str(params.get("tool")), params.get("arguments") or {})
        except ToolError as error:
            raise RpcError(str(error), data={"kind": error.kind}) from error
        failed = result.error.kind if result.error else None
        return {"title": result.title, "output": result.output, "metadata": result.metadata, "error": failed}

    async def _answer_client(self, params: Json) -> Json:
        requests = self.requests()
        if requests is None:
            raise RpcError("A plugin's client cannot be used here: the workspace was opened without a server.")
        try:
            return await requests(str(params.get("name")), params)
        except ToolError as error:
            raise RpcError(str(error), data={"kind": error.kind}) from error

    def notified(self, method: str, params: Any) -> None:
        ctx = self._contexts.get(params.get("call", "")) if isinstance(params, dict) else None
        if method == "metadata" and ctx is not None:
            title, metadata = params.get("title"), params.get("metadata")
            ctx.metadata(str(title) if title else None, metadata if isinstance(metadata, dict) else {})


class HostRun:
    """One run of a host's program."""

    def __init__(self, program: SpokenProgram) -> None:
        self.peer = program.peer
        self.busy = 0
        self._program = program

    @classmethod
    async def start(
        cls, scopes: Scopes, argv: Sequence[str], cwd: Path, env: Mapping[str, str], host: Host
    ) -> "HostRun":
        speech = Speech(dialect=HOST, answer=host.answer, notified=host.notified)
        return cls(await SpokenProgram.start(scopes, argv, cwd=cwd, env=env, speech=speech))

    async def last_words(self) -> str:
        """Why no answer came, in one sentence."""
        how = await self._program.how_it_ended()
        said = f": {line}" if how and (line := self._program.last_line()) else ""
        return f"The program that runs it {how or 'closed the connection'}{said}."

    async def close(self) -> None:
        await self._program.close()


def result_of(answer: Any) -> Result:
    """A result as a host tells it."""
    if not isinstance(answer, dict) or not isinstance(answer.get("output"), str):
        raise HostFailure(f"It returned {answer!r:.80}, which is no result.")
    metadata, files = answer.get("metadata"), answer.get("attachments")
    return Result(
        answer["output"],
        title=str(answer.get("title") or ""),
        metadata=metadata if isinstance(metadata, dict) else {},
        attachments=tuple(_attachment(one) for one in files or () if isinstance(one, dict) and one.get("url")),
        truncated=True if answer.get("truncated") is True else None,
    )


def _attachment(said: Json) -> Attachment:
    name = said.get("filename")
    return Attachment(
        mime=str(said.get("mime") or "application/octet-stream"),
        url=str(said["url"]),
        filename=str(name) if name else None,
    )


def _request(params: Json) -> Request:
    permission, patterns, always = params.get("permission"), params.get("patterns"), params.get("always")
    if not isinstance(permission, str) or not permission:
        raise ToolError("ask needs a permission, as in {permission: 'deploy', patterns: ['staging']}.", "schema")
    metadata = params.get("metadata")
    return Request(
        permission=permission,
        patterns=tuple(map(str, patterns)) if isinstance(patterns, list) and patterns else ("*",),
        always=tuple(map(str, always)) if isinstance(always, list) else (),
        metadata=metadata if isinstance(metadata, dict) else {},
    )
