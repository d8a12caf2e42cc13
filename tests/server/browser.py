"""A browser on a page of ours; tests that want one are skipped where there is none."""

import asyncio
import shutil
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import pytest
import pytest_asyncio

from tests.server.harness import TOKEN
from tests.waiting import PATIENCE

pytest.importorskip("playwright", reason="the page is tried with playwright, which is not installed")

from playwright.async_api import Browser, Locator, Page, async_playwright, expect
from playwright.async_api import Error as PlaywrightError

PROGRAM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), "")

needs_browser = pytest.mark.skipif(not PROGRAM, reason="there is no chromium on this machine")
expect.set_options(timeout=PATIENCE * 1000)


_SHARED: dict[asyncio.AbstractEventLoop, Browser] = {}
"""The browser of a module whose tests have one loop."""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def one_browser() -> AsyncIterator[None]:
    """For modules of many tests: one browser for all of them, since it takes longer to start than a test."""
    async with _launched() as browser:
        _SHARED[asyncio.get_running_loop()] = browser
        yield
        del _SHARED[asyncio.get_running_loop()]


@asynccontextmanager
async def opened(url: str, path: str = "", *, secret: str = TOKEN, **options: Any) -> AsyncIterator[Page]:
    """The page as somebody sees it who was never there. What a script throws, or the policy refuses, fails the test."""
    problems: list[str] = []
    async with AsyncExitStack() as stack:
        loop = asyncio.get_running_loop()
        browser = _SHARED[loop] if loop in _SHARED else await stack.enter_async_context(_launched())
        context = await stack.enter_async_context(await browser.new_context(**options))
        context.set_default_timeout(PATIENCE * 1000)
        page = await context.new_page()
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("console", lambda told: problems.append(told.text) if "Content Security Policy" in told.text else None)
        await page.goto(f"{url}/k-{secret}/{path}" if secret else f"{url}/{path}")
        if secret:
            await expect(prompt(page)).to_be_visible()
        yield page
    assert not problems


@asynccontextmanager
async def _launched() -> AsyncIterator[Browser]:
    async with async_playwright() as playwright:
        try:
            # Its own sandbox works neither for root nor in most containers; it sees no page but ours.
            browser = await playwright.chromium.launch(
                executable_path=PROGRAM, args=["--no-sandbox"], timeout=PATIENCE * 1000
            )
        except PlaywrightError as error:
            pytest.skip(f"chromium does not start here: {str(error).splitlines()[0]}")
        try:
            yield browser
        finally:
            await browser.close()


def prompt(page: Page) -> Locator:
    return page.get_by_role("textbox", name="Prompt")


def button(page: Page | Locator, name: str) -> Locator:
    return page.get_by_role("button", name=name, exact=True)


def dialog(page: Page, name: str) -> Locator:
    return page.get_by_role("dialog", name=name)


async def read(asked: Locator) -> None:
    """Wait until a question takes answers: one that has just appeared takes none."""
    await expect(asked).to_be_visible()
    await expect(asked).not_to_have_attribute("data-unread", "")


def conversation(page: Page) -> Locator:
    return page.get_by_role("region", name="Conversation")


async def say(page: Page, text: str) -> None:
    await prompt(page).fill(text)
    await prompt(page).press("Enter")
