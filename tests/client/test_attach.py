"""tw attach without a prompt: the conversation in a terminal, on a server that runs elsewhere."""

import asyncio
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.person import Terminal, at_terminal
from tests.server.harness import TOKEN, Served, served
from tests.server.test_session import ASK_EDIT, EDIT, READ, project

pytestmark = pytest.mark.slow


async def at(server: Served, do: Callable[[Terminal], None], *arguments: str, full_screen: bool = False) -> None:
    """A person at a terminal in another folder."""
    elsewhere = server.folder.parent / "elsewhere"
    elsewhere.mkdir(exist_ok=True)

    def sit_down() -> None:
        variables = {"OPENCODE_SERVER_PASSWORD": TOKEN}
        with at_terminal(
            elsewhere, "attach", server.url, *arguments, variables=variables, full_screen=full_screen
        ) as terminal:
            do(terminal)

    await asyncio.to_thread(sit_down)


async def test_a_person_talks_to_a_server_in_lines(tmp_path: Path) -> None:
    def talk(terminal: Terminal) -> None:
        terminal.wait_for("> ")
        terminal.type("edit it")
        terminal.wait_for("Allow?")
        assert 'print("bye")' in terminal.seen
        terminal.type("y")
        terminal.wait_for("Done there.")
        terminal.wait_for("1 file changed")
        terminal.type("/undo")
        terminal.wait_for("/redo makes it again")
        terminal.type("/sessions")
        terminal.wait_for("goes on with one")
        terminal.type("/quit")
        assert terminal.exit_code() == 0
        assert f"tw attach {server.url} --session" in terminal.words

    folder = project(tmp_path)
    async with served(folder, READ, EDIT, {"text": "Done there."}, config=ASK_EDIT) as server:
        await at(server, talk)
        assert (folder / "a.py").read_text() == 'print("hi")\n'


async def test_a_person_talks_to_a_server_on_the_full_screen(tmp_path: Path) -> None:
    pytest.importorskip("textual", reason="the full screen needs textual: pip install 'toolwright[tui]'")

    def talk(terminal: Terminal) -> None:
        terminal.wait_for("sk for something")
        os.write(terminal.screen, b"hello\r")
        terminal.wait_for("1 step")
        os.write(terminal.screen, b"\x04")
        assert terminal.exit_code() == 0

    async with served(project(tmp_path), {"text": "Hello."}) as server:
        await at(server, talk, full_screen=True)
        [session] = await server.get("/session")
        assert [one["info"]["role"] for one in await server.get(f"/session/{session['id']}/message")] == [
            "user",
            "assistant",
        ]


async def test_an_agent_or_session_that_is_not_there_is_said_in_a_sentence(tmp_path: Path) -> None:
    def see(words: str) -> Callable[[Terminal], None]:
        def look(terminal: Terminal) -> None:
            assert terminal.exit_code() == 2
            assert words in terminal.words

        return look

    async with served(project(tmp_path)) as server:
        await at(server, see("There is no agent 'nobody' there"), "--agent", "nobody")
        await at(server, see("There is no session 'none' there"), "--session", "none")
        await at(server, see("There is no session to continue there"), "--continue")
