"""The types of JSON: the two names that every module uses for it."""

from collections.abc import Mapping
from typing import Any

Json = dict[str, Any]
"""An object that we made, or took over."""
JsonView = Mapping[str, Any]
"""An object that is somebody else's to change."""
