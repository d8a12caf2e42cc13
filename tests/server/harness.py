"""A server in this process on a port of its own, with a scripted model, and a client for it."""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.waiting import PATIENCE, patience
from toolwright.machine.own_ports import listen
from toolwright.models.model import Model
from toolwright.testing import ScriptedModel, make_workspace

pytest.importorskip("starlette", reason="the server's parts are an extra")
pytest.importorskip("uvicorn", reason="the server's parts are an extra")

from toolwright.app.server_secret import Secret
from toolwright.http_server.guard import Guard
from toolwright.http_server.uvicorn_server import Server
from toolwright.server.app import Application
from toolwright.server.running import ServerOptions, _hosts
from toolwright.server.serving import Serving, answered_later

TOKEN = "a-token-for-tests"


class Served:
    """The server, its address, and requests that bring the secret."""

    def __init__(self, url: str, serving: Serving, folder: Path) -> None:
        self.url, self.serving, self.folder = url, serving, folder
        self.client = httpx2.AsyncClient(
            base_url=url, headers={"authorization": f"Bearer {TOKEN}"}, timeout=PATIENCE, trust_env=False
        )

    async def get(self, path: str, **more: Any) -> Any:
        return await self.send("GET", path, **more)

    async def post(self, path: str, body: Any = None, **more: Any) -> Any:
        return await self.send("POST", path, json=body, **more)

    async def send(self, method: str, path: str, status: int = 200, **more: Any) -> Any:
        answer = await self.client.request(method, path, **more)
        assert answer.status_code == status, f"{method} {path}: {answer.status_code} {answer.text[:500]}"
        return answer.json() if answer.content.strip() else None

    async def session(self, **body: Any) -> str:
        made = await self.post("/session", body)
        return str(made["id"])

    def say(self, session_id: str, text: str, **more: Any) -> "asyncio.Task[Any]":
        body = {"parts": [{"type": "text", "text": text}], **more}
        return asyncio.create_task(self.post(f"/session/{session_id}/message", body))


class Heard:
    """Events of one stream, waited for by what they are."""

    def __init__(self) -> None:
        self.events: list[dict[str, Any]] = []
        self.news = asyncio.Condition()
        self.raw = b""

    async def wait(self, kind: str, number: int = 1) -> dict[str, Any]:
        def found() -> list[dict[str, Any]]:
            return [one for one in self.events if one.get("payload", one)["type"] == kind]

        async with patience(), self.news:
            await self.news.wait_for(lambda: len(found()) >= number)
        event: dict[str, Any] = found()[number - 1]
        return event

    @property
    def kinds(self) -> list[str]:
        return [one.get("payload", one)["type"] for one in self.events]


@asynccontextmanager
async def listening(served: Served, path: str = "/event", **headers: str) -> AsyncIterator[Heard]:
    heard = Heard()

    async def read() -> None:
        async with served.client.stream("GET", path, headers=headers, timeout=None) as answer:
            assert answer.status_code == 200
            rest = b""
            async for chunk in answer.aiter_bytes():
                heard.raw += chunk
                *frames, rest = (rest + chunk).split(b"\n\n")
                async with heard.news:
                    for frame in frames:
                        data = next(line[6:] for line in frame.split(b"\n") if line.startswith(b"data: "))
                        heard.events.append(json.loads(data))
                    heard.news.notify_all()

    task = asyncio.create_task(read())
    try:
        await heard.wait("server.connected")
        yield heard
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


@asynccontextmanager
async def served(
    folder: Path,
    *turns: Any,
    model: Model | None = None,
    config: dict[str, Any] | None = None,
    more_folders: Sequence[Path] = (),
    secret: Secret | None = Secret(value=TOKEN),  # noqa: B008 - a frozen record
    port: int = 0,
    after_kill: bool = False,
    trust: bool = True,
    **guarding: Any,
) -> AsyncIterator[Served]:
    """A server over a folder, whose model plays the turns."""
    folder.mkdir(exist_ok=True)
    chosen = model or ScriptedModel(*turns)

    def make(path: Path) -> Any:
        return make_workspace(
            path, model=chosen, config=config, user=answered_later, client="app", keep=True, trust=trust
        )

    made = listen("serve", "127.0.0.1", port)
    port = made.getsockname()[1]
    folders = [folder.resolve(), *(one.resolve() for one in more_folders)]
    page_key = secret.page_key() if secret else ""
    serving = Serving(folders, make, protected=secret is not None, page_key=page_key, after_kill=after_kill)
    options = ServerOptions(folders=folders, secret=secret, environment={})
    guard = Guard(secret=secret, hosts=_hosts(options, port), page_key=page_key, **guarding)
    server = Server(Application(serving, guard, quiet=True), sockets=True)
    running = asyncio.create_task(server.serve([made]))
    one = Served(f"http://127.0.0.1:{port}", serving, folder)
    try:
        yield one
    finally:
        await serving.end()
        server.should_exit = True
        await running
        await one.client.aclose()
