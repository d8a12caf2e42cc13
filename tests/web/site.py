"""A web server on loopback that answers with exactly the bytes a test has written, and a session that reads it."""

import asyncio
import gzip
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from ssl import SSLContext
from typing import Any

from toolwright.definition import Action, Call, Result
from toolwright.permission.rules import Rule
from toolwright.session.session import Session
from toolwright.testing import ScriptedUser, make_workspace
from toolwright.web.fetch import Fetcher, look_up
from toolwright.workspace import Workspace

Handler = Callable[["Visit"], Awaitable[None]]
HOST = "127.0.0.1"


@dataclass(slots=True)
class Visit:
    """One request, and the way to answer it."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes
    writer: asyncio.StreamWriter

    async def answer(self, body: bytes = b"", *, status: str = "200 OK", **headers: str) -> None:
        """A whole answer with its length."""
        await self.begin(status=status, content_length=str(len(body)), **headers)
        await self.write(body)

    async def begin(self, *, status: str = "200 OK", **headers: str) -> None:
        """Only the head of an answer."""
        lines = [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        await self.write("\r\n".join([f"HTTP/1.1 {status}", *lines, "", ""]).encode())

    async def chunk(self, data: bytes) -> None:
        await self.write(b"%x\r\n%s\r\n" % (len(data), data))

    async def write(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()


@dataclass
class Site:
    """The pages of the server by their path, and who came."""

    port: int = 0
    pages: dict[str, Handler] = field(default_factory=dict)
    visits: list[Visit] = field(default_factory=list)
    gone: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when a visitor closed the connection before the answer was complete."""

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self.port}"

    @property
    def paths(self) -> list[str]:
        return [visit.path for visit in self.visits]

    def page(self, path: str, body: bytes | str, content_type: str = "text/html; charset=utf-8", **more: str) -> str:
        """Put a page there; its address."""
        data = body.encode() if isinstance(body, str) else body

        async def answer(visit: Visit) -> None:
            await visit.answer(data, content_type=content_type, **more)

        self.pages[path] = answer
        return f"{self.url}{path}"

    def redirect(self, path: str, target: str, status: str = "302 Found") -> str:
        async def answer(visit: Visit) -> None:
            await visit.answer(status=status, location=target)

        self.pages[path] = answer
        return f"{self.url}{path}"

    def handle(self, path: str, handler: Handler) -> str:
        self.pages[path] = handler
        return f"{self.url}{path}"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            visit = await _visit(reader, writer)
            if visit is None:
                return
            self.visits.append(visit)
            handler = self.pages.get(visit.path.partition("?")[0])
            if handler is None:
                await visit.answer(b"nothing here", status="404 Not Found", content_type="text/plain")
            else:
                await handler(visit)
        except (ConnectionError, asyncio.IncompleteReadError):
            self.gone.set()
        finally:
            writer.close()


async def _visit(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> Visit | None:
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except (asyncio.IncompleteReadError, ConnectionError):
        return None
    first, *lines = head.decode("latin-1").strip().split("\r\n")
    headers = {name.lower(): value for name, value in (line.split(": ", 1) for line in lines)}
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    method, path, _ = first.split(" ")
    return Visit(method, path, headers, body, writer)


@asynccontextmanager
async def serving(tls: SSLContext | None = None) -> AsyncIterator[Site]:
    site = Site()
    server = await asyncio.start_server(site.serve, HOST, 0, ssl=tls)
    site.port = server.sockets[0].getsockname()[1]
    try:
        yield site
    finally:
        server.close()


@dataclass(kw_only=True)
class Reader:
    """A session that may read the site, and the workspace it is in."""

    workspace: Workspace
    session: Session
    user: ScriptedUser

    async def fetch(self, url: str, **arguments: Any) -> Result:
        return await self.call("webfetch", url=url, **arguments)

    async def call(self, tool: str, **arguments: Any) -> Result:
        return await self.session.run_call(Call(id="call_1", tool=tool, arguments=arguments))


def make_reader(
    project: Path,
    *rules: tuple[str, Action],
    replies: Sequence[str] = (),
    config: Mapping[str, Any] | None = None,
    environment: Mapping[str, str] | None = None,
    **fetcher: Any,
) -> Reader:
    """A session under these `webfetch` rules; what else is given makes its Fetcher."""
    user = ScriptedUser.saying(*replies)
    workspace = make_workspace(project, user=user, config=config, environment=environment)
    options = {"environment": environment or {}, "resolve": nothing_resolves, **fetcher}
    workspace.fetcher = Fetcher(**options)
    given = [Rule("webfetch", pattern, action) for pattern, action in rules]
    return Reader(workspace=workspace, session=workspace.session(rules=given), user=user)


def opened(site: Site) -> tuple[str, Action]:
    """The rule that spells the site."""
    return f"{site.url}/*", "allow"


async def nothing_resolves(host: str, port: int) -> Any:
    """No test asks a name server."""
    if host in (HOST, "localhost"):
        return await look_up(host, port)
    raise OSError(-2, f"the test knows no {host}")


def packed(data: bytes, form: str) -> bytes:
    if form == "gzip":
        return gzip.compress(data, 1)
    packer = zlib.compressobj(1, wbits=zlib.MAX_WBITS if form == "deflate" else -zlib.MAX_WBITS)
    return packer.compress(data) + packer.flush()
