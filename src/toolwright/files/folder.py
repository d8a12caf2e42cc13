"""A folder that a call names: there, or an error that says what is."""

import os
import re
from pathlib import Path

from toolwright.errors import ToolError
from toolwright.files.names import missing_file
from toolwright.files.paths import Place


def require_folder(place: Place) -> Path:
    """The folder itself, or a ToolError with near names if it is missing and a better tool if it is a file."""
    if place.path.is_dir():
        return place.path
    if place.path.exists():
        raise ToolError(f"{place.path} is not a folder. Name a folder, or use read to see the file.", "missing")
    raise missing_file(place)


def shown_path(path: str) -> str:
    """A path on one line, whatever is in its name: line breaks, control characters and stray bytes are escaped."""
    return re.sub("[\x00-\x1f\x7f\ud800-\udfff]", lambda match: _escaped(match[0]), path)


def _escaped(char: str) -> str:
    return ascii(os.fsencode(char))[2:-1]
