"""Names near a name that is not there, so that the next try can be right."""

from collections.abc import Iterable
from pathlib import Path

from toolwright.errors import Kind, ToolError
from toolwright.files.held import hold
from toolwright.files.paths import Place

SUGGESTIONS = 3
_LOOKED_AT = 5000


def missing_file(place: Place, kind: Kind = "missing") -> ToolError:
    """The error for a file that does not exist, with up to three names it may have been meant to have."""
    folder = place.path.parent
    if folder.exists() and not folder.is_dir():
        return ToolError(f"There is no file {place.path}: {folder} is a file, not a folder.", kind)
    if not folder.exists():
        return ToolError(f"There is no file {place.path}: its folder does not exist. {_nearest(folder)}", kind)
    names = _names_in(folder)
    alike = containing(place.path.name, names)
    if alike:
        paths = "\n".join(str(folder / name) for name in alike)
        return ToolError(f"There is no file {place.path}.\n\nDid you mean one of these?\n{paths}", kind)
    close = misspelt(place.path.name, names)
    if close:
        paths = " or ".join(str(folder / name) for name in close)
        return ToolError(f"There is no file {place.path}. The nearest name is {paths}.", kind)
    return ToolError(f"There is no file {place.path}. Use glob or list to find its name.", kind)


def containing(wanted: str, names: Iterable[str]) -> list[str]:
    """Names that contain the wanted one or are contained in it, whatever the case of the letters."""
    low = wanted.casefold()
    related = [name for name in names if low in name.casefold() or name.casefold() in low]
    return sorted(related, key=lambda name: (abs(len(name) - len(wanted)), name))[:SUGGESTIONS]


def misspelt(wanted: str, names: Iterable[str]) -> list[str]:
    """Names that differ from the wanted one by a slip or two, the nearest first."""
    from rapidfuzz import process
    from rapidfuzz.distance import DamerauLevenshtein

    slips = max(1, len(wanted) // 4)
    matches = process.extract(
        wanted.casefold(),
        {name: name.casefold() for name in names},
        scorer=DamerauLevenshtein.distance,
        score_cutoff=slips,
        limit=SUGGESTIONS,
    )
    return [name for _, _, name in matches]


def _names_in(folder: Path) -> list[str]:
    try:
        with hold(folder) as held:
            return sorted(held.names(_LOOKED_AT))
    except OSError:
        return []


def _nearest(folder: Path) -> str:
    there = next((parent for parent in folder.parents if parent.is_dir()), folder)
    close = misspelt(folder.name, _names_in(there)) if there == folder.parent else []
    if close:
        return f"The nearest folder is {there / close[0]}."
    return f"The nearest folder that does is {there}."
