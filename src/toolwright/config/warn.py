"""Warnings about what a file says in vain: keys that do not exist, and settings without effect so far."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from toolwright.config.jsonc import KeyPath
from toolwright.config.source import Source
from toolwright.schema import shown_path
from toolwright.settings import AgentSettings, Settings
from toolwright.settings.derive import notes_of
from toolwright.settings.record import FOREIGN

MOST = 20
"""Of one file; whoever has more mistakes knows by then."""
NEAR_MISS = 0.85
PERMISSIONS = frozenset(
    {
        "*", "apply_patch", "bash", "bash_input", "bash_output", "batch", "codesearch", "doom_loop", "edit",
        "external_directory", "glob", "grep", "list", "lsp", "multiedit", "patch", "plan_enter", "plan_exit",
        "question", "read", "skill", "task", "todoread", "todowrite", "webfetch", "websearch", "write",
    }
)  # fmt: skip
"""The permissions that tools ask for. A tool of a plugin may have one of its own, so others are no mistake."""


def unknown_keys(source: Source, record: Any) -> list[str]:
    """The warnings about one source, each with its place."""
    return list(islice(_section(source, record, source.value, ()), MOST))


def _section(source: Source, record: Any, value: Mapping[str, Any], path: KeyPath) -> Iterator[str]:
    notes = notes_of(record)
    for key, entry in value.items():
        here = (*path, key)
        note = notes.get(key)
        if note is None:
            yield from _unknown(source, record, here, notes)
            continue
        if note.setting is not None and not note.setting.effect and entry not in (False, None):
            yield f"{source.where(here)}: {_shown(source, here)} has no effect so far"
        if key in ("permission", "tools") and isinstance(entry, Mapping):
            yield from _near_misses(source, entry, here, PERMISSIONS)
        elif note.section and isinstance(entry, Mapping):
            yield from _section(source, note.section, entry, here)
        elif note.entries and isinstance(entry, Mapping):
            for name, below in entry.items():
                yield from _section(source, note.entries, below, (*here, name))


def _unknown(source: Source, record: Any, path: KeyPath, known: Iterable[str]) -> Iterator[str]:
    if record is Settings and path[-1] in (*FOREIGN, *OTHER_NAMES):
        return
    if record is AgentSettings:
        # What is not known here is meant for the provider, unless it looks like a slip.
        yield from _near_misses(source, {path[-1]: None}, path[:-1], known)
    else:
        near = _nearest(str(path[-1]), known, 0.6)
        hint = f"; did you mean {near!r}?" if near else "; it is ignored"
        yield f"{source.where(path)}: unknown key {_shown(source, path)!r}{hint}"


OTHER_NAMES = ("mode", "tool_output")


def _near_misses(source: Source, value: Mapping[Any, Any], path: KeyPath, known: Iterable[str]) -> Iterator[str]:
    names = list(known)
    for key in islice(value, 1000):
        if key not in names and (near := _nearest(str(key), names, NEAR_MISS)):
            here = (*path, key)
            yield f"{source.where(here)}: unknown key {_shown(source, here)!r}; did you mean {near!r}?"


def _shown(source: Source, path: KeyPath) -> str:
    return shown_path(source.written(path))


def _nearest(key: str, known: Iterable[str], cutoff: float) -> str:
    from difflib import get_close_matches

    near = get_close_matches(key, known, n=1, cutoff=cutoff) if len(key) <= 60 else []
    return near[0] if near else ""
