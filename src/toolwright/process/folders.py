"""Folders and files that tell us, and programs like us, what is allowed: not for a command to write or to read."""

import shutil
from contextlib import suppress
from pathlib import Path

from toolwright.process.sight import is_folder

SETTINGS_FOLDERS = (".toolwright", ".opencode")
SETTINGS = ("toolwright.json", "toolwright.jsonc", "opencode.json", "opencode.jsonc", *SETTINGS_FOLDERS)
"""What tells us what is allowed is not for a command to write."""
PLANS = (".toolwright/plans", ".opencode/plans")
"""The part of them that agents write."""
SHOWN_OF_OURS = ("tool-output", "plans", "skill", "skills")
"""What of our own folders a command may read, if it was allowed to."""


def settings_of(directory: Path, root: Path) -> list[Path]:
    """Every place from the folder opened up to its root where settings are looked for, there or not."""
    folders = [directory, *(parent for parent in directory.parents if parent.is_relative_to(root))]
    return [folder / name for folder in folders for name in SETTINGS]


def set_aside(place: Path, folder: Path) -> Path | None:
    """Move what a command has put in a place of settings to where it has no effect; None if it holds only plans."""
    if is_folder(place) and not place.is_symlink() and [entry.name for entry in place.iterdir()] in ([], ["plans"]):
        return None
    number = 1
    while (folder / f"{number}-{place.name.lstrip('.')}").exists():
        number += 1
    target = folder / f"{number}-{place.name.lstrip('.')}"
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        shutil.move(place, target)
        return target
    return None
