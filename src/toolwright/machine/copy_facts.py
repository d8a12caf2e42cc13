"""A project that is a copy: which one, and the variables that its commands get, so that copies do not meet."""

from collections.abc import Mapping
from pathlib import Path

from toolwright.machine.folders import Folders
from toolwright.protocols.json_text import read_json
from toolwright.protocols.json_types import Json
from toolwright.record import record

NOTE = "copy.json"
PORTS_FROM, PORTS_EACH = 20_000, 100
"""The ports of the copies: a hundred each, below those that the system hands out."""
MOST = 120
"""Copies that have ports of their own; those beyond share."""


@record(frozen=True, slots=True, kw_only=True)
class CopyFacts:
    """The record of a copy, in the folder beside it that no command reaches."""

    name: str
    variables: Mapping[str, str]

    @classmethod
    def of(cls, folders: Folders, directory: Path) -> "CopyFacts | None":
        """Return what is noted of the copy that a folder lies in; None if it lies in none."""
        root = folders.copies.resolve()
        if not directory.is_relative_to(root) or directory == root:
            return None
        name = directory.relative_to(root).parts[0]
        try:
            noted: Json = read_json((root / name / NOTE).read_text("utf-8"))
            variables = {str(key): str(value) for key, value in noted.get("variables", {}).items()}
        except (OSError, ValueError, AttributeError):
            variables = {}
        return cls(name=name, variables=variables)


def variables_of(name: str, number: int, folder: Path, rules: Mapping[str, str]) -> dict[str, str]:
    """Return the variables of a copy: its name and number, and what the project's rules make of them."""
    port = str(PORTS_FROM + number % MOST * PORTS_EACH)
    values = {"{name}": name, "{number}": str(number), "{port}": port, "{folder}": str(folder)}
    variables = {"TOOLWRIGHT_COPY": name, "TOOLWRIGHT_COPY_NUMBER": str(number)}
    for variable, value in rules.items():
        for place, meant in values.items():
            value = value.replace(place, meant)
        variables[variable] = value
    return variables
