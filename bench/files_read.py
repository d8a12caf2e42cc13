"""Reads of huge files, each a whole call through the door of one warm process, beside sed and head on the same files.

python bench/files_read.py [--megabytes 200]
"""

import argparse
import asyncio
import resource
import subprocess
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from toolwright.definition import Call
from toolwright.files.store import Files
from toolwright.testing import make_session

ROUNDS = 5


async def main(megabytes: int) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "project"
        folder.mkdir()
        lines = make_lines(folder / "lines.txt", megabytes * 1_000_000)
        with (folder / "one.txt").open("wb") as file:
            for _ in range(50):
                file.write(b"abcdefghij" * 100_000)
        (folder / "code.py").write_text("".join(f"value_{number} = {number}\n" for number in range(400)))
        await asyncio.sleep(0.2)
        await measure(folder, lines, megabytes)


async def measure(folder: Path, lines: int, megabytes: int) -> None:
    session = make_session(folder)

    def reading(name: str, **more: int) -> Callable[[], Awaitable[object]]:
        return lambda: session.run_call(Call(id="c", tool="read", arguments={"filePath": name, **more}))

    near = lines - 100
    await reading("code.py")()
    base = peak()
    print(f"{'':44} {'read':>9} {'limit':>9}   limit is")

    async def unindexed() -> None:
        session.home.use(Files).viewer.indexes.forget()
        await reading("lines.txt", offset=near, limit=50)()

    many, one = folder / "lines.txt", folder / "one.txt"
    sed = ["sed", "-n", f"{near},{near + 49}p;{near + 49}q"]
    await row(f"{megabytes} MB, 50 lines near the end, first time", unindexed, sed, many)
    await row("the same again", reading("lines.txt", offset=near - 7, limit=50), ["tail", "-n", "150"], many)
    await row(f"{megabytes} MB, first 50 lines", reading("lines.txt", limit=50), ["head", "-n", "50"], many)
    await row("one line of 50 MB", reading("one.txt"), ["head", "-c", "2000"], one)
    cut = ["cut", "-c", "40000000-40002000"]
    await row("one line of 50 MB, column 40,000,000", reading("one.txt", column=40_000_000), cut, one)
    await row("400 lines of code", reading("code.py"), ["cat"], folder / "code.py")
    print(f"memory: {base / 1024:.0f} MB before, {peak() / 1024:.0f} MB at the peak")


async def row(name: str, action: Callable[[], Awaitable[object]], command: list[str], path: Path) -> None:
    ours = min([await timed(action) for _ in range(ROUNDS)])
    limit = min(run(command, path) for _ in range(ROUNDS))
    print(f"{name:44} {ours:6.1f} ms {limit:6.1f} ms   {command[0]}, process included")


async def timed(action: Callable[[], Awaitable[object]]) -> float:
    started = time.perf_counter()
    await action()
    return (time.perf_counter() - started) * 1000


def run(command: list[str], path: Path) -> float:
    started = time.perf_counter()
    subprocess.run([*command, str(path)], stdout=subprocess.DEVNULL, check=True)
    return (time.perf_counter() - started) * 1000


def make_lines(path: Path, size: int) -> int:
    """Lines of differing length, about fifty characters each."""
    block = b"".join(b"%06d %s\n" % (number, b"lorem ipsum " * (number % 8)) for number in range(20_000))
    times = size // len(block)
    with path.open("wb") as file:
        for _ in range(times):
            file.write(block)
    return 20_000 * times


def peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=200)
    asyncio.run(main(parser.parse_args().megabytes))
