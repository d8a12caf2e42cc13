"""What is ours in a home of a test."""

from dataclasses import replace
from pathlib import Path

from toolwright.machine.folders import Folders
from toolwright.machine.own_files import Ours


def ours_of(home: Path, data: Path | None = None) -> Ours:
    """Return what belongs to the user with this home, whose data may lie elsewhere."""
    environment = {"HOME": str(home)}
    folders = Folders.of(environment)
    return Ours.of(environment, replace(folders, data=data) if data else folders)
