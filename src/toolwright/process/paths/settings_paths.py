"""Folders and files that tell us, and programs like us, what is allowed: not for a command to write or to read."""

import os
from contextlib import suppress
from pathlib import Path

from toolwright.process.paths.safe_stat import hold_folder, is_real_folder

SETTINGS_FOLDERS = (".toolwright", ".opencode")
SETTINGS = ("toolwright.json", "toolwright.jsonc", "opencode.json", "opencode.jsonc", *SETTINGS_FOLDERS)
"""Files of settings, which tell us what is allowed, and so are not for a command to write."""
PLANS = (".toolwright/plans", ".opencode/plans")
"""The part of them that agents write."""
SET_ASIDE = 32
"""The most settings of one name, made by commands, that are kept."""


def settings_of(directory: Path, root: Path) -> list[Path]:
    """Every place from the folder opened up to its root where settings are looked for, there or not."""
    folders = [directory, *(parent for parent in directory.parents if parent.is_relative_to(root))]
    return [folder / name for folder in folders for name in SETTINGS]


def set_aside(place: Path, folder: Path) -> Path | None:
    """Move what a command has put in a place of settings to where it has no effect; None if it holds only plans."""
    try:
        if is_real_folder(place) and os.listdir(place) in ([], ["plans"]):  # noqa: PTH208 - names are all that is needed
            return None
        # The folder that it is in may by now be a link to where somebody else has settings.
        holder = hold_folder(place.parent)
    except OSError:
        return None
    try:
        return _moved(place, holder, folder)
    finally:
        os.close(holder)


def _moved(place: Path, holder: int, folder: Path) -> Path | None:
    """Renamed and never copied, for who knows how large it is. Where `folder` is on another disk, it stays beside."""
    names = (f"{number}-{place.name.lstrip('.')}" for number in range(1, SET_ASIDE))
    target = folder / next((name for name in names if not os.path.lexists(folder / name)), f"last-{place.name}")
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        os.rename(place.name, target, src_dir_fd=holder)
        return target
    beside = f"set-aside-{os.urandom(4).hex()}-{place.name.lstrip('.')}"
    with suppress(OSError):
        os.rename(place.name, beside, src_dir_fd=holder, dst_dir_fd=holder)
        return place.with_name(beside)
    return None
