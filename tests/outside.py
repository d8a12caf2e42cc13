"""A folder outside of the temporary ones, which a box replaces: what is tested below /tmp is not what users have."""

import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from toolwright.process.box.box import TEMP_FOLDERS

_CHECKOUT = Path(__file__).resolve().parents[1]


@contextmanager
def outside_folder() -> Iterator[Path]:
    """Yield a new private folder that no box replaces; skip the test where none can be made.

    Where there is a choice, another user may enter what is above it.
    """
    places = sorted((_CHECKOUT, Path.home(), Path("/opt"), Path("/srv")), key=is_open, reverse=True)
    place = next((one for one in places if is_seen(one) and os.access(one, os.W_OK)), None)
    if place is None:
        pytest.skip("there is no folder outside of the temporary ones that can be written")
    folder = Path(tempfile.mkdtemp(prefix=".outside-", dir=place))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def is_open(place: Path) -> bool:
    """Whether every user may enter it."""
    return all(one.is_dir() and one.stat().st_mode & stat.S_IXOTH for one in (place, *place.parents))


def is_seen(place: Path) -> bool:
    """Whether a folder is one that boxes show: none of the temporary ones, nor in one."""
    real = place.resolve()
    return real.is_dir() and not any(real.is_relative_to(folder) for folder in TEMP_FOLDERS)


needs_checkout = pytest.mark.skipif(
    not is_seen(_CHECKOUT), reason="the checkout lies in a temporary folder, which a box replaces"
)
"""For a test whose box has to show our own modules."""
