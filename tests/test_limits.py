"""No test hangs: one that does fails in its time, with the stacks of all threads and tasks, and the others go on."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
HANGING = {
    "a loop": """
def test_hangs() -> None:
    while True:
        pass
""",
    "a wait": """
def test_hangs() -> None:
    threading.Event().wait()
""",
    "a task": """
async def test_hangs() -> None:
    await asyncio.create_task(waits_here(), name="a task of ours")
""",
    "a task that loops": """
async def test_hangs() -> None:
    task = asyncio.create_task(loops())
    await asyncio.sleep(3600)
    await task
""",
    "a fixture": """
def test_hangs(slow: None) -> None:
    pass
""",
}
FILE = """
import asyncio, threading
import pytest


async def waits_here() -> None:
    await asyncio.sleep(3600)


async def loops() -> None:
    while True:
        pass


@pytest.fixture
def slow() -> None:
    threading.Event().wait()


@pytest.mark.timeout(3)
%s

def test_next() -> None:
    pass
"""


@pytest.mark.slow
@pytest.mark.parametrize("kind", HANGING)
@pytest.mark.parametrize("workers", ["0", "1"])
def test_a_test_that_hangs_fails_and_the_next_runs(tmp_path: Path, kind: str, workers: str) -> None:
    file = tmp_path / "test_hanging.py"
    file.write_text(FILE % HANGING[kind].strip())
    ours = ["-c", str(ROOT / "pyproject.toml"), "--rootdir", str(ROOT), "-p", "tests.conftest"]
    command = [sys.executable, "-m", "pytest", *ours, "-n", workers, "-p", "no:cacheprovider", str(file)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stdout
    assert "1 passed, 1 error" in done.stdout if kind == "a fixture" else "1 failed, 1 passed" in done.stdout
    assert "took longer than 3 seconds" in done.stdout
    assert "~~~ thread MainThread ~~~" in done.stdout
    if kind == "a task":
        assert "~~~ a task of ours ~~~" in done.stdout
        assert "waits_here" in done.stdout
