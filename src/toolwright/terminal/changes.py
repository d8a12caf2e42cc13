"""A changed file as a person is shown it: a diff, or a sentence where the file is not text."""

from pathlib import Path

from toolwright.files.body import Body, Link
from toolwright.text.diff import unified
from toolwright.text.display import visible


def shown_change(path: str, before: Body, after: Body, folder: Path) -> str:
    """Return how a file differs; None stands for a file that is not there."""
    name = visible(_relative(path, folder), lines=False)
    texts = _as_text(before), _as_text(after)
    if texts[0] is None or texts[1] is None:
        kind = "added" if before is None else "deleted" if after is None else "changed"
        return f"{name}: {kind} (not text, so no lines are shown)\n"
    return visible(unified(_relative(path, folder), texts[0], texts[1]))


def _relative(path: str, folder: Path) -> str:
    return str(Path(path).relative_to(folder)) if Path(path).is_relative_to(folder) else path


def _as_text(data: Body) -> str | None:
    """The content as text; None if it is none. A link is where it leads."""
    if data is None:
        return ""
    if isinstance(data, Link):
        return f"-> {data.target}\n"
    if b"\0" in data:
        return None
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return None
