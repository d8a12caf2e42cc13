"""tw mcp auth, as it is typed: with browsers that come back at once, late or never, and with none at all."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx2
import pytest

from tests.cli.person import at_terminal
from tests.mcp.browsers import FOREGROUND, ON_THE_TERMINAL
from tests.mcp.site import Identity, Site
from tests.ports import free_port
from tests.waiting import patience


@asynccontextmanager
async def a_site(project: Path, identity: Identity | None = None) -> AsyncIterator[Site]:
    """A server behind a login, in the settings of the project as `web`."""
    async with Site(identity=identity or Identity()).running() as site:
        server = {"type": "remote", "url": site.url, "oauth": {"callbackPort": free_port()}}
        (project / "toolwright.json").write_text(json.dumps({"mcp": {"web": server}}))
        yield site


def program(folder: Path, name: str, text: str) -> Path:
    file = folder / name
    file.write_text(f"#!{sys.executable}\n{text}")
    file.chmod(0o755)
    return file


async def test_a_browser_that_stays_does_not_keep_the_login_waiting(project: Path, outside: Path) -> None:
    browser = program(outside, "browser", FOREGROUND)
    async with a_site(project):
        assert "web is connected" in await logged_in(project, BROWSER=f"{browser} %s")


async def test_a_scope_can_be_asked_for_by_name(project: Path, outside: Path) -> None:
    browser, identity = program(outside, "browser", FOREGROUND), Identity()
    async with a_site(project, identity):
        await logged_in(project, "--scope", "read write", BROWSER=f"{browser} %s")
        assert identity.granted == "read write"


async def logged_in(project: Path, *words: str, **variables: str) -> str:
    """What a login says that comes about with nobody at the keyboard."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "toolwright", "mcp", "auth", "web", "--trust", *words),
        cwd=project,
        env={"HOME": str(project.parent / "home"), "PATH": os.environ["PATH"], **variables},
        stdin=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )
    async with patience():
        _, said = await process.communicate()
    assert process.returncode == 0, said.decode()
    return said.decode()


AUTH = ("mcp", "auth", "web", "--trust")


async def test_a_browser_of_the_terminal_has_it_until_it_is_closed(project: Path, outside: Path) -> None:
    browser = program(outside, "w3m", ON_THE_TERMINAL)

    def person() -> None:
        with at_terminal(project, *AUTH, variables={"BROWSER": f"{browser} %s"}) as terminal:
            terminal.wait_for("close the browser to go on")
            terminal.wait_for("press q")
            assert "paste" not in terminal.seen
            assert terminal.process.poll() is None
            terminal.type("q")
            assert terminal.exit_code() == 0
            assert "web is connected" in terminal.seen

    async with a_site(project):
        await asyncio.to_thread(person)


@pytest.mark.parametrize("words", [(), ("--no-browser",)])
async def test_from_another_machine_the_address_that_the_browser_ends_at_can_be_pasted(
    project: Path, words: tuple[str, ...]
) -> None:
    def person() -> None:
        with at_terminal(project, *AUTH, *words) as terminal:
            terminal.wait_for("paste here")
            assert ("no browser can be opened here" in terminal.seen) == (not words)
            address = terminal.seen.split("log in at ")[1].split()[0]
            terminal.type("what?")
            terminal.wait_for("there is no code in it")
            ends_at = httpx2.get(address, trust_env=False).headers["location"]
            terminal.type(f"  {ends_at}")
            assert terminal.exit_code() == 0
            assert "web is connected" in terminal.seen

    async with a_site(project):
        await asyncio.to_thread(person)


async def test_an_answer_to_another_login_is_refused(project: Path) -> None:
    def person() -> None:
        with at_terminal(project, *AUTH, "--no-browser") as terminal:
            terminal.wait_for("paste here")
            terminal.type("http://127.0.0.1/?code=theirs&state=theirs")
            assert terminal.exit_code() == 1
            assert "belongs to another login" in terminal.seen

    async with a_site(project):
        await asyncio.to_thread(person)
