"""What all tests share: a project in a folder of its own."""

import gc
import json
import logging
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from tests.outside import outside_folder
from tests.stacks import stacks
from tests.waiting import PATIENCE
from toolwright.process.sandbox import self_test
from toolwright.process.sandbox.self_test import SandboxFindings, SelfTest

# The tests may themselves run in a box, in which some commands refuse what is tried here.
os.environ.pop("TOOLWRIGHT_SANDBOX", None)

# Shells start what runs in the background with Ctrl-C ignored, and every program of a test would take that over.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# How long an example takes says more about the machine than about us.
PATIENT: Any = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("without deadline", **PATIENT)
# What is merged is judged by the same examples each time; on a desk every run looks further.
settings.register_profile("repeatable", derandomize=True, **PATIENT)
settings.load_profile("repeatable" if os.environ.get("CI") else "without deadline")


SLOW = 300
"""Seconds that a test marked as slow may take; for the others pyproject.toml says it."""
AGAIN = 20
"""Seconds after which a test that goes on all the same is stopped once more: a task may have taken the first."""
ENDING = 60
"""Seconds that the end of a failed test may take. pytest-timeout's limit is over by then."""

# Nothing that is imported or collected is freed again.
gc.disable()


def pytest_collection_finish() -> None:
    """The tests themselves stay to the end: nobody needs to look through them for what can be freed."""
    gc.freeze()
    gc.enable()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("timeout") is None:
        for item in items:
            if item.get_closest_marker("slow") and not item.get_closest_marker("timeout"):
                item.add_marker(pytest.mark.timeout(SLOW))


def pytest_timeout_set_timer(item: pytest.Item, settings: Any) -> bool:
    _limit_time(settings.timeout)
    return True


def _limit_time(seconds: float) -> None:
    """Have a test that takes longer fail, with all stacks in its report: what a worker prints, nobody sees."""

    def stop(number: int, frame: object) -> None:
        pytest.fail(f"It took longer than {seconds:g} seconds.\n\n{stacks()}", pytrace=False)

    signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds, AGAIN)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item) -> None:
    """Limit the end of a failed test too: a loop that closes waits for its threads."""
    if item.config.getoption("timeout") is None and signal.getitimer(signal.ITIMER_REAL)[0] == 0:
        _limit_time(ENDING)


def pytest_timeout_cancel_timer(item: pytest.Item) -> bool:
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    return True


@pytest.fixture(autouse=True)
def ids_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ids that one test has brought do not shape those of the next."""
    monkeypatch.setattr("toolwright.text.ids._followed", {})


@pytest.fixture(autouse=True)
def no_log_of_others() -> Iterator[None]:
    """A library that a test has loaded may write every later log to what commands print."""
    before = logging.root.handlers[:]
    yield
    for handler in logging.root.handlers[:]:
        if handler not in before and not type(handler).__module__.startswith("_pytest"):
            logging.root.removeHandler(handler)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


HURRIED = (
    "toolwright.extension.STARTING",
    "toolwright.extensions.host.STARTING",
    "toolwright.extensions.host.TURN",
    "toolwright.extensions.plugins.STARTING",
    "toolwright.extensions.tool_files.PATIENCE",
    "toolwright.mcp.client.server.CONNECT",
    "toolwright.mcp.client.servers.PATIENCE",
    "toolwright.models.known.local_servers.PATIENCE",
    "toolwright.shell.analysis.shfmt.TIMEOUT",
)
"""Times within which the program goes on without something that on a busy machine only takes longer."""


@pytest.fixture(scope="session", autouse=True)
def nobody_is_hurried() -> Iterator[None]:
    """Tests of such a time set it themselves."""
    with pytest.MonkeyPatch.context() as patch:
        for name in HURRIED:
            patch.setattr(name, float(PATIENCE))
        yield


@pytest.fixture(scope="session")
def tried_out() -> dict[str, SandboxFindings]:
    """What kinds of sandbox work, by what the machine was like when they were tried out."""
    return {}


@pytest.fixture(autouse=True)
def sandboxes_are_tried_out_once(monkeypatch: pytest.MonkeyPatch, tried_out: dict[str, SandboxFindings]) -> None:
    """And as long as a busy machine takes. Tests of the trial itself have a fixture of this name that does nothing."""
    try_out = SelfTest._try_linux

    async def once(self: SelfTest) -> SandboxFindings:
        machine = json.dumps(self_test.machine_of(self._programs))
        if machine not in tried_out:
            tried_out[machine] = await try_out(self)
        return tried_out[machine]

    monkeypatch.setattr(SelfTest, "_try_linux", once)
    monkeypatch.setattr(self_test, "PATIENCE", PATIENCE)


@pytest.fixture
def outside() -> Iterator[Path]:
    """A folder that no box replaces, for a home and a project beside each other (tests/outside.py)."""
    with outside_folder() as folder:
        yield folder
