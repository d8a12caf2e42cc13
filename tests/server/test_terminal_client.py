"""OpenCode's own program, as npm has it: its terminal client with our server, and our client with its server."""

import asyncio
import json
import os
import platform
import shlex
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.server.harness import TOKEN, Served, listening, served
from tests.server.test_session import ASK_EDIT, EDIT, READ, project
from tests.waiting import patience
from toolwright.calls.parts import Completed, ToolPart
from toolwright.client import Client, ServerError
from toolwright.client.remote import RemoteProject
from toolwright.events import PartUpdated

pytestmark = pytest.mark.slow

SLEEP = {"tools": [{"name": "bash", "args": {"command": "sleep 100", "description": "wait"}}]}
OPTIONS = [{"label": "Blue", "description": "b"}, {"label": "Red", "description": "r"}]
QUESTION = {
    "tools": [{"name": "question", "args": {"questions": [{"question": "Which?", "header": "h", "options": OPTIONS}]}}]
}


@pytest.fixture(scope="module", params=["1.1.31", "1.18.33"])
def program(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    if not shutil.which("npm") or not shutil.which("tmux"):
        pytest.skip("npm and tmux are not here")
    machine = {"x86_64": "x64", "aarch64": "arm64", "arm64": "arm64"}.get(platform.machine(), "")
    package = f"opencode-{sys.platform}-{machine}"
    folder = tmp_path_factory.mktemp("client")
    command = ["npm", "install", "--silent", "--no-audit", "--no-fund", f"{package}@{request.param}"]
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, timeout=180, check=False)
    except subprocess.TimeoutExpired:
        pytest.skip("npm does not answer")
    found = folder / "node_modules" / package / "bin" / "opencode"
    if done.returncode or not found.is_file():
        pytest.skip("npm could not install the client")
    return found


class Terminal:
    def __init__(self, home: Path) -> None:
        self.environment = {"PATH": os.environ["PATH"], "HOME": str(home), "TERM": "xterm-256color"}
        self.name = f"tw-{home.parent.name}-{os.getpid()}"[-60:]

    async def tmux(self, *arguments: str) -> str:
        process = await asyncio.create_subprocess_exec(
            *("tmux", "-L", self.name, *arguments), env=self.environment, stdout=-1, stderr=-1
        )
        out, _ = await process.communicate()
        return out.decode()

    async def press(self, *keys: str) -> None:
        await self.tmux("send-keys", *keys)

    async def say(self, text: str) -> None:
        await self.press("-l", text)
        await self.sees(text)
        await self.press("Enter")

    async def sees(self, text: str) -> None:
        screen = ""
        try:
            async with patience():
                while text not in (screen := await self.tmux("capture-pane", "-p")):  # noqa: ASYNC110
                    await asyncio.sleep(0.1)
        except TimeoutError:
            pytest.fail(f"{text!r} is not on the screen:\n{screen}")


@asynccontextmanager
async def attached(server: Served, program: Path) -> AsyncIterator[Terminal]:
    home = server.folder.parent / "home"
    home.mkdir()
    terminal = Terminal(home)
    command = shlex.join([str(program), "attach", f"{server.url}/k-{TOKEN}"])
    await terminal.tmux(
        "new-session", "-d", "-x", "130", "-y", "44", f"cd {shlex.quote(str(server.folder))} && {command}"
    )
    try:
        yield terminal
    finally:
        await terminal.tmux("kill-server")


async def test_a_permission_a_question_an_undo_and_a_stop(tmp_path: Path, program: Path) -> None:
    folder = project(tmp_path)
    turns = (READ, EDIT, {"text": "It says bye."}, QUESTION, {"text": "Blue it is."}, SLEEP)
    async with (
        served(folder, *turns, config=ASK_EDIT) as server,
        listening(server) as heard,
        attached(server, program) as terminal,
    ):
        await terminal.sees("ctrl+p")
        await terminal.say("edit the file")
        await terminal.sees("Permission required")
        await terminal.press("Enter")
        await terminal.sees("It says bye.")
        await heard.wait("session.idle")
        assert (folder / "a.py").read_text() == 'print("bye")\n'
        await terminal.press("-l", "/undo")
        await terminal.sees("/undo")
        await terminal.press("Enter")
        await terminal.sees("1 message reverted")
        assert (folder / "a.py").read_text() == 'print("hi")\n'
        await terminal.press("C-u")  # the prompt that came back
        await terminal.say("ask me something")
        await terminal.sees("Which?")
        await terminal.press("Enter")
        await terminal.sees("Blue it is.")
        await heard.wait("session.idle", 2)
        await terminal.say("now wait")
        await terminal.sees("sleep 100")
        await terminal.press("Escape")
        await terminal.sees("again to interrupt")
        await terminal.press("Escape")
        await heard.wait("session.idle", 3)
        await terminal.sees("interrupted")


async def test_its_own_server_is_driven_by_the_python_client(tmp_path: Path, program: Path) -> None:
    home, folder = tmp_path / "home", tmp_path / "proj"
    (home / ".config" / "opencode").mkdir(parents=True)
    folder.mkdir()
    model = {"npm": "@ai-sdk/openai-compatible", "options": {"baseURL": "http://127.0.0.1:9"}, "models": {"m": {}}}
    settings = {"model": "nowhere/m", "provider": {"nowhere": model}, "autoupdate": False}
    (home / ".config" / "opencode" / "opencode.json").write_text(json.dumps(settings))
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), "OPENCODE_DISABLE_MODELS_FETCH": "1"}
    server = await asyncio.create_subprocess_exec(
        *(str(program), "serve", "--port", "0"), cwd=folder, env=environment, stdout=-1, stderr=-3
    )
    assert server.stdout is not None
    try:
        async with patience():
            while b"listening on" not in (line := await server.stdout.readline()):
                assert line, "it has ended"
            async with Client(line.decode().split()[-1], environment={}) as client:
                session = await client.create_session(title="from Python")
                opened = await RemoteProject.open(Client(client.address, environment={}))
                await opened.resume(session.id)
                events = opened.follow()
                body = {
                    "agent": "build",
                    "command": "echo from here",
                    "model": {"providerID": "nowhere", "modelID": "m"},
                }
                await client.send("POST", f"/session/{session.id}/shell", body)
                while not isinstance(event := await anext(events), PartUpdated) or not isinstance(event.part, ToolPart):
                    pass
                [call] = [call for one in await client.messages(session.id) for call in one.calls]
                assert isinstance(call.state, Completed)
                assert "from here" in call.state.output
                assert (await opened.rename(session.id, "other")).title == "other"
                assert session.id in [one.id for one in await opened.sessions(10)]
                assert {"build", "plan"} <= {agent.name for agent in await opened.agents()}
                await client.abort(session.id)
                await client.delete_session(session.id)
                with pytest.raises(ServerError):
                    await client.session(session.id)
                await opened.close()
    finally:
        server.kill()
        await server.wait()
