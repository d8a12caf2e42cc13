"""grep, glob and list, each a whole call through the door of one warm process, beside bare ripgrep on the same trees.

python bench/files_search.py [--files 1000 20000 100000]

Runs of the two alternate, and the best of each counts. ripgrep gives its matches in any order and all of them;
the tools give the newest hundred and the number of all.
"""

import argparse
import asyncio
import os
import random
import resource
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

from toolwright.definition import Call
from toolwright.files.ripgrep import find_ripgrep
from toolwright.session.session import Session
from toolwright.testing import make_session

ROUNDS = 5
LINES_PER_FILE = 26
WORDS = ("alpha", "beta", "gamma", "delta", "index", "cursor", "buffer", "parse", "token", "render", "node", "edge")
CASES: list[tuple[str, str, dict[str, Any], list[str], float | None]] = [
    ("grep, rare", "grep", {"pattern": "NEEDLE_"}, ["-n", "--hidden", "NEEDLE_", "."], 1.15),
    ("grep, common", "grep", {"pattern": "return total"}, ["-n", "--hidden", "return total", "."], 2.0),
    ("grep, every line", "grep", {"pattern": "^"}, ["-n", "--hidden", "^", "."], None),
    ("glob", "glob", {"pattern": "**/*.py"}, ["--files", "--hidden"], 1.4),
    ("list", "list", {}, ["--files", "--hidden"], None),
]
"""What it is, the tool with its arguments, what bare ripgrep is asked, how many times its time is the target."""


async def main(sizes: list[int]) -> None:
    print(f"{'files':>7}  {'':18} {'tool ms':>8} {'rg ms':>8} {'ratio':>6}  target")
    with tempfile.TemporaryDirectory() as name:
        for files in sizes:
            folder = Path(name) / str(files)
            make_tree(folder, files)
            session = make_session(folder)
            for case in CASES:
                await measure(session, folder, files, *case)
    own, children = (resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    print(f"memory at the peak: {own / 1024:.0f} MB, ripgrep {children / 1024:.0f} MB")


async def measure(
    session: Session,
    folder: Path,
    files: int,
    name: str,
    tool: str,
    arguments: Any,
    bare: list[str],
    target: float | None,
) -> None:
    ours, limit = [], []
    for _ in range(ROUNDS):
        started = time.perf_counter()
        result = await session.run_call(Call(id="c", tool=tool, arguments=arguments))
        ours.append(time.perf_counter() - started)
        assert result.error is None, result.output
        started = time.perf_counter()
        run_ripgrep(bare, folder)
        limit.append(time.perf_counter() - started)
    ratio = min(ours) / min(limit)
    goal = f"{target:.2f}" if target else ""
    print(f"{files:>7}  {name:18} {min(ours) * 1000:8.1f} {min(limit) * 1000:8.1f} {ratio:6.2f}  {goal}")


def run_ripgrep(arguments: list[str], folder: Path) -> None:
    program = find_ripgrep()
    assert program is not None
    command = [program, "--no-config", *arguments]
    with subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        while process.stdout.read(1 << 18):
            pass


def make_tree(folder: Path, files: int) -> None:
    """A work tree of 60 % .py, 25 % .md and 15 % .json, with three needles and a tenth more in ignored folders."""
    rng = random.Random(11)
    (folder / ".git").mkdir(parents=True)
    (folder / ".gitignore").write_text("node_modules/\nbuild/\n*.log\n")
    bodies = [make_text(rng) for _ in range(40)]
    needles = {int(files * share) for share in (0.11, 0.52, 0.93)}
    for number in range(files + files // 10):
        inner = f"pkg{number % 37:02d}/mod{number // 37 % 53:02d}/sub{number // 1961 % 60:02d}"
        ignored = ("node_modules/" if number % 2 else "build/") if number >= files else ""
        place = folder / f"{ignored}{inner}"
        place.mkdir(parents=True, exist_ok=True)
        ending = "py" if number % 20 < 12 else "md" if number % 20 < 17 else "json"
        needle = f"NEEDLE_{number:08x} = 'found'\n" if number in needles else ""
        path = place / f"file_{number:06d}.{ending}"
        path.write_text(rng.choice(bodies) + needle)
        os.utime(path, (1_700_000_000 + rng.randrange(10_000_000),) * 2)


def make_text(rng: random.Random) -> str:
    lines: list[str] = []
    while len(lines) < LINES_PER_FILE:
        first, second, third = rng.sample(WORDS, 3)
        lines += [f"def {first}_{rng.randrange(10**6)}({second}, {third}=None):", f'    """{first} by {second}."""']
        lines += [f"    total = len({second})", *(f"    total += {third}.{first}({n})" for n in range(8))]
        lines += ["    return total", ""]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--files", type=int, nargs="+", default=[1000, 20_000, 100_000])
    asyncio.run(main(parser.parse_args().files))
