"""Where a step of the loop spends its time: by the tool it calls, by the part of the program that runs, and in an edit.

python bench/step.py [--steps 200]

The first table is measured from outside, as loop.py does: from the last byte of a reply to the next request. The second
is a profile of the event loop's thread in this process, which takes about twice as long for being watched: read the
shares, not the times. What other threads do (SQLite, files on their way to disk) and ripgrep shows up as waiting.
The third is one exact edit of a small file, with the time that the system takes for each kind of operation.
"""

import argparse
import asyncio
import cProfile
import os
import pstats
import statistics
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

from loop import make_project, run, served_model

import toolwright
from toolwright import open_workspace

KINDS = ("read, a file", "read, 60 lines", "edit", "grep")
PACKAGE = str(Path(toolwright.__file__).parent)
ROOMS = {
    "models": "request and reply of the model",
    "session": "the turn and its records",
    "files": "files, edits, searches",
    "edits": "files, edits, searches",
    "tools": "files, edits, searches",
    "diff": "files, edits, searches",
    "permission": "rules",
}
EDITS = 100
Row = tuple[str, int, str]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=200)
    options = parser.parse_args()
    with served_model() as port:
        steps = run([sys.executable, "-m", "toolwright", "run", "--yes"], f"@@steps-{options.steps}@@ go", port).steps
        for position, kind in enumerate(KINDS):
            times = steps[position :: len(KINDS)]
            print(f"{kind:32} {statistics.median(times):6.2f} ms   least {min(times):6.2f} ms")
        print(f"{'all':32} {statistics.median(steps):6.2f} ms   target   2.50 ms\n")
        profile = asyncio.run(profiled(options.steps, port))
    show(pstats.Stats(profile), options.steps)
    asyncio.run(one_edit())


async def one_edit() -> None:
    spent, seen = defaultdict[str, float](float), list[float]()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "a.py"
        file.write_text("value = 0\n" + "".join(f"line {number}\n" for number in range(200)))
        environment = {**os.environ, "HOME": folder}
        async with open_workspace(folder, rules={"*": "allow"}, environment=environment) as workspace:
            await workspace.call("read", filePath="a.py")
            for number in range(EDITS):
                if number == EDITS // 5:
                    watch(spent)
                began = time.perf_counter()
                change = {"oldString": f"value = {number}\n", "newString": f"value = {number + 1}\n"}
                await workspace.call("edit", filePath="a.py", **change)
                seen.append(time.perf_counter() - began)
    count = EDITS - EDITS // 5
    whole = sum(seen[-count:]) / count * 1000
    print(f"\n{'one exact edit':36} {'ms':>7}")
    for name, total in sorted(spent.items(), key=lambda one: -one[1]):
        print(f"{name:36} {total / count * 1000:7.2f}")
    print(f"{'everything else':36} {whole - sum(spent.values()) / count * 1000:7.2f}")
    print(f"{'all':36} {whole:7.2f}   target 1.5")


def watch(spent: dict[str, float]) -> None:
    """From now on note what the system takes; nobody stops watching, for the program ends soon."""
    kinds = {"fsync": "fsync", "replace": "rename", "rename": "rename"}
    kinds |= dict.fromkeys(
        ("open", "close", "write", "stat", "fstat", "unlink", "mkdir", "utime", "fchmod"), "other files"
    )
    for name, kind in kinds.items():
        setattr(os, name, timed(getattr(os, name), kind, spent))


def timed(function: Callable[..., Any], kind: str, spent: dict[str, float]) -> Callable[..., Any]:
    def call(*given: Any, **named: Any) -> Any:
        began = time.perf_counter()
        try:
            return function(*given, **named)
        finally:
            spent[kind] += time.perf_counter() - began

    return call


async def profiled(steps: int, port: int) -> cProfile.Profile:
    profile = cProfile.Profile()
    with tempfile.TemporaryDirectory() as folder:
        project = make_project(Path(folder) / "project", port)
        home = {**os.environ, "HOME": folder}
        async with open_workspace(
            project, rules={"*": "allow"}, model="local/m", environment=home, trust=True, keep=True
        ) as workspace:
            await workspace.prompt("@@steps-8@@ go")  # loads what is loaded once
            async with workspace.session() as session:
                profile.enable()
                await session.prompt(f"@@steps-{steps}@@ go")
                profile.disable()
    return profile


def show(stats: pstats.Stats, steps: int) -> None:
    times, calls = defaultdict[str, float](float), Counter[str]()
    # The type of `stats` is not declared: (file, line, name) → calls, own calls, own time, time, callers.
    table: dict[Row, tuple[int, int, float, float, dict[Row, tuple[int, int, float, float]]]] = getattr(stats, "stats")  # noqa: B009
    for function, (_, count, own, _, callers) in table.items():
        if function[0] != "~":
            times[room(function)] += own
            calls[room(function)] += count
        elif "poll" in function[2] or "acquire" in function[2]:
            times["waiting"] += own
        else:  # what is built in belongs to who called it
            for caller, (_, made, spent, _) in callers.items():
                times[room(caller)] += spent
                calls[room(caller)] += made
    whole = sum(times.values())
    print(f"{'one step, watched':36} {'ms':>7} {'share':>7} {'calls':>8}")
    for name, spent in sorted(times.items(), key=lambda one: -one[1]):
        print(f"{name:36} {spent / steps * 1000:7.2f} {spent / whole:7.0%} {calls[name] / steps:8.0f}")
    print(f"{'all':36} {whole / steps * 1000:7.2f} {1:7.0%} {sum(calls.values()) / steps:8.0f}")


def room(function: Row) -> str:
    path = function[0]
    if path.startswith(PACKAGE):
        return ROOMS.get(Path(path).relative_to(PACKAGE).parts[0].removesuffix(".py"), "the door, events, records")
    if path.startswith("<record"):
        return "the door, events, records"
    if any(name in path for name in ("asyncio", "selectors", "threading", "concurrent", "contextlib")):
        return "asyncio and threads"
    return "the standard library"


if __name__ == "__main__":
    main()
