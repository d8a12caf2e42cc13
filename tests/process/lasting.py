"""A folder that no box replaces by one of its own, where one can be written."""

import os
from pathlib import Path

import pytest

from toolwright.process.box.box import TEMP_FOLDERS

ROOT = Path(__file__).parents[2]


def lasting_folder() -> str:
    """The first that is outside the temporary folders; without any, the test is skipped."""
    for place in (Path("/var/lib"), Path.home(), ROOT):
        if os.access(place, os.W_OK) and not any(place.resolve().is_relative_to(one) for one in TEMP_FOLDERS):
            return str(place)
    pytest.skip("no folder outside the temporary ones can be written")
