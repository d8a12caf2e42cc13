"""The conversation in the terminal: what it costs to open it, to show a turn, and to type while much is shown.

Processor time of our process, because others may use the machine. Each limit stands beside its figure; OpenCode's own
terminal is measured in the same run, with the same model, where npm or `OPENCODE` has it.

python bench/tui.py
"""

import asyncio
import io
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from reference import configuration, references

from terminal import Running, running, streaming_model
from toolwright.calls.parts import Running as RunningCall
from toolwright.calls.parts import Span, ToolPart
from toolwright.events import PartUpdated
from toolwright.messages import TextPart
from toolwright.protocols.json_types import Json
from toolwright.session.events import PartDelta
from toolwright.terminal.renderer import Renderer
from toolwright.terminal.screen import Screen

if TYPE_CHECKING:
    from textual.pilot import Pilot

    from toolwright.tui.app import ChatApp

DELTAS = 2_000
PAUSE = 0.002
TOGETHER = 3
"""Deltas in one frame: a model that writes a hundred in a second, on a screen that is drawn thirty times."""
KEYS = 40
TALK = 5_000
MESSAGE = (
    "# A heading\n\n"
    + "Some **words** and `code` in a line that is long enough to be broken. " * 6
    + "\n\n"
    + ("- a point\n- another\n\n```python\ndef f(x):\n    return x\n```\n\nAnd a line.\n")
)
WORDS = "The **quick** brown `fox` jumps over the lazy dog, again and again. "
END = "Thatwasall"


def main() -> None:
    if sys.argv[1:] == ["transcript"]:
        asyncio.run(transcript())
        return
    print(f"textual, imported       {imported():.2f} s of processor time")
    with tempfile.TemporaryDirectory() as folder:
        opened(Path(folder))
        print(f"typing while a command floods, {KEYS} keys")
        keys = flooded(Path(folder))
        told(
            ("keystroke to echo", statistics.median(keys), "ms of the thread that draws, in the middle", 20),
            ("the slowest of all", max(keys), "ms", 20),
        )
    subprocess.run([sys.executable, __file__, "transcript"], check=True)
    print("lines (--plain)")
    told(
        ("a delta of 68 letters", 1e3 * deltas(), f"ms, at {DELTAS:,} of them", 5),
        ("an update of 30,000", 1e3 * updates(), "ms, of a command that floods", 5),
    )
    with tempfile.TemporaryDirectory() as folder:
        beside(Path(folder))


def told(*rows: tuple[str, float, str, float]) -> None:
    for name, figure, what, limit in rows:
        held = "" if figure <= limit else "   TOO MUCH"
        print(f"  {name:<26}{figure:8.2f} {what} (at most {limit:g}){held}")


# Opening.


def imported() -> float:
    """Processor time of what the first frame needs of textual, above that of Python."""
    programs = ("pass", "import textual.app, textual.scroll_view, textual.widgets; textual.widgets.TextArea")
    taken = []
    for program in programs:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-c", program], check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        taken.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return taken[1] - taken[0]


def opened(folder: Path) -> None:
    print("to the first frame, the best of three")
    for name, options, shown in (
        ("full screen", (), "opening the project"),
        ("inline", ("--inline",), "opening the project"),
        ("lines", ("--plain",), "> "),
    ):
        taken = []
        for number in range(3):
            with running(*_ours(folder / f"{name}{number}", 9, options)) as program:
                program.wait_for(shown)
                taken.append(program.precise)
        told((name, min(taken), "s of processor time", 0.35))


def _ours(folder: Path, port: int, options: Sequence[str] = ()) -> tuple[Sequence[str], Path, dict[str, str]]:
    """Our program with the scripted model, in a home of its own."""
    home, project = folder / "home", folder / "project"
    settings = home / ".config" / "toolwright"
    settings.mkdir(parents=True)
    project.mkdir()
    (settings / "toolwright.json").write_text(json.dumps(configuration(port)))
    program = [sys.executable, "-m", "toolwright", *options, *(() if options else ("--model", "fake/m"))]
    return program, project, {"HOME": str(home), "PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(sys.path)}


# Typing.


def flooded(folder: Path) -> list[float]:
    """Milliseconds of processor time between a key and its letter on the screen, while a command prints all it can."""
    function = {"name": "bash", "arguments": json.dumps({"command": "yes flood", "description": "Flood"})}
    call: Json = {"tool_calls": [{"index": 0, "id": "call_1", "type": "function", "function": function}]}
    with streaming_model([call], 0) as model, running(*_ours(folder / "flood", model.port)) as program:
        program.wait_for("fake/m")
        program.press("go\r")
        program.wait_for("│ flood")
        taken = []
        for number in range(KEYS):
            began = program.drawing
            # A letter that nothing else shows.
            letter = chr(ord("А") + number)
            program.press(letter)
            program.wait_for(letter)
            taken.append(1e3 * (program.drawing - began))
    return taken


# A long transcript.


async def transcript() -> None:
    """Ten thousand lines, and an answer that streams below them."""
    from toolwright.app.opened import OpenedChat
    from toolwright.terminal.background import Background
    from toolwright.tui.app import ChatApp
    from toolwright.tui.blocks import AnswerBlock
    from toolwright.tui.highlight import highlighted
    from toolwright.tui.story import Story

    async def opening() -> OpenedChat:
        return await asyncio.Future()

    background = Background()
    app = ChatApp(background, opening)
    async with app.run_test(size=(120, 40)) as pilot:
        highlighted("pass", "python")
        story = Story("ses_1")
        for number in range(640):
            block = AnswerBlock(f"prt_{number}", MESSAGE)
            block.complete = True
            story.add(block)
        began = time.process_time()
        app.transcript.show(story)
        await pilot.pause()
        shown = time.process_time() - began
        app.transcript._finish()
        whole = time.process_time() - began
        lines = app.transcript.virtual_size.height
        tail = AnswerBlock("prt_tail")
        story.add(tail)

        async def frame(deltas: int) -> float:
            """Milliseconds of the thread that draws; with no delta, those that waiting for a frame takes by itself."""
            began = time.thread_time()
            for _ in range(deltas):
                tail.add(WORDS)
            if deltas:
                story.changed.add(tail.id)
                app.transcript.look()
            await pilot.pause()
            return 1e3 * (time.thread_time() - began)

        waiting = statistics.median([await frame(0) for _ in range(100)])
        frames = [await frame(TOGETHER) - waiting for _ in range(DELTAS // TOGETHER)]
        alone = [await frame(1) - waiting for _ in range(DELTAS // TOGETHER)]
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        paged = await pages(app, pilot)
    background.close()
    print(f"full screen, {lines:,} lines: shown after {1e3 * shown:.0f} ms, all laid out after {1e3 * whole:.0f} ms")
    told(
        ("a delta", sum(frames) / len(frames) / TOGETHER, f"ms, the mean of {DELTAS:,} with their frames", 5),
        ("one drawn alone", statistics.median(alone), "ms with its frame, in the middle", 5),
        ("a frame", statistics.median(frames), "ms, in the middle", 33),
        ("the slowest frame", max(frames + alone), "ms", 33),
        ("Page Up", paged, f"ms, the mean of {KEYS} in {TALK:,} messages just opened, with laying out all", 80),
        ("memory", memory, "MB", 120),
    )


async def pages(app: "ChatApp", pilot: "Pilot[int]") -> float:
    """Milliseconds of the thread that draws for each Page Up in a long talk, until all of it is laid out."""
    from toolwright.tui.blocks import AnswerBlock, Said
    from toolwright.tui.story import Story

    story = Story("ses_2")
    for number in range(TALK // 2):
        story.add(Said(f"prompt {number}", f"Prompt {number}"))
        story.add(block := AnswerBlock(f"answer {number}", MESSAGE))
        block.complete = True
    app.transcript.show(story)
    began = time.thread_time()
    for _ in range(KEYS):
        await pilot.press("pageup")
    while app.transcript._behind:
        await pilot.pause(0.05)
    return 1e3 * (time.thread_time() - began) / KEYS


# Lines.


def shown() -> Renderer:
    return Renderer(session_id="ses_1", screen=Screen(out=io.StringIO(), colour=True, moves=True))


def deltas() -> float:
    renderer = shown()
    renderer(PartUpdated(part=TextPart(id="prt_1", session_id="ses_1", message_id="msg_1", text="")))
    began = time.process_time()
    for _ in range(DELTAS):
        renderer(PartDelta(session_id="ses_1", message_id="msg_1", part_id="prt_1", field="text", delta=WORDS))
    return (time.process_time() - began) / DELTAS


def updates() -> float:
    renderer = shown()
    state = RunningCall(
        input={"command": "yes"}, time=Span(start=0), title="", metadata={"output": "...\n\n" + "y\n" * 15_000}
    )
    part = ToolPart(id="prt_1", session_id="ses_1", message_id="msg_1", call_id="call_1", tool="bash", state=state)
    began = time.process_time()
    for _ in range(DELTAS):
        renderer(PartUpdated(part=part))
        renderer.tick()
    return (time.process_time() - began) / DELTAS


# Beside OpenCode.


def beside(folder: Path) -> None:
    """Both terminals, from nothing to the end of an answer in so many deltas."""
    print(f"{'in a terminal':<22}{'first frame':>22}{f'{DELTAS:,} deltas':>14}{'memory':>10}")
    answer = [*({"content": WORDS if number % 10 else f"{WORDS}\n\n"} for number in range(DELTAS)), {"content": END}]
    with streaming_model(answer, PAUSE) as model:
        with running(*_ours(folder / "ours", model.port)) as program:
            _compared("toolwright", program, ("Ask anything", "fake/m", END))
        for reference in references():
            home, project = folder / reference.name / "home", folder / reference.name / "project"
            project.mkdir(parents=True)
            variables = reference.environment(home, model.port)
            with running([str(reference.binary)], project, variables) as program:
                # It tells how long the turn took when it is over.
                _compared(reference.name, program, ("Ask anything", "Ask anything", " · m · "))


def _compared(name: str, program: Running, marks: tuple[str, str, str]) -> None:
    first, ready, end = marks
    began = time.perf_counter()
    try:
        program.wait_for(first)
        took, processor = time.perf_counter() - began, program.processor
        program.wait_for(ready)
        program.read(2.0)
        before = program.processor
        program.press("go")
        program.wait_for("go")
        program.press("\r")
        program.see(end)
        streaming = program.processor - before
    except TimeoutError as error:
        print(f"{name:<22}{error}")
        return
    print(f"{name:<22}{took:7.2f} s, CPU {processor:5.2f} s{streaming:12.2f} s{program.memory:7.0f} MB")


if __name__ == "__main__":
    main()
