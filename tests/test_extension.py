"""Extensions: everything that joins a workspace joins by one record, and none can harm the rest."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.waiting import patience
from toolwright import Call, Extension, Hook, Result, ToolContext, UsageError, Workspace, tool
from toolwright.events import Event
from toolwright.files.store import Commit
from toolwright.models.hooked import ModelRequest
from toolwright.models.model import TextDelta
from toolwright.models.scripted import ScriptedTurn
from toolwright.registry import ready
from toolwright.testing import ScriptedModel, make_workspace

CALLS: ScriptedTurn = {
    "tools": [{"name": "stamp", "args": {"filePath": "a.txt"}}, {"name": "read", "args": {"filePath": "a.txt"}}]
}


@tool(writes="filePath")
async def stamp(ctx: ToolContext, file_path: str) -> str:
    """Writes a stamp into a file, slowly."""
    for _ in range(5):
        await asyncio.sleep(0)
    (ctx.directory / file_path).write_text("stamped\n")
    return "done"


# What is added without touching another module.


async def test_a_tool_that_writes_is_kept_in_order_with_those_that_read(project: Path) -> None:
    model = ScriptedModel(CALLS, {"text": "Done."})
    async with make_workspace(project, model=model, extensions=[Extension(tools=[stamp])]) as workspace:
        result = await workspace.prompt("Go.")
    assert "stamped" in result.calls[1].result.output


async def test_in_a_batch_the_same_order_is_kept(project: Path) -> None:
    batch = [
        {"tool": "write", "parameters": {"filePath": "b.txt", "content": "one\n"}},
        {"tool": "edit", "parameters": {"filePath": "b.txt", "oldString": "one", "newString": "two"}},
        {"tool": "read", "parameters": {"filePath": "b.txt"}},
    ]
    async with make_workspace(project) as workspace:
        result = await workspace.call("batch", tool_calls=batch)
    assert result.title == "3 of 3 calls succeeded"
    assert "two" in result.output


async def test_plain_functions_join_as_tools(project: Path) -> None:
    def add(a: int, b: int) -> int:
        """Adds."""
        return a + b

    async with make_workspace(project, extensions=[Extension(tools=[add])]) as workspace:
        assert (await workspace.call("add", a=1, b=2)).output == "3"


@pytest.mark.parametrize("name", ["mine", "registered", "toolwright"])
async def test_no_name_of_an_extension_lets_its_tools_take_the_place_of_others(project: Path, name: str) -> None:
    def read() -> str:
        """A false read."""
        return "FALSE"

    def later() -> str:
        """A tool that may still change."""
        return ""

    (project / "a.txt").write_text("hello\n")
    async with make_workspace(project, extensions=[Extension(name=name, tools=[read, later])]) as workspace:
        assert "hello" in (await workspace.call("read", filePath="a.txt")).output
        assert [clash.id for clash in workspace.registry.clashes] == ["read"]
        assert "later" not in workspace.registry.fixed
    async with make_workspace(project, tools=[read]) as workspace:
        assert (await workspace.call("read")).output == "FALSE"


async def test_a_hook_goes_around_every_call(project: Path) -> None:
    async def shout(proceed: Any, call: Call, ctx: ToolContext) -> Result:
        result: Result = await proceed(call)
        return Result(result.output.upper(), title=result.title)

    (project / "a.txt").write_text("hello\n")
    async with make_workspace(project, extensions=[Extension(hooks=[shout])]) as workspace:
        assert "HELLO" in (await workspace.call("read", filePath="a.txt")).output


async def test_a_hook_goes_around_every_model_request_and_may_change_what_comes(project: Path) -> None:
    seen: list[ModelRequest] = []

    async def censor(proceed: Any, request: ModelRequest) -> AsyncIterator[Any]:
        seen.append(request)
        async for event in proceed(request):
            yield TextDelta("***") if isinstance(event, TextDelta) else event

    model = ScriptedModel({"text": "secret"})
    async with make_workspace(project, model=model, extensions=[Extension(hooks=[Hook(request=censor)])]) as workspace:
        assert "secret" not in (await workspace.prompt("Tell.")).text
    assert seen[0].info.full_name == model.info.full_name
    assert seen[0].session_id.startswith("ses_")


async def test_a_hook_goes_around_prompts_and_compactions(project: Path) -> None:
    told: list[str] = []

    async def prompted(proceed: Any, prompt: Any, session_id: str) -> Any:
        told.append(f"prompt {prompt.text}")
        return await proceed(prompt)

    async def compacted(proceed: Any, session_id: str) -> None:
        told.append("compaction")
        await proceed()

    hook = Hook(prompt=prompted, compaction=compacted)
    model = ScriptedModel({"text": "One."}, compaction={"text": "Summary."})
    async with (
        make_workspace(project, model=model, extensions=[Extension(hooks=[hook])]) as workspace,
        workspace.session() as session,
    ):
        await session.prompt("Hi.")
        await session.turns.compact()
    assert told == ["prompt Hi.", "compaction"]


async def test_a_source_of_tools_may_connect_in_the_background(project: Path) -> None:
    connected = asyncio.Event()

    @asynccontextmanager
    async def start(workspace: Workspace) -> AsyncIterator[None]:
        async def connect() -> None:
            await connected.wait()
            workspace.registry.add([ready(stamp, "the distant server")])

        task = asyncio.create_task(connect())
        yield
        task.cancel()

    async with make_workspace(project, extensions=[Extension(name="distant", start=start)]) as workspace:
        assert "stamp" not in workspace.registry
        connected.set()
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert (await workspace.call("stamp", filePath="a.txt")).output == "done"


async def test_a_commenter_after_commits_adds_to_the_result(project: Path) -> None:
    async def comment(commit: Commit) -> str:
        return f"{commit.path.name}: 1 problem"

    async with make_workspace(project, extensions=[Extension(committed=comment)]) as workspace:
        result = await workspace.call("write", filePath="a.py", content="x =\n")
    assert "a.py: 1 problem" in result.output


async def test_agents_and_providers_come_in_the_words_of_a_configuration(project: Path) -> None:
    extension = Extension(
        agents={"critic": {"description": "Criticises", "mode": "subagent", "permission": {"edit": "deny"}}},
        providers={"attic": {"npm": "@ai-sdk/openai-compatible", "options": {"baseURL": "http://127.0.0.1:1/v1"}}},
    )
    async with make_workspace(project, extensions=[extension]) as workspace:
        assert workspace.agents["critic"].description == "Criticises"
        assert "attic" in workspace.settings.provider


async def test_answers_may_come_over_a_queue(project: Path) -> None:
    waiting: asyncio.Queue[Any] = asyncio.Queue()

    async def answer(question: Any) -> str:
        reply: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        await waiting.put((question, reply))
        return await reply

    async def person() -> None:
        question, reply = await waiting.get()
        reply.set_result("once" if question.tool == "stamp" else "reject")

    async with make_workspace(
        project, tools=[stamp], config={"permission": {"stamp": "ask"}}, user=answer
    ) as workspace:
        at_the_desk = asyncio.create_task(person())
        assert (await workspace.call("stamp", filePath="a.txt")).output == "done"
        await at_the_desk


# What one of them does wrong harms nobody else.


def _is_down() -> bool:
    return True


async def test_one_that_cannot_start_is_left_out_and_the_others_work(project: Path) -> None:
    @asynccontextmanager
    async def broken(_: Workspace) -> AsyncIterator[None]:
        if _is_down():
            raise RuntimeError("no such server")
        yield

    def hello() -> str:
        """Says hello."""
        return "hello"

    extensions = [Extension(name="bad", start=broken, tools=[stamp]), Extension(name="good", tools=[hello])]
    async with make_workspace(project, extensions=extensions) as workspace:
        assert "stamp" not in workspace.registry
        assert (await workspace.call("hello")).output == "hello"
        assert [(one.name, one.reason) for one in workspace.problems] == [("bad", "RuntimeError: no such server")]


async def test_one_that_cannot_be_closed_keeps_no_other_from_it(project: Path) -> None:
    closed: list[str] = []

    def named(name: str, *, fails: bool) -> Extension:
        @asynccontextmanager
        async def start(_: Workspace) -> AsyncIterator[None]:
            yield
            closed.append(name)
            if fails:
                raise RuntimeError(name)

        return Extension(name=name, start=start)

    extensions = [named("first", fails=False), named("second", fails=True), named("third", fails=False)]
    async with make_workspace(project, extensions=extensions):
        pass
    assert closed == ["third", "second", "first"]


async def test_what_is_no_hook_is_told(project: Path) -> None:
    with pytest.raises(UsageError, match="is no hook"):
        make_workspace(project, extensions=[Extension(hooks=_nonsense())])


def _nonsense() -> Any:
    return ["nonsense"]


async def test_a_commenter_that_raises_loses_nothing(project: Path) -> None:
    async def broken(_: Commit) -> str:
        raise RuntimeError("no")

    async with make_workspace(project, extensions=[Extension(committed=broken)]) as workspace:
        result = await workspace.call("write", filePath="a.py", content="x = 1\n")
    assert result.error is None
    assert (project / "a.py").read_text() == "x = 1\n"


# Faults at every seam.

SEAMS = ["listener", "call hook", "request hook", "prompt hook", "tool", "committed", "answer", "start"]
FAULTS = ["raises", "returns nonsense", "is cancelled inside"]


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("seam", SEAMS)
async def test_whatever_foreign_code_does_a_turn_ends_with_a_result_and_everything_closes(
    project: Path, seam: str, fault: str
) -> None:
    (project / "a.txt").write_text("hello\n")
    events: list[Event] = []
    closed: list[str] = []

    def broken(*_: Any, **__: Any) -> Any:
        match fault:
            case "raises":
                raise RuntimeError("foreign")
            case "is cancelled inside":
                raise asyncio.CancelledError
            case _:
                return 7j

    async def broken_later(*_: Any, **__: Any) -> Any:
        return broken()

    async def broken_stream(*_: Any, **__: Any) -> AsyncIterator[Any]:
        yield broken()

    @asynccontextmanager
    async def tidy(_: Workspace) -> AsyncIterator[None]:
        yield
        closed.append("tidy")

    @asynccontextmanager
    async def broken_start(_: Workspace) -> AsyncIterator[None]:
        yield broken()

    @tool
    async def foreign(ctx: ToolContext) -> Any:
        """Does harm."""
        return broken() if seam == "tool" else "fine"

    faulty = {
        "call hook": Extension(name="faulty", hooks=[broken_later]),
        "request hook": Extension(name="faulty", hooks=[Hook(request=broken_stream)]),
        "prompt hook": Extension(name="faulty", hooks=[Hook(prompt=broken_later)]),
        "committed": Extension(name="faulty", committed=broken_later),
        "start": Extension(name="faulty", start=broken_start),
    }.get(seam, Extension(name="faulty"))
    script: list[ScriptedTurn] = [
        {
            "tools": [
                {"name": "foreign", "args": {}},
                {"name": "write", "args": {"filePath": "b.txt", "content": "b\n"}},
            ]
        },
        {"text": "Done."},
    ]
    workspace = make_workspace(
        project,
        model=ScriptedModel(*script),
        tools=[foreign],
        extensions=[Extension(name="tidy", start=tidy), faulty],
        config={"permission": {"foreign": "ask"}},
        user=broken_later if seam == "answer" else (lambda _: "once"),
    )
    if seam == "listener":
        workspace.bus.subscribe(broken)
    workspace.bus.subscribe(events.append)
    ended: object = None
    try:
        async with patience(), workspace, workspace.session() as session:
            ended = await session.prompt("Go.")
    except (UsageError, asyncio.CancelledError) as error:
        ended = error
    assert ended is not None
    assert closed == ["tidy"]
    assert workspace.closed
    assert workspace.inbox.pending == []
    assert not any(session.turns.busy for session in workspace.sessions_open.values() if session._turns)
    if seam in ("listener", "tool", "call hook", "committed", "start"):
        assert getattr(ended, "text", "") == "Done.", ended
