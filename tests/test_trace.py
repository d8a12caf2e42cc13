"""How far a newcomer travels: the files that a call, a step of the loop and a prompt pass through.

The numbers may only fall. Nothing of the work may be left out to make them fall: the calls counted here are judged,
recorded, truncated and told like any other.
"""

import gc
import re
import sys
import threading
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pytest

import toolwright
from toolwright.models.model import Event, ModelMessage, ReplySettings, ToolSpec
from toolwright.models.scripted import ScriptedTurn
from toolwright.permission.rules import Rule
from toolwright.testing import ScriptedModel, ScriptedUser, make_workspace

PACKAGE = str(Path(toolwright.__file__).parent)
CALLS: dict[str, tuple[int, str, list[dict[str, Any]]]] = {
    "read": (20, "read", [{"filePath": "a.py"}] * 2),
    "read with a range": (25, "read", [{"filePath": "a.py", "offset": 2, "limit": 3}] * 2),
    "edit": (
        45,
        "edit",
        [{"filePath": "a.py", "oldString": old, "newString": new} for old, new in (("= 1", "= 9"), ("= 9", "= 1"))],
    ),
    "bash": (77, "bash", [{"command": "echo hi", "description": "Greet"}] * 2),
}
"""Of each the most files, the tool, and two calls: the second is counted."""
STEP = 37
TURN = 51
HTTP_PROMPT = 48


class Trace:
    """The functions of ours that were entered, in any thread."""

    def __init__(self) -> None:
        self.entered: set[CodeType] = set()

    @property
    def size(self) -> int:
        """How many files they are in."""
        return len({code.co_filename for code in self.entered})

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(PACKAGE):
            self.entered.add(frame.f_code)

    @contextmanager
    def on(self) -> Iterator[None]:
        before = sys.getprofile()
        gc.disable()  # what another test has left is taken away at another time
        sys.setprofile(self)
        threading.setprofile(self)
        try:
            yield
        finally:
            sys.setprofile(before)
            threading.setprofile(_nothing)
            gc.enable()


@pytest.mark.parametrize("name", CALLS)
async def test_one_call_through_the_door(project: Path, name: str) -> None:
    most, tool, arguments = CALLS[name]
    (project / "a.py").write_text("x = 1\n" + "y = 2\n" * 50)
    trace = Trace()
    async with make_workspace(project) as workspace:
        await workspace.call("read", filePath="a.py")
        await workspace.call(tool, **arguments[0])
        with trace.on():
            result = await workspace.call(tool, **arguments[1])
    assert result.error is None
    _hold(trace, most, name)


async def test_one_prompt_over_http(project: Path) -> None:
    """From the request to the answer, in a session that has answered before."""
    pytest.importorskip("uvicorn", reason="the server's parts are an extra")
    from tests.server.harness import served

    trace = Trace()
    async with served(project, {"text": "Hello.", "repeat": True}) as server:
        session = await server.session()
        for _ in range(2):
            await server.say(session, "hi")
        with trace.on():
            await server.say(session, "hi")
    _hold(trace, HTTP_PROMPT, "a prompt over HTTP")


class Measured(ScriptedModel):
    """Traces what happens between two of its replies."""

    trace: Trace
    replies = 0

    async def stream(
        self, messages: Sequence[ModelMessage], tools: Sequence[ToolSpec], settings: ReplySettings
    ) -> AsyncGenerator[Event, None]:
        sys.setprofile(None)
        async for event in super().stream(messages, tools, settings):
            yield event
        self.replies += 1
        if self.replies == 4:
            sys.setprofile(self.trace)


async def test_one_step_of_the_loop(project: Path) -> None:
    """From one request to the model to the next, in a turn that is under way."""
    for name in "ab":
        (project / f"{name}.py").write_text("x = 1\n")
    reads: list[ScriptedTurn] = [{"tools": [{"name": "read", "args": {"filePath": f"{name}.py"}}]} for name in "abab"]
    model = Measured(*reads, {"text": "Done."})
    model.trace = Trace()
    async with make_workspace(project, model=model, keep=True) as workspace:
        try:
            await workspace.prompt("Go.")
        finally:
            sys.setprofile(None)
    assert model.trace.size <= STEP, _listed(model.trace)


async def test_one_whole_turn(project: Path) -> None:
    """From a prompt to its answer, with a call in between, in a session that has answered before."""
    (project / "a.py").write_text("x = 1\n")
    turn: list[ScriptedTurn] = [{"tools": [{"name": "read", "args": {"filePath": "a.py"}}]}, {"text": "Done."}]
    trace = Trace()
    opened = make_workspace(project, model=ScriptedModel(*turn * 3), keep=True)
    async with opened as workspace, workspace.session() as session:
        for _ in range(2):
            await session.prompt("Go.")
        with trace.on():
            await session.prompt("Go.")
    _hold(trace, TURN, "a whole turn")


async def test_the_path_in_agents_md_is_the_one_that_a_call_takes(project: Path) -> None:
    """Each of its lines is entered, in that order."""
    passage = (Path(__file__).parents[1] / "AGENTS.md").read_text("utf-8").partition("## The path of a call")[2]
    rows = re.findall(r"^(\S+\.py) +(\S+)  ", passage.partition("\n## ")[0], re.MULTILINE)
    listed = [f"{file}: {name}" for file, name in rows]
    (project / "a.py").write_text("x = 1\n")
    entered: list[str] = []

    def note(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(PACKAGE):
            name = f"{code.co_filename.removeprefix(PACKAGE)[1:]}: {code.co_qualname}"
            if name in listed and name not in entered:
                entered.append(name)

    turn: list[ScriptedTurn] = [{"tools": [{"name": "read", "args": {"filePath": "a.py"}}]}, {"text": "Done."}]
    opened = make_workspace(project, model=ScriptedModel(*turn * 2), user=ScriptedUser.saying("once", "once"))
    async with opened as workspace, workspace.session(rules=[Rule("read", "*", "ask")]) as session:
        await session.prompt("Go.")
        sys.setprofile(note)
        try:
            await session.prompt("Go.")
        finally:
            sys.setprofile(None)
    assert entered == listed


def _hold(trace: Trace, most: int, name: str) -> None:
    sys.stdout.write(f"walk: {name}, {trace.size} of {most}\n")  # read by `make house`
    assert trace.size <= most, _listed(trace)


def _listed(trace: Trace) -> str:
    named = sorted(f"{code.co_filename.removeprefix(PACKAGE)}: {code.co_qualname}" for code in trace.entered)
    return "\n".join([str(trace.size), *named])


def _nothing(_: FrameType, __: str, ___: Any) -> None:
    """For threads that begin later."""
