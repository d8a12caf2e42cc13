"""A folder opened as a workspace: everything wired, nothing shared, nothing left behind."""

import asyncio
import json
import os
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from tests.waiting import patience
from toolwright import open_workspace
from toolwright.config.content import content_of
from toolwright.config.trust import Trust
from toolwright.definition import Call, Result, ToolContext, tool
from toolwright.errors import ConfigError, UsageError
from toolwright.extension import Extension
from toolwright.hooks import pair
from toolwright.machine.folders import Folders
from toolwright.testing import ScriptedModel, make_workspace
from toolwright.workspace import Workspace


@tool
async def echo(ctx: ToolContext, text: str) -> str:
    """Says it."""
    return f"{ctx.session_id}: {text}"


async def test_a_folder_is_opened_and_a_tool_called_in_two_lines(project: Path, tmp_path: Path) -> None:
    (project / "a.py").write_text("print(1)\n")
    async with open_workspace(project, environment={"HOME": str(tmp_path / "home")}) as workspace:
        result = await workspace.call("read", filePath="a.py")
    assert "print(1)" in result.output


async def test_calls_of_a_workspace_share_one_session(project: Path) -> None:
    workspace = make_workspace(project, tools=[echo])
    one = await workspace.call("echo", text="a")
    two = await workspace.call("echo", text="b")
    assert one.output.partition(":")[0] == two.output.partition(":")[0]
    assert workspace.session().id != one.output.partition(":")[0]


async def test_without_somebody_to_ask_a_question_is_refused_at_once(project: Path, tmp_path: Path) -> None:
    environment = {"HOME": str(tmp_path / "home"), "TOOLWRIGHT_PERMISSION": '{"echo": "ask"}'}
    async with open_workspace(project, environment=environment, tools=[echo]) as workspace, patience():
        result = await workspace.call("echo", text="a")
    assert result.error is not None
    assert result.error.kind == "rejected"


async def test_a_read_in_one_session_does_not_count_for_another(project: Path) -> None:
    (project / "a.txt").write_text("one\n")
    workspace = make_workspace(project)
    reader, stranger = workspace.session(), workspace.session()
    await reader.run_call(Call(id="call_1", tool="read", arguments={"filePath": "a.txt"}))
    write = Call(id="call_2", tool="write", arguments={"filePath": "a.txt", "content": "two\n"})
    refused = await stranger.run_call(write)
    assert refused.error is not None
    assert refused.error.kind == "unread"
    assert (project / "a.txt").read_text() == "one\n"
    assert (await reader.run_call(write)).error is None


async def test_two_workspaces_in_one_process_know_nothing_of_each_other(tmp_path: Path) -> None:
    folders = [tmp_path / name for name in ("one", "two")]
    for folder in folders:
        folder.mkdir()
        (folder / "name.txt").write_text(folder.name)
    one, two = (make_workspace(folder) for folder in folders)
    events: list[Any] = []
    one.bus.subscribe(events.append)
    results = await asyncio.gather(*(one_of.call("read", filePath="name.txt") for one_of in (one, two)))
    assert ["one" in results[0].output, "two" in results[1].output] == [True, True]
    assert {event.part.session_id for event in events} == {events[0].part.session_id}


async def test_a_change_of_a_file_is_told_on_the_bus(project: Path) -> None:
    workspace = make_workspace(project)
    events: list[Any] = []
    workspace.bus.subscribe(events.append)
    await workspace.call("write", filePath="new.txt", content="x")
    told = [event.to_json() for event in events if event.type.startswith("file.")]
    path = str(project.resolve() / "new.txt")
    assert told == [
        {"type": "file.edited", "properties": {"file": path}},
        {"type": "file.watcher.updated", "properties": {"file": path, "event": "add"}},
    ]


async def test_hooks_of_a_workspace_are_around_every_call_of_every_agent(project: Path) -> None:
    seen: list[tuple[str, str]] = []

    async def after(call: Call, result: Result, ctx: ToolContext) -> None:
        seen.append((ctx.agent, call.tool))

    workspace = make_workspace(project, tools=[echo], hooks=[pair(after=after)])
    parent = workspace.session("build")
    child = workspace.session("general", parent=parent)
    for session in (parent, child):
        await session.run_call(Call(id="call_1", tool="echo", arguments={"text": "x"}))
    assert seen == [("build", "echo"), ("general", "echo")]


async def test_sessions_are_kept_only_when_asked_to_and_every_thread_ends(project: Path) -> None:
    workspace = make_workspace(project, tools=[echo], keep=True)
    await workspace.call("echo", text="a")
    await workspace.close()
    assert workspace.folders.database.exists()
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("toolwright")]
    other = project.parent / "other"
    other.mkdir()
    forgetful = make_workspace(other, tools=[echo])
    await forgetful.call("echo", text="a")
    await forgetful.close()
    assert not forgetful.folders.database.exists()


async def test_one_service_that_cannot_be_closed_keeps_no_other_from_it(project: Path) -> None:
    closed: list[str] = []

    class Plain:
        def close(self) -> None:
            closed.append("plain")

    class Broken:
        def close(self) -> None:
            raise RuntimeError("no")

    class Awaited:
        async def close(self) -> None:
            closed.append("awaited")

    workspace = make_workspace(project)
    for service in (Plain(), Broken(), Awaited()):
        workspace.closing(service)
    await workspace.close()
    assert closed == ["awaited", "plain"], "in reverse, all of them"


def test_a_service_nobody_offers_is_named_in_the_error(project: Path) -> None:
    class Missing: ...

    with pytest.raises(UsageError, match=r"offers no .*Missing"):
        make_workspace(project).use(Missing)


async def test_old_overflow_files_go_when_a_workspace_closes(project: Path) -> None:
    workspace = make_workspace(project)
    old = workspace.truncator.keep("old")
    os.utime(old, (0, 0))
    await workspace.close()
    assert not old.exists()


def test_a_folder_that_is_not_one_is_refused(project: Path) -> None:
    (project / "file").write_text("")
    for name in ("file", "missing"):
        with pytest.raises(UsageError, match=f"{name} is not a folder"):
            make_workspace(project / name)


def test_a_mistake_in_the_configuration_stops_everything_before_it_starts(project: Path) -> None:
    (project / "toolwright.json").write_text(json.dumps({"permission": {"bash": "maybe"}}))
    with pytest.raises(ConfigError, match=r"toolwright\.json:1: permission\.bash"):
        make_workspace(project)


@pytest.mark.parametrize("how", ["argument", "variable", "file"])
def test_trust_is_given_in_three_ways(project: Path, how: str) -> None:
    (project / "toolwright.json").write_text('{"permission": {"read": {"*.env": "allow"}}}')
    environment = {"TOOLWRIGHT_TRUST": "1"} if how == "variable" else {}
    if how == "file":
        folders = Folders.of({"HOME": str(project.parent / "project.home")})
        Trust(folders.trust).add(content_of(project, folders))
    workspace = make_workspace(project, trust=how == "argument", environment=environment)
    assert workspace.trusted
    assert workspace.session().ruled_agent.decide("read", ".env") == "allow"


def test_without_trust_a_project_forbids_and_does_not_allow(project: Path) -> None:
    (project / "opencode.json").write_text('{"permission": {"read": {"*.env": "allow"}, "bash": "deny"}}')
    workspace = make_workspace(project, trust=False)
    assert not workspace.trusted
    assert workspace.session().ruled_agent.decide("read", ".env") == "deny"
    assert "bash" not in workspace.session().offered()


async def test_a_close_that_is_cancelled_ends_everything_all_the_same(project: Path) -> None:
    begun, released, ended = asyncio.Event(), asyncio.Event(), asyncio.Event()

    @tool
    async def deaf(ctx: ToolContext) -> str:
        """Heed nothing."""
        while not released.is_set():
            begun.set()
            with suppress(asyncio.CancelledError):
                await released.wait()
        return "done"

    @asynccontextmanager
    async def start(_: Workspace) -> AsyncIterator[None]:
        yield
        ended.set()

    model = ScriptedModel({"tools": [{"name": "deaf", "args": {}}]}, {"text": "Done."})
    extension = Extension(name="one", start=start)
    workspace = await make_workspace(project, model=model, tools=[deaf], extensions=[extension]).__aenter__()
    turn = asyncio.create_task(workspace.prompt("Go."))
    async with patience():
        await begun.wait()
        closing = asyncio.create_task(workspace.close())
        await asyncio.sleep(0)
        closing.cancel()
        await asyncio.gather(closing, return_exceptions=True)
        assert ended.is_set()
        assert workspace.closed
        released.set()
        await asyncio.gather(turn, return_exceptions=True)
