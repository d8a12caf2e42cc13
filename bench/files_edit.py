"""Edits of large files, each a whole call through the door of one warm process, beside plain Python doing the same.

python bench/files_edit.py
"""

import asyncio
import contextlib
import os
import random
import resource
import tempfile
import time
from collections.abc import AsyncIterator
from pathlib import Path

from toolwright.definition import Call, Result
from toolwright.session.session import Session
from toolwright.testing import make_session

ROUNDS = 5
LINES_PER_FUNCTION = 13
SLOW_TURN = 0.02


async def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "project"
        folder.mkdir()
        session = make_session(folder)
        print(f"{'':52} {'call':>9} {'limit':>9}   answer, longest turn of the loop")
        for lines in (1_000, 10_000, 100_000):
            await functions(session, folder, lines)
        await hard_ones(session, folder)


async def functions(session: Session, folder: Path, lines: int) -> None:
    """The four ways an edit ends, in a file of functions; the function meant is at three quarters."""
    count = lines // LINES_PER_FUNCTION
    text = "".join(map(function, range(count)))
    target = function(count * 3 // 4)
    body = target.splitlines()
    loose = "\n".join(line.strip() for line in body[:-1])
    drifted = "\n".join([*body[:3], "    invented = 3", *body[4:12]])
    between = "\n".join(["    return a", "    never = 1", "    return a"])
    edits = {
        "exact": (target, target.replace("return a", "return b")),
        "whitespace": (loose, loose.replace("return a", "return b")),
        "anchor": (drifted, drifted.replace("return a", "return b")),
        "not found": ("no such line\nnor this one\nat all", "x"),
        "not found, between frequent lines": (between, "x"),
    }
    for name, (old, new) in edits.items():
        await row(session, folder, f"{lines:,} lines, {name}", text, old, new)


async def hard_ones(session: Session, folder: Path) -> None:
    rng = random.Random(1)
    wide = "".join(
        "{\n" if number % 4 == 0 else "".join(rng.choices("abcdef ", k=2_000)) + "\n" for number in range(400)
    )
    wanted = "{\n" + "".join(rng.choices("abcdef ", k=2_000)) + "\nnot there\n{"
    await row(session, folder, "400 lines of 2,000 characters, not found", wide, wanted, "x")
    numbered = "".join(f"line {number} of {number % 97}\n" for number in range(20_000))
    absent = "".join(f"line {number} of {number % 97}\n" for number in range(500)) + "but not this\n"
    await row(session, folder, "20,000 lines, 500 lines not found", numbered, absent, "x")
    old = "".join(f"value {number} is old\n" for number in range(5_000))
    await row(session, folder, "5,000 lines, every line by replaceAll", old, "old", "new", everywhere=True)
    await row(session, folder, "5,000 lines, the whole text by another", old, old, old.replace("value", "other"))
    await row(
        session, folder, "20,000 equal lines, 2,000 of them and one more", "{\n" * 20_000, "{\n" * 2_000 + "}", "x"
    )


def function(number: int) -> str:
    lines = [f"    value_{line} = a * {line} + b - {number}\n" for line in range(10)]
    return "".join([f"def function_{number}(a, b):\n", *lines, "    return a\n", "\n"])


async def row(
    session: Session, folder: Path, name: str, text: str, old: str, new: str, *, everywhere: bool = False
) -> None:
    """The best of some rounds, each on a fresh file that has been read; the best, because other work disturbs."""
    path = folder / "file.txt"
    best, limit, longest_turn, growth, answer = 9.0, 9.0, 9.0, 0.0, ""
    arguments = {"filePath": "file.txt", "oldString": old, "newString": new, "replaceAll": everywhere}
    for _ in range(ROUNDS):
        path.write_text(text)
        limit = min(limit, plain(path, old, new))
        path.write_text(text)
        await session.run_call(Call(id="r", tool="read", arguments={"filePath": "file.txt", "limit": 5}))
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        async with turns() as longest:
            started = time.perf_counter()
            result = await session.run_call(Call(id="e", tool="edit", arguments=arguments))
            best = min(best, time.perf_counter() - started)
        longest_turn = min(longest_turn, longest[0])
        growth = max(growth, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024 / len(text))
        answer = described(result)
    print(
        f"{name:52} {best * 1000:6.1f} ms {limit * 1000:6.1f} ms   {answer}, {longest_turn * 1000:.0f} ms"
        f"{' (too long)' if longest_turn > SLOW_TURN else ''}, memory + {growth:.1f} files"
    )


def described(result: Result) -> str:
    return result.error.kind if result.error else str(result.metadata["strategy"])


def plain(path: Path, old: str, new: str) -> float:
    """What no program can be much faster than: read, find twice, write, rename."""
    started = time.perf_counter()
    text = path.read_bytes().decode()
    at = text.find(old)
    if at < 0 or text.find(old, at + 1) < 0:
        after = text[:at] + new + text[at + len(old) :]
        other = path.with_name("other.txt")
        other.write_bytes(after.encode())
        os.replace(other, path)  # noqa: PTH105 - the bare call
    return time.perf_counter() - started


@contextlib.asynccontextmanager
async def turns() -> AsyncIterator[list[float]]:
    """The longest time the event loop was kept from other work."""
    longest = [0.0]

    async def watch() -> None:
        while True:
            started = time.perf_counter()
            await asyncio.sleep(0.001)
            longest[0] = max(longest[0], time.perf_counter() - started - 0.001)

    task = asyncio.create_task(watch())
    await asyncio.sleep(0)
    try:
        yield longest
    finally:
        task.cancel()


if __name__ == "__main__":
    asyncio.run(main())
