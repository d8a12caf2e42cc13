"""How the page gets in: with a key that is kept for its origin alone, of which a port is part."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.server.browser import button, conversation, needs_browser, one_browser, opened, prompt, say
from tests.server.harness import TOKEN, Served, served
from tests.server.test_session import project
from toolwright.app.server_secret import Secret

from playwright.async_api import Page, expect  # isort: skip

pytestmark = [
    pytest.mark.slow,
    needs_browser,
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.usefixtures("one_browser"),
]
__all__ = ["one_browser"]


def field(page: Page) -> Any:
    return page.get_by_label("Secret")


@asynccontextmanager
async def hostile_site() -> AsyncIterator[tuple[str, list[dict[str, str]]]]:
    """A server on another port of the same host, and all headers that browsers have sent it."""
    seen = list[dict[str, str]]()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        _, *lines = (await reader.readuntil(b"\r\n\r\n")).decode().strip().split("\r\n")
        seen.append(dict(line.split(": ", 1) for line in lines))
        head = "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 2\r\nconnection: close\r\n\r\nhi"
        writer.write(head.encode())
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", seen
    finally:
        server.close()


async def statuses(server: Served, headers: dict[str, str]) -> set[int]:
    """What the server says to who brings these headers, and to who brings any of their values as a secret."""
    found = set[int]()
    own = {name: value for name, value in headers.items() if name.lower() not in ("host", "connection")}
    ways = [own, *({"authorization": f"Bearer {value}"} for value in own.values())]
    async with httpx2.AsyncClient(base_url=server.url, trust_env=False) as client:
        for way in ways:
            found.add((await client.get("/path", headers=way)).status_code)
    return found


async def test_a_page_on_another_port_of_the_host_gets_nothing_that_opens_anything(tmp_path: Path) -> None:
    async with served(project(tmp_path)) as server, opened(server.url) as page, hostile_site() as (site, seen):
        other = await page.context.new_page()
        await other.goto(site)
        await other.evaluate("fetch('/again', { credentials: 'include' }).then((answer) => answer.text())")
        # As a link in an answer would lead there.
        await page.evaluate("(site) => { window.open(site) }", site)
        await page.evaluate("(site) => { location.href = site }", site)
        await page.wait_for_url(f"{site}/")
        assert await other.evaluate("[document.cookie, localStorage.length, sessionStorage.length]") == ["", 0, 0]
        assert len(seen) >= 4
        for headers in seen:
            assert {"cookie", "authorization"}.isdisjoint(name.lower() for name in headers)
            assert TOKEN not in str(headers)
            assert await statuses(server, headers) <= {401, 429}


async def test_the_page_is_loaded_again_and_opened_in_a_second_tab_without_the_secret(tmp_path: Path) -> None:
    async with served(project(tmp_path), {"text": "Hello."}) as server, opened(server.url) as page:
        await say(page, "hi")
        await expect(conversation(page)).to_contain_text("Hello.")
        await page.reload()
        await expect(conversation(page)).to_contain_text("Hello.")
        other = await page.context.new_page()
        await other.goto(page.url)
        await expect(conversation(other)).to_contain_text("Hello.")


async def test_the_secret_itself_is_neither_kept_nor_left_in_the_address(tmp_path: Path) -> None:
    async with served(project(tmp_path)) as server, opened(server.url) as page:
        kept = await page.evaluate("JSON.stringify([location.href, document.cookie, localStorage, sessionStorage])")
        assert TOKEN not in kept
        assert Secret(value=TOKEN).page_key() in kept


@pytest.mark.parametrize("value", [TOKEN, "päss/word 100%"])
async def test_who_opens_the_page_without_a_secret_is_asked_for_it(tmp_path: Path, value: str) -> None:
    secret = Secret(value=value)
    async with served(project(tmp_path), secret=secret) as server, opened(server.url, secret="") as page:
        await expect(field(page)).to_be_focused()
        await page.keyboard.type("wrong")
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("alert")).to_have_text("That is not the secret of this server.")
        await field(page).fill(value)
        await button(page, "Open").click()
        await expect(prompt(page)).to_be_visible()


async def test_the_whole_address_is_as_good_as_the_secret(tmp_path: Path) -> None:
    async with served(project(tmp_path)) as server, opened(server.url, secret="") as page:
        await field(page).fill(f"{server.url}/k-{TOKEN}")
        await field(page).press("Enter")
        await expect(prompt(page)).to_be_visible()


async def test_a_page_whose_server_has_another_secret_by_now_asks_for_it(tmp_path: Path) -> None:
    async with served(project(tmp_path)) as server, opened(server.url) as page:
        await page.evaluate("localStorage.setItem('page key', 'of an earlier server')")
        await say(page, "hi")
        await expect(field(page)).to_be_visible()
        await page.reload()
        await field(page).fill(TOKEN)
        await field(page).press("Enter")
        await expect(prompt(page)).to_be_visible()


async def test_where_no_secret_is_wanted_none_is_asked_for(tmp_path: Path) -> None:
    async with served(project(tmp_path), secret=None) as server, opened(server.url, secret="") as page:
        await expect(prompt(page)).to_be_visible()


async def test_what_happens_while_the_stream_is_cut_is_shown_once_it_is_back(tmp_path: Path) -> None:
    async with served(project(tmp_path)) as server, opened(server.url) as page:
        sessions = page.get_by_role("list", name="Sessions").get_by_role("listitem")
        await server.session(title="before")
        await expect(sessions).to_have_count(1)
        numbers = list[str]()
        page.on("request", lambda one: numbers.append(one.headers.get("last-event-id", "")))
        for channel in server.serving.channels.values():
            for listener in channel.listeners:
                listener.end()
        await expect(page.get_by_text("Connection lost")).to_be_visible()
        await server.session(title="meanwhile")
        await expect(sessions).to_have_count(2)
        await expect(page.get_by_text("Connection lost")).to_have_count(0)
        assert any(numbers)
