"""What every room of tests shares: a project in a folder of its own."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

# The tests may themselves run in a box, in which some commands refuse what is tried here.
os.environ.pop("TOOLWRIGHT_SANDBOX", None)

# How long an example takes says more about the machine than about us.
settings.register_profile("without deadline", deadline=None)
settings.load_profile("without deadline")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder
