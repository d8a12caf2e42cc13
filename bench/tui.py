"""The conversation in the terminal: processor time to the first prompt, and what showing a turn costs.

python bench/tui.py
"""

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
WORDS = "The **quick** brown `fox` jumps over the lazy dog, again and again. "


def main() -> None:
    seconds, processor = first_prompt()
    print(f"first prompt            {seconds:.2f} s, {processor:.2f} s of processor time")
    print(f"a delta of 68 letters   {1e6 * deltas():.0f} µs, at {DELTAS} of them")
    print(f"an update of 30,000     {1e6 * updates():.0f} µs, of a command that floods")
    print(f"memory                  {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024} MB")


def first_prompt() -> tuple[float, float]:
    """Seconds, and processor time, until a person can type."""
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder, "project")
        project.mkdir()
        screen, other = pty.openpty()
        variables = {"HOME": folder, "PATH": os.environ["PATH"], "TERM": "xterm"}
        before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        program = [sys.executable, "-m", "toolwright", "--model", "scripted/none.json"]
        process = subprocess.Popen(program, cwd=project, env=variables, stdin=other, stdout=other, stderr=other)
        os.close(other)
        seen = b""
        while b"> " not in seen and select.select([screen], [], [], 30)[0]:
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
