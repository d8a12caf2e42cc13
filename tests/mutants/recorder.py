"""A plugin of pytest that records which test runs which lines of src, programs that a test starts included."""

import os
from collections.abc import Iterator
from pathlib import Path

import coverage
import pytest

FOLDER = "TOOLWRIGHT_RECORDED_LINES"
"""The variable that names the folder of the records."""
TEST = "TOOLWRIGHT_RECORDED_TEST"
SETTINGS = f"""[run]
source_pkgs = toolwright
parallel = true
data_file = ${{{FOLDER}}}/lines
context = ${{{TEST}-}}
core = ctrace
patch = subprocess
"""
_recording: list[coverage.Coverage] = []


def pytest_configure(config: pytest.Config) -> None:
    if _recording or FOLDER not in os.environ:
        return
    if hasattr(config, "workerinput") or not config.getoption("numprocesses", None):
        os.environ[TEST] = ""
        recording = coverage.Coverage(config_file=str(Path(os.environ[FOLDER]) / "settings"))
        recording.start()
        _recording.append(recording)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    for recording in _recording:
        os.environ[TEST] = item.nodeid
        recording.switch_context(item.nodeid)
    return (yield)


def pytest_unconfigure() -> None:
    for recording in _recording:
        recording.stop()
        recording.save()
