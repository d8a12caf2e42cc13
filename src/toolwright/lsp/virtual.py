"""Virtual environments of Python, as servers take packages from them."""

import os
import sys
from pathlib import Path


def is_environment(folder: Path) -> bool:
    """Tell whether a folder is a virtual environment that can hold packages."""
    return (folder / "pyvenv.cfg").is_file() and any(folder.glob("lib/*/site-packages"))


def is_in_environment(program: str) -> bool:
    """Tell whether a program was installed into a virtual environment."""
    return any(map(is_environment, Path(os.path.realpath(program)).parents[1:2]))


def empty_environment(folder: Path) -> Path | None:
    """Make a virtual environment in which nothing is installed; None if it cannot be made."""
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    try:
        (folder / "lib" / f"python{version}" / "site-packages").mkdir(parents=True, exist_ok=True)
        (folder / "pyvenv.cfg").write_text(f"home = /nonexistent\nversion = {version}\n")
    except OSError:
        return None
    return folder
