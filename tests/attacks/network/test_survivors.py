"""Whatever is killed, no network is left behind: nothing runs in it any more, and nobody holds it."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.waiting import wait_until

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="only Linux has such networks"),
    pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed"),
]


@pytest.mark.parametrize("victim", ["all at once", "the keeper first"])
def test_a_killed_toolwright_leaves_no_network(project: Path, victim: str) -> None:
    command = [sys.executable, "-m", "tests.attacks.network.killed", str(project)]
    with subprocess.Popen(command, cwd=Path(__file__).parents[3], stdout=subprocess.PIPE, text=True) as started:
        assert started.stdout is not None
        network = int(started.stdout.readline())
        assert list(_within(network))
        if victim == "the keeper first":
            for keeper in _children(started.pid):
                os.kill(keeper, signal.SIGKILL)
        started.kill()
    wait_until(lambda: not list(_within(network)))
    assert not list(_holding(network))


def _within(network: int) -> Iterator[int]:
    for place in Path("/proc").glob("[0-9]*/ns/net"):
        with suppress(OSError):
            if place.stat().st_ino == network:
                yield int(place.parts[2])


def _holding(network: int) -> Iterator[Path]:
    for place in Path("/proc").glob("[0-9]*/fd/*"):
        with suppress(OSError):
            if str(place.readlink()) == f"net:[{network}]":
                yield place


def _children(pid: int) -> list[int]:
    return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
