"""The Python client against a server of our own."""

import asyncio
from pathlib import Path

import pytest

from tests.server.harness import TOKEN, listening, served
from toolwright.client import Client, ServerError, SyncClient


async def test_a_python_program_holds_a_session(tmp_path: Path) -> None:
    write = {"tools": [{"name": "write", "args": {"filePath": "new.txt", "content": "x\n"}}]}
    async with (
        served(tmp_path / "p", write, {"text": "Written."}, config={"permission": {"edit": "ask"}}) as server,
        Client(server.url, token=TOKEN) as client,
        listening(server) as heard,
    ):
        session = await client.create_session(title="from python")
        answering = asyncio.create_task(client.prompt(session.id, "write it"))
        await heard.wait("permission.asked")
        [asked] = await client.permissions()
        await client.reply(asked["id"], "once")
        message = await answering
        assert message.text == "Written."
        assert (tmp_path / "p" / "new.txt").read_text() == "x\n"
        messages = await client.messages(session.id)
        assert (await client.revert(session.id, messages[0].info.id)).revert is not None
        assert not (tmp_path / "p" / "new.txt").exists()
        assert (await client.unrevert(session.id)).revert is None
        assert [one.id for one in await client.sessions(search="python")] == [session.id]
        await client.delete_session(session.id)
        with pytest.raises(ServerError, match="no session") as refused:
            await client.session(session.id)
        assert refused.value.status == 404


async def test_events_come_as_they_happen(tmp_path: Path) -> None:
    async with served(tmp_path / "p") as server, Client(server.url, token=TOKEN) as client:
        events = client.events()
        assert (await anext(events))["type"] == "server.connected"
        made = await client.create_session()
        assert (await anext(events))["properties"]["info"]["id"] == made.id


async def test_a_wrong_secret_is_one_sentence(tmp_path: Path) -> None:
    async with served(tmp_path / "p") as server, Client(server.url, token="wrong") as client:
        with pytest.raises(ServerError, match="secret"):
            await client.sessions()


async def test_a_script_need_not_await(tmp_path: Path) -> None:
    async with served(tmp_path / "p", {"text": "Hello."}) as server:

        def script() -> str:
            with SyncClient(f"{server.url}/k-{TOKEN}") as client:
                return client.prompt(client.create_session().id, "hi").text

        assert await asyncio.to_thread(script) == "Hello."
