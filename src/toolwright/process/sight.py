"""Whether something is there, asked so that a place where we may not look is one where nothing is."""

import os
from pathlib import Path


def is_there(place: Path) -> bool:
    return os.path.exists(place)  # noqa: PTH110 - Path.exists raises where it may not look


def is_folder(place: Path) -> bool:
    return os.path.isdir(place)  # noqa: PTH112 - as above
