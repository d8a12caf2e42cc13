"""Tools that take their time: limits, another try, what they yield on the way, and what a program gives them."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Generator, Iterator
from pathlib import Path
from typing import Any, Protocol

import pytest

from toolwright import Attachment, Result, ToolContext, ToolError, UsageError, Workspace, open_workspace, tool
from toolwright.calls.parts import Running, ToolPart
from toolwright.events import PartUpdated
from toolwright.testing import make_workspace


class Shop:
    name = "tea"


class Named(Protocol):
    name: str


def shown(workspace: Workspace) -> list[str]:
    """What is shown of calls under way, from now on."""
    outputs = list[str]()

    def note(event: object) -> None:
        match event:
            case PartUpdated(part=ToolPart(state=Running(metadata={"output": str(text)}))):
                outputs.append(text)

    workspace.bus.subscribe(note)
    return outputs


def _is_progress(event: object) -> bool:
    match event:
        case PartUpdated(part=ToolPart(state=Running(metadata={"output": str()}))):
            return True
    return False


@tool(timeout=0.05)
async def sleeper() -> str:
    """Sleeps."""
    await asyncio.Event().wait()
    return "awake"


async def test_a_tool_that_takes_longer_than_it_may_is_stopped(project: Path) -> None:
    async with make_workspace(project, tools=[sleeper]) as workspace:
        result = await workspace.call("sleeper")
    assert result.error is not None
    assert (result.error.kind, result.output) == ("timeout", "sleeper took longer than 0.05 s and was stopped.")


async def test_a_time_limit_of_the_tools_own_is_no_other_than_that(project: Path) -> None:
    @tool(timeout=60)
    def fetch() -> str:
        """Fetches."""
        raise TimeoutError("the server is slow")

    async with make_workspace(project, tools=[fetch]) as workspace:
        result = await workspace.call("fetch")
    assert result.output == "fetch broke: TimeoutError: the server is slow"


@pytest.mark.parametrize(
    ("fault", "tries", "kind"),
    [
        (lambda: OSError("gone"), 3, "crash"),
        (lambda: ToolError("The server is away.", "network"), 3, "network"),
        (lambda: ToolError("There is no such article.", "not_found"), 1, "not_found"),
        (lambda: UsageError("a mistake"), 1, "crash"),
    ],
)
async def test_a_tool_that_breaks_is_run_again_as_often_as_it_may(
    project: Path, fault: Callable[[], Exception], tries: int, kind: str
) -> None:
    calls = list[int]()

    @tool(retries=2)
    def order(article: str) -> str:
        """Orders."""
        calls.append(1)
        raise fault()

    async with make_workspace(project, tools=[order]) as workspace:
        result = await workspace.call("order", article="tea")
    assert len(calls) == tries
    assert result.error is not None
    assert result.error.kind == kind


async def test_a_try_that_works_out_is_the_result(project: Path) -> None:
    faults = [OSError("gone"), OSError("gone")]

    @tool(retries=2)
    async def order() -> str:
        """Orders."""
        if faults:
            raise faults.pop()
        return "ordered"

    async with make_workspace(project, tools=[order]) as workspace:
        assert (await workspace.call("order")).output == "ordered"


def plain(n: int) -> Iterator[str]:
    """Counts."""
    for i in range(n):
        yield f"{i + 1} of {n}"


def returning(n: int) -> Generator[str, None, dict[str, int]]:
    """Counts."""
    yield from plain(n)
    return {"count": n}


async def awaited(n: int) -> AsyncIterator[Result]:
    """Counts."""
    for text in plain(n):
        yield Result(text, title=f"Counting: {text}")


class Counter:
    def __call__(self, n: int) -> Iterator[str]:
        """Counts."""
        yield from plain(n)


@pytest.mark.parametrize(
    ("function", "last"),
    [(plain, "2 of 2"), (returning, '{"count": 2}'), (awaited, "2 of 2"), (Counter(), "2 of 2")],
)
async def test_what_a_tool_yields_is_shown_and_the_last_of_it_is_the_result(
    project: Path, function: Callable[..., Any], last: str
) -> None:
    async with make_workspace(project, tools=[tool(id="count")(function)]) as workspace:
        outputs = shown(workspace)
        assert (await workspace.call("count", n=2)).output == last
    assert outputs == ["1 of 2", "2 of 2"]


async def test_a_tool_that_yields_ends_with_its_call(project: Path) -> None:
    ended = threading.Event()
    going_on = threading.Event()

    @tool
    def count() -> Iterator[str]:
        """Counts."""
        try:
            yield "one"
            going_on.wait(30)
            yield "two"
            raise AssertionError("nobody waits for more")
        finally:
            ended.set()

    async with make_workspace(project, tools=[count]) as workspace:
        events = workspace.bus.follow(_is_progress)
        call = asyncio.create_task(workspace.call("count"))
        await anext(events)
        call.cancel()
        await asyncio.wait([call])
        going_on.set()
        assert await asyncio.to_thread(ended.wait, 30)


async def test_a_tool_gets_what_the_program_gives_it(project: Path) -> None:
    def sell(ctx: ToolContext[Shop], article: str) -> str:
        """Sells."""
        return f"{ctx.deps.name}: {article}"

    def nearly(ctx: ToolContext[Named]) -> str:
        """Names."""
        return ctx.deps.name

    def anything(ctx: ToolContext) -> str:
        """Names."""
        return type(ctx.deps).__name__

    async with make_workspace(project, tools=[sell, nearly, anything], deps=Shop()) as workspace:
        results = [await workspace.call(*one[:1], **one[1]) for one in (("sell", {"article": "green"}),)]
        assert [one.output for one in results] == ["tea: green"]
        assert (await workspace.call("nearly")).output == "tea"
        assert (await workspace.call("anything")).output == "Shop"


def test_a_tool_that_would_get_something_else_is_told_when_the_workspace_is_opened(tmp_path: Path) -> None:
    def sell(ctx: ToolContext[Shop]) -> str:
        """Sells."""
        return ctx.deps.name

    with pytest.raises(UsageError, match=r"sell wants a Shop as ctx\.deps, and deps=None"):
        open_workspace(tmp_path, tools=[sell], environment={"HOME": str(tmp_path)})


@pytest.mark.parametrize("facts", [{"timeout": 0}, {"timeout": "1 s"}, {"retries": -1}, {"retries": None}])
def test_a_limit_that_is_none_is_refused(facts: Any) -> None:
    with pytest.raises(UsageError, match=next(iter(facts))):
        tool(**facts)


PNG = b"\x89PNG\r\n\x1a\n..."


def test_a_file_or_its_bytes_become_an_attachment(tmp_path: Path) -> None:
    assert (Attachment.of(PNG).mime, Attachment.of(b"plain").mime, Attachment.of(b"\xff\x00").mime) == (
        "image/png",
        "text/plain",
        "application/octet-stream",
    )
    (tmp_path / "a.csv").write_text("1,2\n")
    made = Attachment.of(tmp_path / "a.csv")
    assert (made.mime, made.filename, made.url) == ("text/csv", "a.csv", "data:text/csv;base64,MSwyCg==")
    assert Attachment.of(b"{}", mime="application/json", filename="x.json").mime == "application/json"


async def test_a_tool_may_return_files_and_words(project: Path) -> None:
    def look() -> list[str | Attachment]:
        """Looks."""
        return ["A picture:", Attachment.of(PNG, filename="a.png")]

    async with make_workspace(project, tools=[look]) as workspace:
        result = await workspace.call("look")
    assert (result.output, [one.mime for one in result.attachments]) == ("A picture:", ["image/png"])


def test_a_function_that_was_made_a_tool_is_called_as_before() -> None:
    @tool
    def add(a: int, b: int = 2) -> int:
        """Adds."""
        return a + b

    total: int = add(1, b=3)
    assert total == 4
