"""A project on a server that goes away and comes back, and that others use too."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.server.harness import TOKEN, Served, served
from tests.server.test_running import running
from tests.waiting import patience
from toolwright.app.server_secret import Secret, write_server_file
from toolwright.calls.parts import Failed, Pending, Running, ToolPart
from toolwright.client import Client
from toolwright.client.calls import ServerGone
from toolwright.client.remote import RemoteProject
from toolwright.events import Event, EventsMissed, PartUpdated, PermissionAsked, PermissionReplied
from toolwright.inbox import Reply
from toolwright.session.events import MessageUpdated, PartDelta, SessionIdle, SessionStatus
from toolwright.session.prompt import Prompt

ASK: dict[str, Any] = {"permission": {"bash": "ask"}}
RUN = {"tools": [{"name": "bash", "args": {"command": "true", "description": "Nothing"}}]}


@asynccontextmanager
async def remote(server: Served) -> AsyncIterator[RemoteProject]:
    made = await RemoteProject.open(Client(server.url, token=TOKEN))
    try:
        yield made
    finally:
        await made.close()


def port_of(server: Served) -> int:
    return urlsplit(server.url).port or 0


async def until(events: AsyncIterator[Event], kind: type[Event]) -> list[Event]:
    seen: list[Event] = []
    async with patience():
        async for event in events:
            seen.append(event)
            if isinstance(event, kind):
                return seen
    raise AssertionError(kind)


async def test_a_turn_that_a_stopped_server_broke_off_is_told_as_stopped_and_the_next_one_answered(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "p"
    async with served(folder, RUN, config=ASK) as server:
        port = port_of(server)
        opened = await RemoteProject.open(Client(server.url, token=TOKEN))
        events = opened.follow()
        session = await opened.begin()
        asking = asyncio.create_task(opened.prompt(session.id, Prompt(text="run it")))
        before = await until(events, PermissionAsked)
    lost = await until(events, PermissionReplied)
    async with served(folder, {"text": "Here again."}, port=port):
        async with patience():
            stopped = await asking
        assert stopped.error is not None
        assert stopped.error.kind == "aborted"
        async with patience():
            assert (await opened.prompt(session.id, Prompt(text="and now?"))).text == "Here again."
        after = await until(events, PartDelta)
        every = [*before, *lost, *after]
        prompts = [one.info.id for one in every if isinstance(one, MessageUpdated) and one.info.role == "user"]
        assert len(prompts) == len(set(prompts)) == 2
        assert not any(isinstance(one, EventsMissed) for one in every)
    await opened.close()


async def test_a_prompt_for_a_server_that_is_gone_is_answered_when_it_is_back(tmp_path: Path) -> None:
    folder = tmp_path / "p"
    async with served(folder) as server:
        port = port_of(server)
        opened = await RemoteProject.open(Client(server.url, token=TOKEN))
        session = await opened.begin()
    events = opened.follow()
    asking = asyncio.create_task(opened.prompt(session.id, Prompt(text="anybody?")))
    [*_, told] = await until(events, SessionStatus)
    assert isinstance(told, SessionStatus)
    assert "does not answer" in told.status["message"]
    async with served(folder, {"text": "Yes."}, port=port):
        async with patience():
            assert (await asking).text == "Yes."
        assert [one.text for one in await opened.messages(session.id)] == ["anybody?", "Yes."]
    await opened.close()


async def test_the_first_prompt_waits_for_a_server_that_is_gone_but_not_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "p"
    async with served(folder) as server:
        opened = await RemoteProject.open(Client(server.url, token=TOKEN))
    beginning = asyncio.create_task(opened.begin())
    async with served(folder, {"text": "Yes."}, port=port_of(server)), patience():
        session = await beginning
        assert (await opened.prompt(session.id, Prompt(text="anybody?"))).text == "Yes."
    monkeypatch.setattr("toolwright.client.remote.RESTART", 0)
    with pytest.raises(ServerGone, match="Is the server still running there"):
        await opened.begin()
    await opened.close()


async def test_waiting_for_a_server_that_is_gone_can_be_given_up(tmp_path: Path) -> None:
    async with served(tmp_path / "p") as server:
        opened = await RemoteProject.open(Client(server.url, token=TOKEN))
        session = await opened.begin()
    events = opened.follow()
    asking = asyncio.create_task(opened.prompt(session.id, Prompt(text="anybody?")))
    await until(events, SessionStatus)
    await opened.abort(session.id)
    with pytest.raises(ServerGone, match="could not be stopped"):
        async with patience():
            await asking
    await opened.close()


async def test_what_others_do_on_the_same_server_is_not_told_here(tmp_path: Path) -> None:
    async with (
        served(tmp_path / "p", RUN, {"text": "Theirs."}, {"text": "Mine."}, config=ASK) as server,
        remote(server) as mine,
        remote(server) as theirs,
    ):
        events, others = mine.follow(), theirs.follow()
        foreign, own = await theirs.begin(), await mine.begin()
        asking = asyncio.create_task(theirs.prompt(foreign.id, Prompt(text="run it")))
        [*_, asked] = await until(others, PermissionAsked)
        assert isinstance(asked, PermissionAsked)
        await theirs.reply(asked.id, Reply(kind="once"))
        assert (await asking).text == "Theirs."
        assert (await mine.prompt(own.id, Prompt(text="hello"))).text == "Mine."
        seen = await until(events, SessionIdle)
        assert not any(isinstance(one, PermissionAsked) for one in seen)
        assert {getattr(one, "session_id", own.id) for one in seen} == {own.id}


async def test_the_secret_of_a_server_that_was_started_anew_is_found(tmp_path: Path) -> None:
    home = {"HOME": str(tmp_path)}
    first, second = Secret(value="first", user="ann"), Secret(value="second", user="ann")
    async with served(tmp_path / "p", secret=first) as server:
        port = port_of(server)
        write_server_file(home, port, server.url, first)
        opened = await RemoteProject.open(Client(server.url, environment=home))
    write_server_file(home, port, server.url, second)
    async with served(tmp_path / "p", {"text": "Hello."}, secret=second, port=port):
        session = await opened.begin()
        async with patience():
            assert (await opened.prompt(session.id, Prompt(text="hi"))).text == "Hello."
    await opened.close()


@pytest.mark.slow
async def test_after_a_kill_in_a_turn_nothing_that_was_told_is_lost_or_told_twice(tmp_path: Path) -> None:
    async with running(tmp_path) as first:
        port = urlsplit(first.url).port
        opened = await RemoteProject.open(first.client())
        events = opened.follow()
        session = await opened.begin()
        asking = asyncio.create_task(opened.prompt(session.id, Prompt(text="wait")))
        told: list[Event] = []
        while not any(isinstance(state, Running) for state in states(told)):
            told += await until(events, PartUpdated)
        first.process.kill()
        await first.process.wait()
    async with running(tmp_path, "--port", str(port)):
        async with patience():
            stopped = await asking
        assert stopped.error is not None
        told += await until(events, SessionIdle)
        # A call may be told of again while it runs, with more than before.
        assert all(before != after for before, after in pairwise(states(told)))
        assert [kind for kind, _ in groupby(map(type, states(told))) if kind is not Pending] == [Running, Failed]
        prompts = [one for one in told if isinstance(one, MessageUpdated) and one.info.role == "user"]
        assert len(prompts) == 1
        assert [one.text for one in await opened.messages(session.id) if one.info.role == "user"] == ["wait"]
    await opened.close()


def states(told: list[Event]) -> list[Any]:
    return [one.part.state for one in told if isinstance(one, PartUpdated) and isinstance(one.part, ToolPart)]
