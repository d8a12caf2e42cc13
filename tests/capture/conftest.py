"""A project outside of the temporary folders."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.outside import outside_folder


@pytest.fixture
def outside() -> Iterator[Path]:
    with outside_folder() as folder:
        project = folder / "project"
        project.mkdir()
        subprocess.run(["git", "init", "-q", str(project)], check=True)
        yield project
