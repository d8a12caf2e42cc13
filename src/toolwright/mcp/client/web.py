"""A server that is reached over HTTP: each message a request of its own, the answers as JSON or as events.

The peer speaks into one end of a socket pair. What it says is taken from the other end and posted, and what the server
answers is put back, so that matching, cancelling and closing are the same as for a program.
"""

import asyncio
import json
import logging
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import urljoin, urlsplit

from toolwright.deadline import time_limit
from toolwright.mcp.client.challenges import missing_scope
from toolwright.mcp.client.ends import LinkPipes
from toolwright.mcp.client.link import LARGEST, Handlers, keep
from toolwright.mcp.client.streams import FRUITLESS, StreamPosition, messages, parsed
from toolwright.mcp.protocol import NAMED, header_value, object_of
from toolwright.protocols.json_types import Json
from toolwright.protocols.jsonrpc import INTERNAL_ERROR, MCP, RpcClosed

if TYPE_CHECKING:
    import httpx2

log = logging.getLogger(__name__)

EXCERPT = 300
"""Characters shown of an answer that is no message."""
TAKEN_UP = 1000
"""Times that the stream of one answer is asked for again in all."""
REDIRECTS = (307, 308)
EVENTS = "text/event-stream"


class Authority(Protocol):
    """Source of the token for a server."""

    async def token(self) -> str: ...
    async def refused(self) -> bool:
        """Told that the token was not accepted; whether it is worth trying again."""
        ...


class WebLink:
    """The way to one address."""

    def __init__(self, url: str, client: "httpx2.AsyncClient", ends: LinkPipes, authority: Authority | None) -> None:
        self.peer = ends.peer
        self.stateless = False
        self.version = ""
        self.status = 0
        """Status of the last HTTP error."""
        self._url = url
        self._client = client
        self._ends = ends
        self._authority = authority
        self._session = ""
        self._events_only = False
        """True if answers come on one stream of events, as in the oldest version."""
        self._posting: dict[Any, asyncio.Task[None]] = {}
        self._tasks = set[asyncio.Task[None]]()
        keep(asyncio.create_task(self._pump()), self._tasks)

    @classmethod
    async def open(
        cls, url: str, headers: Mapping[str, str], handlers: Handlers, authority: Authority | None = None
    ) -> "WebLink":
        import httpx2

        local = urlsplit(url).hostname in ("localhost", "127.0.0.1", "::1")
        client = httpx2.AsyncClient(
            headers={"user-agent": "toolwright", **headers},
            timeout=httpx2.Timeout(None, connect=30.0),
            verify=url.startswith("https:"),
            trust_env=not local,
        )
        return cls(url, client, await LinkPipes.open(handlers), authority)

    def stderr_tail(self) -> str:
        return ""

    async def listen(self) -> None:
        """Hold the stream open on which a server of the older family says things by itself."""
        if not self.stateless and not self._events_only:
            keep(asyncio.create_task(self._follow()), self._tasks)

    async def use_events(self) -> None:
        """Speak as the oldest version does: a stream of events, the first of which says where to post."""
        self._events_only = True
        ready: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        keep(asyncio.create_task(self._read_events(ready)), self._tasks)
        address = urljoin(self._url, await ready)
        if urlsplit(address)[:2] != urlsplit(self._url)[:2]:
            raise RpcClosed(f"The server wants messages sent to another host, {urlsplit(address).netloc}.")
        self._url = address

    async def close(self) -> None:
        if self._session:
            await self._end_session()
        await self.peer.close()
        for task in (*self._tasks, *self._posting.values()):
            task.cancel()
        await asyncio.gather(*self._tasks, *self._posting.values(), return_exceptions=True)
        self._ends.close()
        await self._client.aclose()

    async def _end_session(self) -> None:
        import httpx2

        try:
            async with time_limit(1):
                await self._client.delete(self._url, headers=await self._headers({}))
        except (httpx2.HTTPError, TimeoutError) as error:
            log.debug("the session was not ended: %s", error)

    # What goes out.

    async def _pump(self) -> None:
        async for message in self._ends.outgoing():
            method, request_id = message.get("method"), message.get("id")
            if method == MCP.cancel:
                await self._cancel(message)
            elif method and request_id is None:
                await self._post(message)  # in its place among the requests: one of them opens the session
            elif not method:  # an answer of ours, whose id is one of the server's
                keep(asyncio.create_task(self._post(message)), self._tasks)
            else:
                task = asyncio.create_task(self._post(message))
                self._posting[request_id] = task
                task.add_done_callback(partial(self._posted, request_id))

    def _posted(self, request_id: Any, _: "asyncio.Task[None]") -> None:
        self._posting.pop(request_id, None)

    async def _cancel(self, message: Json) -> None:
        request_id = object_of(message.get("params")).get(MCP.cancel_key)
        if not self.stateless:  # in the newer family it is enough to hang up
            await self._post(message)
        if task := self._posting.get(request_id):
            task.cancel()

    async def _post(self, message: Json) -> None:
        """Send one message and take in what is answered. What goes wrong is the answer to it."""
        import httpx2

        try:
            answered = await self._send(message) or await self._send(message)
        except (httpx2.HTTPError, httpx2.InvalidURL, ValueError) as error:
            self.status = 0
            self._fail(message, f"{_host(self._url)} cannot be reached: {str(error) or type(error).__name__}")
            return
        if not answered:
            self._fail(message, f"{_host(self._url)} did not accept the login", status=401)

    async def _send(self, message: Json) -> bool:
        """Send a message once. False if it should be sent once more."""
        import httpx2

        body = json.dumps(message, ensure_ascii=False).encode("utf-8", "surrogatepass")
        headers = await self._headers(message)
        place = StreamPosition()
        try:
            async with self._client.stream("POST", self._url, content=body, headers=headers) as response:
                if response.status_code == 401 and self._authority is not None:
                    return not await self._authority.refused() and self._refuse(message, response, "")
                if response.status_code in REDIRECTS and self._follows(response.headers.get("location", "")):
                    return False
                if await self._take(message, response, place):
                    return True
        except httpx2.TransportError:
            if not place.known or self.stateless:
                raise
        await self._take_up(message, place)
        return True

    def _follows(self, location: str) -> bool:
        """Tell whether a redirect stays with this server, as one for a slash at the end does."""
        address = urljoin(self._url, location)
        stays = bool(location) and urlsplit(address)[:2] == urlsplit(self._url)[:2] and address != self._url
        self._url = address if stays else self._url
        return stays

    async def _headers(self, message: Json) -> dict[str, str]:
        headers = {"accept": "application/json, text/event-stream", "content-type": "application/json"}
        if self.version:
            headers["mcp-protocol-version"] = self.version
        if self._session and not self.stateless:
            headers["mcp-session-id"] = self._session
        method = message.get("method")
        if self.stateless and isinstance(method, str):
            headers["mcp-method"] = method
            named = object_of(message.get("params")).get(NAMED.get(method, ""))
            headers |= {"mcp-name": header_value(named)} if isinstance(named, str) else {}
        if self._authority is not None and (token := await self._authority.token()):
            headers["authorization"] = f"Bearer {token}"
        return headers

    # What comes in.

    async def _take(self, message: Json, response: "httpx2.Response", place: StreamPosition) -> bool:
        """Take in the answer; False where the server has closed the stream before it and can go on with it."""
        if response.status_code >= 300:
            self._refuse(message, response, (await _body(response, EXCERPT * 40)).decode("utf-8", "replace"))
            return True
        self._session = response.headers.get("mcp-session-id", self._session)
        if self._events_only or message.get("id") is None or "method" not in message:
            return True
        kind = _kind(response)
        if kind == EVENTS:
            answered = await self._pass_on(message, response, place)
            if not answered and place.known and not self.stateless:
                return False
        else:
            reply = parsed((await _body(response, LARGEST)).decode("utf-8", "replace"))
            answered = _answers(reply, message)
            self._ends.send_nowait(reply)
        if not answered:
            self._fail(message, f"{_host(self._url)} answered with {kind or 'nothing'} that holds no answer")
        return True

    async def _pass_on(self, message: Json, response: "httpx2.Response", place: StreamPosition) -> bool:
        """Pass on what a stream of events says; whether the answer was among it."""
        answered = False
        async for event in messages(response, place):
            answered = answered or _answers(event, message)
            await self._ends.send(event)
        return answered

    async def _take_up(self, message: Json, place: StreamPosition) -> None:
        """Ask for the rest of a stream that ended before the answer, as long as the server has more to say."""
        import httpx2

        for _ in range(TAKEN_UP):
            if place.fruitless == FRUITLESS:
                break
            await place.wait()
            try:
                if await self._go_on(message, place):
                    return
            except httpx2.HTTPError as error:
                log.debug("the stream of %s was not taken up: %s", self._url, error)
        self._fail(message, f"{_host(self._url)} closed its stream again and again, and gave no answer")

    async def _go_on(self, message: Json, place: StreamPosition) -> bool:
        """Read a stream from a place on; whether nothing more is to be expected."""
        headers = await self._headers({}) | {"accept": EVENTS, "last-event-id": place.last_id}
        async with self._client.stream("GET", self._url, headers=headers) as response:
            status = response.status_code
            if status == 401 and self._authority is not None and await self._authority.refused():
                return False
            if status == 429 or status >= 500:
                return False
            if status == 200 and _kind(response) == EVENTS:
                return await self._pass_on(message, response, place)
            # Not as an error of HTTP: a call whose session is forgotten would be sent again, and this one may be done.
            words = f"{_host(self._url)} closed the stream before its answer, and does not go on with it ({status})"
            self._fail(message, words, status=status if status == 401 else 0)
            return True

    def _refuse(self, message: Json, response: "httpx2.Response", body: str) -> bool:
        """Pass an error of HTTP on: in the server's own words if it has any."""
        reply, status = object_of(parsed(body)), response.status_code
        self.status = status
        scope = missing_scope(response.headers.get("www-authenticate", "")) if status == 403 and self._authority else ""
        if isinstance(error := reply.get("error"), dict):
            code = error.get("code")
            text, code = str(error.get("message")), code if isinstance(code, int) else 0
        else:
            text, code = f"{_host(self._url)} answered {status} {body.strip()[:EXCERPT]}".strip(), 0
        self._fail(message, text, status=status, code=code, scope=scope)
        if status == 404 and self._session and not self.stateless:
            self._session = ""
            self._ends.send_eof()
        return True

    def _fail(self, message: Json, text: str, *, status: int = 0, code: int = INTERNAL_ERROR, scope: str = "") -> None:
        if message.get("id") is not None and "method" in message:
            data: Json = {"status": status} | ({"scope": scope} if scope else {})
            error = {"code": code or INTERNAL_ERROR, "message": text, "data": data}
            self._ends.send_nowait({"jsonrpc": "2.0", "id": message["id"], "error": error})

    async def _follow(self) -> None:
        """Read the stream of a session as long as there is one, and open it again when it breaks off."""
        place = StreamPosition()
        while not self.peer.ended.is_set():
            if not await self._read_stream(place, None):
                return
            await place.wait()

    async def _read_events(self, ready: "asyncio.Future[str]") -> None:
        await self._read_stream(StreamPosition(), ready)

    async def _read_stream(self, place: StreamPosition, ready: "asyncio.Future[str] | None") -> bool:
        """Read a stream of events. False if the server has no such stream."""
        import httpx2

        headers = (
            await self._headers({}) | {"accept": EVENTS} | ({"last-event-id": place.last_id} if place.known else {})
        )
        try:
            async with self._client.stream("GET", self._url, headers=headers) as response:
                if response.status_code != 200:
                    _give_up(ready, f"{_host(self._url)} answered {response.status_code}")
                    return False
                async for event in messages(response, place, ready):
                    await self._ends.send(event)
                    self._settle(event)
        except (httpx2.HTTPError, ValueError) as error:
            log.debug("the stream of %s broke off: %s", self._url, error)
        _give_up(ready, f"{_host(self._url)} opened no stream of events")
        if self._events_only:
            self._ends.send_eof()
        return True

    def _settle(self, message: Any) -> None:
        """Wait no more for the answer to a request on a stream of its own, where it has come on this one."""
        answer = object_of(message)
        request_id = answer.get("id")
        if "method" not in answer and isinstance(request_id, int | str) and (task := self._posting.get(request_id)):
            task.cancel()


async def _body(response: "httpx2.Response", limit: int) -> bytes:
    pieces, size = list[bytes](), 0
    async for chunk in response.aiter_bytes():
        pieces.append(chunk)
        size += len(chunk)
        if size > limit:
            break
    return b"".join(pieces)


def _kind(response: "httpx2.Response") -> str:
    kind: str = response.headers.get("content-type", "")
    return kind.partition(";")[0].strip().lower()


def _give_up(ready: "asyncio.Future[str] | None", why: str) -> None:
    if ready is not None and not ready.done():
        ready.set_exception(RpcClosed(why))


def _answers(event: Any, message: Json) -> bool:
    reply = object_of(event)
    return "method" not in reply and reply.get("id") == message.get("id")


def _host(url: str) -> str:
    return urlsplit(url).netloc or url
