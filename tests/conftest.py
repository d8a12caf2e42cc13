"""What all tests share: a project in a folder of its own."""

import gc
import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from tests.waiting import PATIENCE
from toolwright.process import selftest
from toolwright.process.selftest import Findings, SelfTest

# The tests may themselves run in a box, in which some commands refuse what is tried here.
os.environ.pop("TOOLWRIGHT_SANDBOX", None)

# How long an example takes says more about the machine than about us.
settings.register_profile("without deadline", deadline=None)
# What is merged is judged by the same examples each time; on a desk every run looks further.
settings.register_profile("repeatable", deadline=None, derandomize=True)
settings.load_profile("repeatable" if os.environ.get("CI") else "without deadline")


# Nothing that is imported or collected is freed again.
gc.disable()


def pytest_collection_finish() -> None:
    """The tests themselves stay to the end: nobody needs to look through them for what can be freed."""
    gc.freeze()
    gc.enable()


@pytest.fixture(autouse=True)
def ids_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ids that one test has brought do not shape those of the next."""
    monkeypatch.setattr("toolwright.ids._followed", {})


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


HURRIED = (
    "toolwright.mcp.client.server.CONNECT",
    "toolwright.mcp.client.servers.PATIENCE",
    "toolwright.models.local_servers.PATIENCE",
    "toolwright.shell.second.TIMEOUT",
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
def tried_out() -> dict[str, Findings]:
    """What kinds of sandbox work, by what the machine was like when they were tried out."""
    return {}


@pytest.fixture(autouse=True)
def sandboxes_are_tried_out_once(monkeypatch: pytest.MonkeyPatch, tried_out: dict[str, Findings]) -> None:
    """And as long as a busy machine takes. Tests of the trial itself have a fixture of this name that does nothing."""
    try_out = SelfTest._try_linux

    async def once(self: SelfTest) -> Findings:
        machine = json.dumps(selftest._machine())
        if machine not in tried_out:
            tried_out[machine] = await try_out(self)
        return tried_out[machine]

    monkeypatch.setattr(SelfTest, "_try_linux", once)
    monkeypatch.setattr(selftest, "PATIENCE", PATIENCE)
