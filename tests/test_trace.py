"""How far a newcomer travels: the files and functions that one call, and one step of the loop, pass through.

The numbers may only fall. Nothing of the work may be left out to make them fall: the calls counted here are judged,
recorded, truncated and told like any other.
"""

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import toolwright
from toolwright.extension import Extension, Hook
from toolwright.models.scripted import ScriptedTurn
from toolwright.testing import ScriptedModel, make_workspace

PACKAGE = str(Path(toolwright.__file__).parent)
CALL = (18, 60)
STEP = (38, 150)


class Trace:
    """The functions of ours that were entered, in any thread."""

    def __init__(self) -> None:
        self.entered: set[CodeType] = set()

    @property
    def size(self) -> tuple[int, int]:
        """Files, and functions without the comprehensions inside of them."""
        named = {code for code in self.entered if not code.co_name.startswith("<")}
        return len({code.co_filename for code in self.entered}), len(named)

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(PACKAGE):
            self.entered.add(frame.f_code)

    @contextmanager
    def on(self) -> Iterator[None]:
        before = sys.getprofile()
        sys.setprofile(self)
        threading.setprofile(self)
        try:
            yield
        finally:
            sys.setprofile(before)
            threading.setprofile(_nothing)


async def test_one_read_through_the_door(project: Path) -> None:
    (project / "a.py").write_text("x = 1\n")
    trace = Trace()
    async with make_workspace(project) as workspace:
        await workspace.call("read", filePath="a.py")
        with trace.on():
            result = await workspace.call("read", filePath="a.py")
    assert "x = 1" in result.output
    assert _within(trace.size, CALL), _listed(trace)


async def test_one_step_of_the_loop(project: Path) -> None:
    """From one request to the model to the next, in a turn that is under way."""
    for name in "ab":
        (project / f"{name}.py").write_text("x = 1\n")
    reads: list[ScriptedTurn] = [{"tools": [{"name": "read", "args": {"filePath": f"{name}.py"}}]} for name in "abab"]
    trace = Trace()
    requests: list[Callable[[], object]] = []

    async def request_hook(proceed: Any, request: Any) -> Any:
        requests.append(lambda: None)
        if len(requests) == 5:
            sys.setprofile(None)
        async for event in proceed(request):
            yield event
        if len(requests) == 4:
            sys.setprofile(trace)

    extension = Extension(hooks=[Hook(request=request_hook)])
    model = ScriptedModel(*reads, {"text": "Done."})
    async with make_workspace(project, model=model, extensions=[extension], keep=True) as workspace:
        try:
            await workspace.prompt("Go.")
        finally:
            sys.setprofile(None)
    assert _within(trace.size, STEP), _listed(trace)


def _within(size: tuple[int, int], most: tuple[int, int]) -> bool:
    return size[0] <= most[0] and size[1] <= most[1]


def _listed(trace: Trace) -> str:
    named = sorted(f"{code.co_filename.removeprefix(PACKAGE)}: {code.co_qualname}" for code in trace.entered)
    return "\n".join([str(trace.size), *named])


def _nothing(_: FrameType, __: str, ___: Any) -> None:
    """For threads that begin later."""
