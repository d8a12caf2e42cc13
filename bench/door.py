"""What the door costs: ten thousand calls of a tool that does nothing, each journalled to storage.

python bench/door.py
"""

import asyncio
import sys
import tempfile
import time
from pathlib import Path

from toolwright.ids import new_id
from toolwright.testing import make_workspace
from toolwright.tool import Call, ToolContext, tool

CALLS = 10_000
EARLY = 1_000
MAX_MICROSECONDS = 250
MAX_GROWTH_MEGABYTES = 5


@tool
async def noop(ctx: ToolContext, text: str = "") -> str:
    """Does nothing."""
    return text


async def main() -> int:
    """Print the figures; 1 if a target is missed."""
    with tempfile.TemporaryDirectory() as scratch:
        project = Path(scratch) / "project"
        project.mkdir()
        workspace = make_workspace(project, tools=[noop], keep=True)
        session = workspace.session()
        seconds = 0.0
        early = 0.0
        for number in range(1, CALLS + 1):
            started = time.process_time()
            await session.run_call(Call(id=new_id("call"), tool="noop", arguments={"text": "hello"}))
            seconds += time.process_time() - started
            if number == EARLY:
                early = _resident()
        late = _resident()
        await workspace.close()
        size = workspace.folders.database.stat().st_size
    each = seconds / CALLS * 1_000_000
    print(f"{CALLS:,} calls, journal to storage included, all threads")
    print(f"CPU per call      {each:8.0f} µs   (target {MAX_MICROSECONDS})")
    print(f"RSS after {EARLY:,}   {early:8.1f} MB")
    print(f"RSS after {CALLS:,}  {late:8.1f} MB   (target: no more than {MAX_GROWTH_MEGABYTES} above)")
    print(f"on disk           {size / CALLS:8.0f} bytes a call")
    return 1 if each > MAX_MICROSECONDS or late - early > MAX_GROWTH_MEGABYTES else 0


def _resident() -> float:
    """Megabytes this process holds in memory now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096 / (1024 * 1024)


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
