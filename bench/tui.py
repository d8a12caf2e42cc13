"""The conversation in the terminal: processor time to the first prompt, and what showing a turn costs.

Both forms of it: lines, and the full screen, the latter with a transcript of ten thousand lines.

python bench/tui.py
"""

import asyncio
import io
import os
import pty
import resource
import select
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from toolwright.chat.renderer import Renderer
from toolwright.chat.screen import Screen
from toolwright.events import PartUpdated
from toolwright.messages import TextPart
from toolwright.parts import Running, Span, ToolPart
from toolwright.session.events import PartDelta

DELTAS = 2_000
MESSAGE = (
    "# A heading\n\n"
    + "Some **words** and `code` in a line that is long enough to be broken. " * 6
    + "\n\n"
    + ("- a point\n- another\n\n```python\ndef f(x):\n    return x\n```\n\nAnd a line.\n")
)
WORDS = "The **quick** brown `fox` jumps over the lazy dog, again and again. "


def main() -> None:
    print(f"textual, imported       {imported():.2f} s of processor time")
    for name, options, shown in (("lines", ("--plain",), b"> "), ("full screen", (), b"opening the project")):
        seconds, processor = first_prompt(options, shown)
        print(f"{name:<24}{seconds:.2f} s to the first prompt, {processor:.2f} s of processor time")
    asyncio.run(full_screen())
    print("lines")
    print(f"a delta of 68 letters   {1e6 * deltas():.0f} µs, at {DELTAS} of them")
    print(f"an update of 30,000     {1e6 * updates():.0f} µs, of a command that floods")
    print(f"memory                  {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024} MB")


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


async def full_screen() -> None:
    """A transcript of ten thousand lines, and an answer that streams below it while a command floods."""
    from toolwright.chat.background import Background
    from toolwright.tui.app import Conversation
    from toolwright.tui.blocks import Words
    from toolwright.tui.highlight import highlighted
    from toolwright.tui.story import Story
    from toolwright.tui.talk import Opened

    async def opening() -> Opened:
        return await asyncio.Future()

    background = Background()
    app = Conversation(background, opening)
    async with app.run_test(size=(120, 40)) as pilot:
        highlighted("pass", "python")
        story = Story("ses_1")
        for number in range(500):
            block = Words(f"prt_{number}", MESSAGE)
            block.complete = True
            story.add(block)
        began = time.process_time()
        app.transcript.show(story)
        await pilot.pause()
        shown = time.process_time() - began
        app.transcript._finish()
        whole = time.process_time() - began
        lines = app.transcript.virtual_size.height
        frames, keys = [], []
        tail = Words("prt_tail")
        story.add(tail)
        for number in range(DELTAS):
            tail.add(WORDS)
            story.changed.add(tail.id)
            began = time.process_time()
            app.transcript.look()
            await pilot.pause()
            frames.append(time.process_time() - began)
            if number % 20 == 0:
                began = time.process_time()
                app.prompt.insert("x")
                await pilot.pause()
                keys.append(time.process_time() - began)
    background.close()
    frames.sort()
    print(f"full screen, {lines:,} lines")
    print(f"shown                   {1e3 * shown:.0f} ms, all of it laid out {1e3 * whole:.0f} ms")
    middle, most, worst = frames[len(frames) // 2], frames[len(frames) * 99 // 100], frames[-1]
    print(f"a frame with a delta    {1e3 * middle:.1f} ms, 99 % {1e3 * most:.1f} ms, at worst {1e3 * worst:.1f} ms")
    print(f"a key                   {1e3 * max(keys):.1f} ms at worst")
    print(f"memory                  {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024} MB")


def first_prompt(options: tuple[str, ...], shown: bytes) -> tuple[float, float]:
    """Seconds, and processor time, until a person can type."""
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder, "project")
        project.mkdir()
        screen, other = pty.openpty()
        variables = {"HOME": folder, "PATH": os.environ["PATH"], "TERM": "xterm"}
        before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        program = [sys.executable, "-m", "toolwright", *options, "--model", "scripted/none.json"]
        process = subprocess.Popen(program, cwd=project, env=variables, stdin=other, stdout=other, stderr=other)
        os.close(other)
        seen = b""
        while shown not in seen and select.select([screen], [], [], 30)[0]:
            seen += os.read(screen, 4096)
        took = time.perf_counter() - began
        process.kill()
        process.wait()
        os.close(screen)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return took, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


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
    state = Running(
        input={"command": "yes"}, time=Span(start=0), title="", metadata={"output": "...\n\n" + "y\n" * 15_000}
    )
    part = ToolPart(id="prt_1", session_id="ses_1", message_id="msg_1", call_id="call_1", tool="bash", state=state)
    began = time.process_time()
    for _ in range(DELTAS):
        renderer(PartUpdated(part=part))
        renderer.tick()
    return (time.process_time() - began) / DELTAS


if __name__ == "__main__":
    main()
