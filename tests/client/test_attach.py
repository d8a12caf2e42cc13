"""tw attach without a prompt: the conversation in a terminal, on a server that runs elsewhere."""

import asyncio
import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.person import Terminal, at_terminal
from tests.server.harness import TOKEN, Served, listening, served
from tests.server.test_session import ASK_EDIT, EDIT, READ, project
from tests.waiting import PATIENCE

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
        terminal.wait_for("sk anything")
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


async def asked_by_nobody(server: Served) -> str:
    """A session in which a question waits, while no program is there that would put it."""
    session_id = await server.session()
    prompt = {"parts": [{"type": "text", "text": "edit"}]}
    async with listening(server) as heard:
        await server.post(f"/session/{session_id}/prompt_async", prompt, status=204)
        await heard.wait("permission.asked")
    return session_id


async def test_what_a_program_asked_that_has_ended_is_put_by_the_next_in_lines(tmp_path: Path) -> None:
    def talk(terminal: Terminal) -> None:
        terminal.wait_for("Allow?")
        terminal.type("y")
        terminal.wait_for("Done there.")
        terminal.wait_for("> ")
        terminal.type("/quit")
        assert terminal.exit_code() == 0

    folder = project(tmp_path)
    async with served(folder, READ, EDIT, {"text": "Done there."}, config=ASK_EDIT) as server:
        await at(server, talk, "--session", await asked_by_nobody(server))
        assert (folder / "a.py").read_text() == 'print("bye")\n'


async def test_what_a_program_asked_that_has_ended_is_put_by_the_next_on_the_full_screen(tmp_path: Path) -> None:
    pytest.importorskip("textual", reason="the full screen needs textual: pip install 'toolwright[tui]'")
    shown = threading.Event()

    def talk(terminal: Terminal) -> None:
        terminal.wait_for("build wants to")
        shown.set()
        terminal.wait_for("Done there.")
        os.write(terminal.screen, b"\x04")
        assert terminal.exit_code() == 0

    async with served(project(tmp_path), READ, EDIT, {"text": "Done there."}, config=ASK_EDIT) as server:
        session_id = await asked_by_nobody(server)
        person = asyncio.create_task(at(server, talk, "--session", session_id, full_screen=True))
        await asyncio.to_thread(shown.wait, PATIENCE)
        [asked] = await server.get("/permission")
        await server.post(f"/permission/{asked['id']}/reply", {"reply": "once"})
        await person


async def test_an_agent_or_session_that_is_not_there_is_said_in_a_sentence(tmp_path: Path) -> None:
    def see(words: str) -> Callable[[Terminal], None]:
        def look(terminal: Terminal) -> None:
            assert terminal.exit_code() == 2
            assert words in terminal.words

        return look

    async with served(project(tmp_path)) as server:
        await at(server, see("There is no agent 'nobody' there"), "--agent", "nobody")
        await at(server, see("There is no session 'none'"), "--session", "none")
        await at(server, see("There is no session to go on with"), "--continue")
