"""A host: a program of ours in which other people's tools and plugins run, spoken to in JSON lines."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from toolwright.calls.request import Request
from toolwright.deadline import Deadline, time_limit, to_the_end
from toolwright.definition import Attachment, Result, ToolContext
from toolwright.errors import CallChanged, Kind, ToolError
from toolwright.extension import CALLING, STARTING
from toolwright.process.programs.rpc_program import Speech, SpokenProgram
from toolwright.process.running.scope import Scopes
from toolwright.protocols.json_types import Json
from toolwright.protocols.jsonrpc import Dialect, RpcClosed, RpcError
from toolwright.record import record

if TYPE_CHECKING:
    from toolwright.extensions.home import Requests

HOST = Dialect(framing="lines", cancel="cancel", cancel_key="id")
ASIDE = 'exec 3>&1 1>&2 4<&0 0</dev/null; exec "$@"'
"""Our pipes on descriptors 3 and 4, so that what a tool prints or reads is no part of the conversation."""
FAREWELL = 0.5
"""Seconds a stopped call has to notice that it was stopped."""
TURN = 2.0
"""Seconds after which a file that is still being loaded goes on in a program of its own, and the next has its turn."""
_KINDS = frozenset(get_args(Kind))


class HostFailure(ToolError):
    """A request to a host failed there, or the host has ended."""


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
    """Returns what answers a plugin's client, None if nothing does."""
    keep_login: "Callable[[Json], Json] | None" = None
    """Stores a login that a plugin has renewed."""
    project: Callable[[], Json] = dict[str, Any]
    """The project, and which code of it may run, told before anything is loaded."""
    refused: Callable[[str], None] = lambda _file: None
    """Told of code of the project that was not run."""
    _link: "HostRun | None" = None
    _preparing: "asyncio.Task[Sequence[str]] | None" = None
    _starting: asyncio.Lock = field(default_factory=asyncio.Lock)
    _loading: asyncio.Lock = field(default_factory=asyncio.Lock)
    _retired: "set[HostRun]" = field(default_factory=set)
    _calls: "dict[str, _Call]" = field(default_factory=dict)

    async def load(self, path: str) -> Any:
        """Load a file and say what it brings. HostFailure if it cannot be loaded, or not in time."""
        # What it needs is installed first, within a limit of its own.
        await self._linked()
        # One after the other, for one that does not come to its end holds up all that are in its program.
        async with self._loading:
            work = asyncio.ensure_future(self._loaded(path))
            try:
                await asyncio.wait([work], timeout=TURN)
                if not work.done():
                    self.retire()
            except asyncio.CancelledError:
                work.cancel()
                raise
        return await work

    async def _loaded(self, path: str) -> Any:
        link = await self._linked()
        try:
            async with time_limit(STARTING):
                content = await self._ask(link, "load", {"path": path})
        except TimeoutError:
            raise HostFailure(f"it was not loaded within {STARTING:g} seconds", "timeout") from None
        link.loaded.add(path)
        return content

    def has_loaded(self, path: str) -> bool:
        return self._link is not None and path in self._link.loaded

    @property
    def is_preparing(self) -> bool:
        """True while what it needs is being made."""
        return self._preparing is not None

    async def request(self, method: str, params: Json) -> Any:
        """The answer of the host. HostFailure if it has none."""
        return await self._ask(await self._linked(), method, params)

    async def _ask(self, link: "HostRun", method: str, params: Json) -> Any:
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
            await to_the_end(self._drop_if_deaf(link))
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
        request = {"path": path, "name": name, "arguments": arguments, "context": context}
        try:
            async with time_limit(CALLING) as limit:
                call = self._calls[ctx.call_id] = _Call(ctx, limit)
                return result_of(await self.request("call", request))
        except HostFailure:
            if call.changes:
                raise call.changes[0] from None
            raise
        except TimeoutError:
            raise HostFailure(f"{name} took longer than {CALLING / 60:g} minutes and was stopped.", "timeout") from None
        finally:
            self._calls.pop(ctx.call_id, None)

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
        if self._preparing is not None:
            self._preparing.cancel()
            await asyncio.wait([self._preparing])
        await asyncio.gather(*(link.close() for link in links))

    async def _linked(self) -> "HostRun":
        async with self._starting:
            for idle in [link for link in self._retired if not link.busy]:
                self._retired.discard(idle)
                await idle.close()
            if self._link is not None and self._link.peer.ended.is_set():
                await self._link.close()
                self._link = None
            link = self._link
            if link is None:
                argv = await self._command()
                started = ["/bin/sh", "-c", ASIDE, self.name, *argv]
                link = self._link = await HostRun.start(self.scopes(), started, self.cwd, self.env, self)
                # While it is introduced it may be retired, and is then whose call this is all the same.
                await self._introduce(link)
            return link

    async def _command(self) -> Sequence[str]:
        """Return what to start. The making of what it needs goes on although its caller waits no longer."""
        if self.prepare is None:
            return self.argv
        if self._preparing is None:
            self._preparing = asyncio.ensure_future(self._prepared(self.prepare))
            # Whoever wanted it may have gone when it fails.
            self._preparing.add_done_callback(lambda task: task.cancelled() or task.exception())
        return await asyncio.shield(self._preparing)

    async def _prepared(self, prepare: Callable[[], Awaitable[Sequence[str]]]) -> Sequence[str]:
        try:
            return await prepare()
        finally:
            self._preparing = None

    async def _introduce(self, link: "HostRun") -> None:
        project = self.project()
        if not project:
            return
        try:
            async with time_limit(STARTING):
                await link.peer.request("project", project)
        except TimeoutError:
            self._link = None
            await link.close()
            raise HostFailure(f"it did not start within {STARTING:g} seconds", "timeout") from None
        except (RpcError, RpcClosed) as error:
            self._link = None
            words = await link.last_words() if isinstance(error, RpcClosed) else str(error)
            await link.close()
            raise HostFailure(words) from error

    async def _drop_if_deaf(self, link: "HostRun") -> None:
        """A call that was stopped and does not heed it would go on unseen: end the program in which it runs."""
        if link.busy > 1 or link.peer.ended.is_set():
            return
        try:
            async with time_limit(FAREWELL):
                await link.peer.request("idle")
        except (TimeoutError, RpcClosed, RpcError):
            if self._link is link:
                self._link = None
            await link.close()

    # What the host asks of us.

    async def answer(self, method: str, params: Any) -> Any:
        if method == "client":
            return await self._answer_client(params)
        call = self._calls.get(params.get("call", ""))
        if call is None:
            raise RpcError("That call is over.", data={"kind": "aborted"})
        try:
            with call.untimed():
                if method == "ask":
                    await call.ctx.ask_all(_request(params))
                    return None
                result = await call.ctx.call(str(params.get("tool")), params.get("arguments") or {})
        except ToolError as error:
            if isinstance(error, CallChanged):
                call.changes.append(error)
            raise RpcError(str(error), data={"kind": error.kind}) from error
        failed = result.error.kind if result.error else None
        return {"title": result.title, "output": result.output, "metadata": result.metadata, "error": failed}

    async def _answer_client(self, params: Json) -> Json:
        if params.get("name") == "auth.set" and self.keep_login is not None:
            return self.keep_login(params)
        requests = self.requests()
        if requests is None:
            raise RpcError("A plugin's client cannot be used here: the workspace was opened without a server.")
        try:
            return await requests(str(params.get("name")), params)
        except ToolError as error:
            raise RpcError(str(error), data={"kind": error.kind}) from error

    def notified(self, method: str, params: Any) -> None:
        if method == "refused" and isinstance(params, dict):
            self.refused(str(params.get("file")))
        call = self._calls.get(params.get("call", "")) if isinstance(params, dict) else None
        if method == "metadata" and call is not None:
            title, metadata = params.get("title"), params.get("metadata")
            call.ctx.metadata(str(title) if title else None, metadata if isinstance(metadata, dict) else {})


@record(frozen=True, slots=True)
class _Call:
    """A call under way, and the time it has."""

    ctx: ToolContext
    limit: Deadline
    changes: list[CallChanged] = field(default_factory=list[CallChanged])
    """The arguments with which a person wants it made instead."""

    @contextmanager
    def untimed(self) -> Iterator[None]:
        """Do inside what others do for the call: its time begins anew afterwards."""
        self.limit.move(None)
        try:
            yield
        finally:
            self.limit.move(asyncio.get_running_loop().time() + CALLING)


class HostRun:
    """One run of a host's program."""

    def __init__(self, program: SpokenProgram) -> None:
        self.peer = program.peer
        self.busy = 0
        self.loaded = set[str]()
        """The files that it has loaded."""
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
        last = f": {line}" if how and (line := self._program.last_line()) else ""
        return f"The program that runs it {how or 'closed the connection'}{last}."

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


def _attachment(entry: Json) -> Attachment:
    name = entry.get("filename")
    return Attachment(
        mime=str(entry.get("mime") or "application/octet-stream"),
        url=str(entry["url"]),
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
