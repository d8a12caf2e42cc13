"""What all tests share: a project in a folder of its own."""

from pathlib import Path

import pytest
from hypothesis import settings

# How long an example takes says more about the machine than about us.
settings.register_profile("without deadline", deadline=None)
settings.load_profile("without deadline")


@pytest.fixture(autouse=True)
def ids_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ids that one test has brought do not shape those of the next."""
    monkeypatch.setattr("toolwright.ids._followed", {})


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder
