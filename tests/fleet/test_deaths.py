"""What a fleet loses when a machine or the driver dies: nothing."""

import os
import signal
from pathlib import Path

import pytest

from tests.fleet.conftest import TwoNodes, begin_eval, check_all, write_tasks
from tests.rounds import rounds
from tests.waiting import wait_until

pytestmark = pytest.mark.slow

COUNT = rounds(28, 60)
TOLD = COUNT // 5
"""Results that are waited for before a death."""


def test_every_session_survives_the_death_of_a_machine_and_of_the_driver(two_nodes: TwoNodes, tmp_path: Path) -> None:
    tasks, out = write_tasks(tmp_path, COUNT), tmp_path / "out"
    driver = begin_eval(tasks, out, "--address", two_nodes.address)
    assert driver.stdout is not None
    for _ in range(TOLD):
        assert driver.stdout.readline()
    wait_until(lambda: _stopped_amid(driver.pid, out / "steps"))
    os.kill(driver.pid, signal.SIGKILL)
    driver.communicate()
    done = len((out / "results.jsonl").read_text().splitlines())

    driver = begin_eval(tasks, out, "--address", two_nodes.address, "--resume")
    assert driver.stdout is not None
    for _ in range(TOLD):
        assert driver.stdout.readline()
    two_nodes.kill_second()
    rest, told = driver.communicate()
    assert driver.returncode == 0, told
    assert done + TOLD + len(rest.splitlines()) == COUNT
    check_all(out, COUNT)
    logs = "".join(file.read_text() for file in (out / "logs").glob("t*.log"))
    assert "is lost" in logs
    assert "after step" in logs


def _stopped_amid(driver: int, steps: Path) -> bool:
    """Whether it was stopped while a run is under way that has left a step; if not, it goes on."""
    os.kill(driver, signal.SIGSTOP)
    if any(steps.iterdir()):
        return True
    os.kill(driver, signal.SIGCONT)
    return False
