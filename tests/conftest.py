"""What all tests share: a project in a folder of its own."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

# The tests may themselves run in a box, in which some commands refuse what is tried here.
os.environ.pop("TOOLWRIGHT_SANDBOX", None)

# How long an example takes says more about the machine than about us.
settings.register_profile("without deadline", deadline=None)
# What is merged is judged by the same examples each time; on a desk every run looks further.
settings.register_profile("repeatable", deadline=None, derandomize=True)
settings.load_profile("repeatable" if os.environ.get("CI") else "without deadline")


@pytest.fixture(autouse=True)
def ids_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ids that one test has brought do not shape those of the next."""
    monkeypatch.setattr("toolwright.ids._followed", {})


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder
