"""What no editor should send, and how editors should not end: one clear error each, and nothing left running."""

import asyncio
import json
import os
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.acp.harness import READ, call
from tests.acp.place import COMMAND, Place
from tests.waiting import patience, until

pytestmark = pytest.mark.slow

OK = {"text": "Done."}
SLEEP = call("bash", command="echo $$ > pid; exec sleep 600")
LIMIT = 128 * 1024 * 1024


class Line:
    """A conversation in lines, without any library in between."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.heard: list[Any] = []

    async def send(self, line: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + b"\n")
        await self.process.stdin.drain()

    async def next(self) -> Any:
        """The next that is no update."""
        assert self.process.stdout is not None
        while True:
            self.heard.append(json.loads(await self.process.stdout.readline()))
            if self.heard[-1].get("method") != "session/update":
                return self.heard[-1]

    async def ask(self, method: str, params: Any, name: Any = 1) -> Any:
        await self.send(json.dumps({"jsonrpc": "2.0", "id": name, "method": method, "params": params}).encode())
        return await self.next()

    async def session(self, folder: Path) -> str:
        await self.ask("initialize", {"protocolVersion": 1})
        made = await self.ask("session/new", {"cwd": str(folder), "mcpServers": []})
        return str(made["result"]["sessionId"])


@asynccontextmanager
async def started(place: Place) -> AsyncIterator[Line]:
    process = await asyncio.create_subprocess_exec(
        *COMMAND, cwd=place.folder, env=place.environment, stdin=-1, stdout=-1, stderr=-3, limit=LIMIT
    )
    try:
        async with patience():
            yield Line(process)
    finally:
        if process.returncode is None:
            process.kill()
        assert process.stdin is not None
        process.stdin.close()
        await process.wait()


def prompt(session: str, text: str = "go") -> Any:
    return {"sessionId": session, "prompt": [{"type": "text", "text": text}]}


async def test_each_mistake_gets_one_clear_error_and_the_program_goes_on(tmp_path: Path) -> None:
    place = Place(tmp_path, OK)
    async with started(place) as line:
        session = await line.session(place.folder)
        dice = random.Random(7)
        for _ in range(20):
            await line.send(bytes(dice.choice(range(11, 256)) for _ in range(40)) + b"{")
            assert (await line.next())["error"]["code"] == -32700
        for mistake, code in (
            (b"[" * 100_000, -32700),
            (b"7", -32600),
            (b'"text"', -32600),
            (b'{"jsonrpc":"2.0"}', -32600),
            (b'{"jsonrpc":"2.0","id":[1],"method":"session/new","params":{}}', -32600),
            (b'{"jsonrpc":"2.0","id":1,"method":5,"params":{}}', -32600),
        ):
            await line.send(mistake)
            answer = await line.next()
            assert (answer["id"], answer["error"]["code"]) == (None, code), mistake[:60]
        mistakes: tuple[tuple[str, Any, int], ...] = (
            ("session/prompt", None, -32002),
            ("session/prompt", [], -32002),
            ("session/prompt", [session], -32602),
            ("session/prompt", "text", -32602),
            ("session/prompt", {"sessionId": session}, -32602),
            ("session/prompt", {"sessionId": session, "prompt": "text"}, -32602),
            ("session/prompt", {"sessionId": session, "prompt": []}, -32602),
            ("session/prompt", {"sessionId": session, "prompt": [7]}, -32602),
            ("session/prompt", {"sessionId": session, "prompt": [{"type": "text", "text": 7}]}, -32602),
            ("session/prompt", {"sessionId": session, "prompt": [{"type": "audio", "data": ""}]}, -32602),
            (
                "session/prompt",
                {"sessionId": session, "prompt": [{"type": "image", "mimeType": "image/png", "data": "%%"}]},
                -32602,
            ),
            ("session/prompt", {"sessionId": session, "prompt": [{"type": "image", "data": 5}]}, -32602),
            ("session/prompt", {"sessionId": session, "prompt": [{"type": "resource", "resource": {}}]}, -32602),
            ("session/prompt", {"sessionId": session, "prompt": [{"type": "resource_link"}]}, -32602),
            ("session/prompt", prompt("ses_nope"), -32002),
            ("session/prompt", prompt("../../x"), -32002),
            ("session/prompt", {"sessionId": 5, "prompt": [{"type": "text", "text": "x"}]}, -32002),
            ("session/load", {"sessionId": "ses_nope", "cwd": str(place.folder), "mcpServers": []}, -32002),
            ("session/close", {"sessionId": "ses_nope"}, -32002),
            ("session/delete", {"sessionId": "ses_nope"}, -32002),
            ("session/set_mode", {"sessionId": "ses_nope", "modeId": "plan"}, -32002),
            ("session/set_mode", {"sessionId": session, "modeId": ["plan"]}, -32602),
            ("session/set_model", {"sessionId": session, "modelId": None}, -32602),
            ("session/set_config_option", {"sessionId": session, "configId": "variant", "value": "most"}, -32602),
            ("session/new", {"cwd": "relative", "mcpServers": []}, -32602),
            ("session/new", {"cwd": 5, "mcpServers": []}, -32602),
            ("session/new", {"cwd": "/no/such/folder", "mcpServers": []}, -32602),
            ("session/new", {"cwd": str(place.folder), "mcpServers": {"a": 1}}, -32602),
            ("session/new", {"cwd": str(place.folder), "mcpServers": [{"name": "a"}]}, -32602),
            ("session/new", {"cwd": str(place.folder), "mcpServers": [{"type": "sse", "name": "a"}]}, -32602),
            ("session/list", {"cursor": "zz"}, -32602),
            ("_vendor/thing", {}, -32601),
            ("session/nothing", {}, -32601),
            ("x" * 5000, {}, -32601),
        )
        for number, (method, params, code) in enumerate(mistakes, 100):
            answer = await line.ask(method, params, number)
            assert (answer["id"], answer["error"]["code"]) == (number, code), (method, params, answer)
            assert 0 < len(answer["error"]["message"]) < 400
            assert "broke" not in answer["error"]["message"]
        for stray in ({"method": "nobody/knows"}, {"method": "session/cancel", "params": 7}, {"id": 99, "result": 1}):
            await line.send(json.dumps(stray).encode())
        large = "x" * (8 * 1024 * 1024)
        assert (await line.ask("session/nothing", {"large": large}, 200))["error"]["code"] == -32601
        assert (await line.ask("session/prompt", prompt(session), 201))["result"]["stopReason"] == "end_turn"


async def test_a_line_beyond_all_bounds_is_refused_and_ends_the_program(tmp_path: Path) -> None:
    place = Place(tmp_path, OK)
    async with started(place) as line:
        await line.session(place.folder)
        assert line.process.stdin is not None
        piece = b"x" * 1024 * 1024
        try:
            for _ in range(70):
                line.process.stdin.write(piece)
                await line.process.stdin.drain()
        except ConnectionError:
            pass  # it has stopped reading
        assert (await line.next())["error"]["code"] == -32700
        assert await line.process.wait() == 0


async def test_a_second_prompt_is_refused_while_the_first_is_answered(tmp_path: Path) -> None:
    place = Place(tmp_path, SLEEP, OK, permission="allow")
    async with started(place) as line:
        session = await line.session(place.folder)
        for number in (1, 2):
            body = {"jsonrpc": "2.0", "id": number, "method": "session/prompt", "params": prompt(session)}
            await line.send(json.dumps(body).encode())
        answer = await line.next()
        assert (answer["id"], answer["error"]["code"]) == (2, -32600)
        await line.send(json.dumps({"method": "session/cancel", "params": {"sessionId": session}}).encode())
        assert (await line.next())["result"]["stopReason"] == "cancelled"


async def at_work(line: Line, place: Place, session: str) -> int:
    body = {"jsonrpc": "2.0", "id": 5, "method": "session/prompt", "params": prompt(session)}
    await line.send(json.dumps(body).encode())
    pid = place.folder / "pid"
    await until(lambda: pid.exists() and pid.read_text().strip())
    return int(pid.read_text())


def gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return b"\nState:\tZ" in Path(f"/proc/{pid}/status").read_bytes() if Path("/proc").exists() else False


async def test_an_editor_that_is_gone_in_a_turn_leaves_nothing_running(tmp_path: Path) -> None:
    place = Place(tmp_path, SLEEP, OK, permission="allow")
    async with started(place) as line:
        pid = await at_work(line, place, await line.session(place.folder))
        assert line.process.stdin is not None
        line.process.stdin.close()
        assert await line.process.wait() == 0
        await until(lambda: gone(pid))


async def test_after_our_own_death_the_session_is_loaded_whole(tmp_path: Path) -> None:
    place = Place(tmp_path, {"text": "I look.", **READ}, SLEEP, OK, permission="allow")
    async with started(place) as line:
        session = await line.session(place.folder)
        pid = await at_work(line, place, session)
        line.process.kill()
        await line.process.wait()
        await until(lambda: gone(pid))
    place.say(OK)
    async with started(place) as line:
        await line.ask("initialize", {"protocolVersion": 1})
        named = {"sessionId": session, "cwd": str(place.folder), "mcpServers": []}
        assert "modes" in (await line.ask("session/load", named))["result"]
        updates = [one["params"]["update"] for one in line.heard if one.get("method") == "session/update"]
        calls = [one for one in updates if one["sessionUpdate"] == "tool_call_update"]
        assert [(one["title"], one["status"]) for one in calls] == [
            ("Read a.py", "completed"),
            (SLEEP["tools"][0]["args"]["command"], "failed"),
        ]
        assert updates[0]["content"]["text"] == "go"
        assert "I look." in [one["content"]["text"] for one in updates if "chunk" in one["sessionUpdate"]]
        assert (await line.ask("session/prompt", prompt(session)))["result"]["stopReason"] == "end_turn"
