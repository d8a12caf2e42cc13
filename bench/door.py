"""What the door costs: ten thousand calls of a tool that does nothing, each journalled to storage.

python bench/door.py
"""

import asyncio
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from toolwright.definition import Call, ToolContext, tool
from toolwright.session.session import Session
from toolwright.testing import make_workspace
from toolwright.text.ids import new_id

CALLS = 10_000
LAP = 1_000
MAX_MICROSECONDS = 250
MAX_GROWTH_MEGABYTES = 5


@tool
async def noop(_: ToolContext, text: str = "") -> str:
    """Does nothing."""
    return text


async def main() -> int:
    """Print the figures; 1 if a target is missed."""
    with tempfile.TemporaryDirectory() as scratch:
        project = Path(scratch) / "project"
        project.mkdir()
        workspace = make_workspace(project, tools=[noop], keep=True)
        session = workspace.session()
        laps, resident = list[float](), list[float]()
        for _ in range(CALLS // LAP):
            laps.append(await _lap(session))
            resident.append(_resident())
        await workspace.close()
        size = workspace.folders.database.stat().st_size
    least, growth = min(laps), resident[-1] - resident[0]
    print(f"{CALLS:,} calls in laps of {LAP:,}, journal to storage included, all threads")
    print(
        f"CPU per call       {least:6.0f} µs at least, {median(laps):.0f} in the middle   (target {MAX_MICROSECONDS})"
    )
    print(f"RSS after {LAP:>6,}   {resident[0]:6.1f} MB")
    print(f"RSS after {CALLS:>6,}   {resident[-1]:6.1f} MB   (target: no more than {MAX_GROWTH_MEGABYTES} above)")
    print(f"on disk            {size / CALLS:6.0f} bytes a call")
    return 1 if least > MAX_MICROSECONDS or growth > MAX_GROWTH_MEGABYTES else 0


async def _lap(session: Session) -> float:
    """Microseconds of CPU for each call of one lap."""
    started = time.process_time()
    for _ in range(LAP):
        await session.run_call(Call(id=new_id("call"), tool="noop", arguments={"text": "hello"}))
    return (time.process_time() - started) / LAP * 1_000_000


def _resident() -> float:
    """Megabytes this process holds in memory now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096 / (1024 * 1024)


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
