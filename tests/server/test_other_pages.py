"""A page of another origin, in a real browser, tries what pages can against a server whose own page is logged in."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.server.browser import needs_browser, opened
from tests.server.harness import served

pytestmark = [pytest.mark.slow, needs_browser]

TRIES = """async (url) => {
  const tried = (work) => work().catch((error) => "refused")
  const heard = (made, good) => new Promise((resolve) => {
    made[good] = () => resolve("reached")
    made.onerror = () => resolve("refused")
  })
  const include = { credentials: "include" }
  const json = { method: "POST", body: "{}", headers: { "content-type": "application/json" }, ...include }
  const found = {
    read: await tried(() => fetch(`${url}/session`, include).then(() => "reached")),
    write: await tried(() => fetch(`${url}/session`, json).then(() => "reached")),
    form: await tried(() => fetch(`${url}/session`, { method: "POST", mode: "no-cors", body: "{}", ...include })),
    events: await heard(new EventSource(`${url}/event`, { withCredentials: true }), "onmessage"),
    socket: await heard(new WebSocket(`${url.replace("http", "ws")}/event`), "onopen"),
    picture: await heard(Object.assign(new Image(), { src: `${url}/page/icon.svg` }), "onload"),
  }
  navigator.sendBeacon(`${url}/session`, "{}")
  return found
}"""


@asynccontextmanager
async def other_site() -> AsyncIterator[str]:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        head = "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 2\r\nconnection: close\r\n\r\nhi"
        writer.write(head.encode())
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()


async def test_it_reads_nothing_and_has_nothing_done(tmp_path: Path) -> None:
    async with served(tmp_path / "p") as server, other_site() as site, opened(server.url) as page:
        other = await page.context.new_page()
        for address in (site, "data:text/html,hi"):
            await other.goto(address)
            assert set((await other.evaluate(TRIES, server.url)).values()) == {"refused"}, address
        assert await server.get("/session") == []
