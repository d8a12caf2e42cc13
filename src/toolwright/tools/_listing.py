"""Names with what they are for, as a description lists them for the model."""

from collections.abc import Iterable

LONGEST = 1024


def listed(entries: Iterable[tuple[str, str]]) -> str:
    """One line each, whatever line ends a description has, so that none can pass for an entry of its own."""
    return "\n".join(map(_line, entries)) or "(none at present)"


def _line(entry: tuple[str, str]) -> str:
    name, description = entry[0], " ".join(entry[1].split())
    if len(description) > LONGEST:
        description = f"{description[: LONGEST - 3]}..."
    return f"- {name}: {description}" if description else f"- {name}"
