"""tw run --attach and tw attach, as programs of their own, against a server of ours."""

import asyncio
import json
import os
import signal
import sys
from pathlib import Path

import pytest

from tests.server.harness import TOKEN, Served, listening, served
from tests.server.test_session import ASK_EDIT, EDIT, READ, project
from toolwright.cli.dispatch import REFUSED, STOPPED, USAGE

pytestmark = pytest.mark.slow

SLEEP = {"tools": [{"name": "bash", "args": {"command": "sleep 100", "description": "wait"}}]}


async def program(server: Served, *arguments: str) -> asyncio.subprocess.Process:
    home = server.folder.parent / "elsewhere"
    home.mkdir(exist_ok=True)
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), "OPENCODE_SERVER_PASSWORD": TOKEN}
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "toolwright", *arguments),
        cwd=home,
        env=environment,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )


async def ran(server: Served, *arguments: str) -> tuple[int | None, str, str]:
    process = await program(server, *arguments)
    out, err = await process.communicate()
    return process.returncode, out.decode(), err.decode()


async def test_a_prompt_is_answered_elsewhere_and_the_session_goes_on(tmp_path: Path) -> None:
    folder = project(tmp_path)
    turns = (READ, EDIT, {"text": "Done there."}, {"text": "Again."})
    async with served(folder, *turns, config=ASK_EDIT) as server:
        code, out, err = await ran(server, "run", "--attach", server.url, "--yes", "--title", "t", "edit it")
        assert (code, out) == (0, "Done there.\n"), err
        assert (folder / "a.py").read_text() == 'print("bye")\n'
        [session] = await server.get("/session")
        assert session["id"] in err
        code, out, err = await ran(server, "attach", server.url, "-c", "and now?")
        assert (code, out) == (0, "Again.\n"), err
        assert len(await server.get("/session")) == 1


async def test_what_nobody_can_be_asked_about_is_refused_and_told(tmp_path: Path) -> None:
    folder = project(tmp_path)
    async with served(folder, READ, EDIT, {"text": "No."}, config=ASK_EDIT) as server:
        code, _, err = await ran(server, "run", "--attach", server.url, "edit it")
        assert code == REFUSED
        assert "refused: edit" in err
        assert (folder / "a.py").read_text() == 'print("hi")\n'


async def test_its_lines_of_json_are_those_of_a_local_run(tmp_path: Path) -> None:
    async with served(project(tmp_path), READ, {"text": "Read."}) as server:
        _, out, _ = await ran(server, "run", "--attach", server.url, "--format", "json", "read it")
        lines = [json.loads(line) for line in out.splitlines()]
        kinds = " ".join(line["type"] for line in lines)
        assert kinds == "start step_start tool_use step_finish step_start text step_finish result"
        assert lines[-1]["text"] == "Read."
        assert lines[-1]["steps"] == 2


async def test_an_interrupt_stops_the_turn_on_the_server(tmp_path: Path) -> None:
    async with served(project(tmp_path), SLEEP) as server, listening(server) as heard:
        process = await program(server, "run", "--attach", server.url, "wait")
        await heard.wait("session.status")
        process.send_signal(signal.SIGINT)
        await heard.wait("session.idle")
        assert await process.wait() == STOPPED


async def test_what_cannot_be_is_said_in_a_sentence(tmp_path: Path) -> None:
    async with served(project(tmp_path)) as server:
        code, _, err = await ran(server, "run", "--attach", server.url, "--session", "ses_none", "x")
        assert code != 0
        assert "no session" in err
        code, _, err = await ran(server, "run", "--attach", server.url, "--max-cost", "1", "x")
        assert (code, "--max-cost" in err) == (2, True)
    code, _, err = await ran(server, "attach", server.url, "anybody?")
    assert code != 0
    assert "does not answer" in err
    assert "Traceback" not in err


async def test_what_is_plainly_wrong_is_a_usage_error_and_leaves_no_session(tmp_path: Path) -> None:
    async with served(project(tmp_path), {"text": "Never."}) as server:
        for wrong in (("--variant", "W"), ("--agent", "W"), ("--model", "nobody/x"), ("-f", "none.txt")):
            code, out, err = await ran(server, "run", "--attach", server.url, "go", *wrong)
            assert (code, out) == (USAGE, ""), err
        assert await server.get("/session") == []
