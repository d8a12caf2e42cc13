"""The table of all settings as it stands in the guide, made from the record."""

from collections.abc import Iterator
from typing import Any, Literal, get_args, get_origin

from toolwright.settings.derive import FieldNote, leaves
from toolwright.settings.record import Settings

HEAD = ("| setting | what it does | default | before trust |", "|---|---|---|---|")
_BEFORE_TRUST = {"user_only": "no effect", "tightens": "may tighten", "free": "as said"}


def table_lines() -> Iterator[str]:
    """One row for each setting that has an effect."""
    yield from HEAD
    for path, note in leaves(Settings):
        if note.setting is not None and note.setting.effect:
            before = note.setting.before_trust or _BEFORE_TRUST[note.setting.untrusted]
            yield f"| `{'.'.join(path)}` | {note.setting.does}{_choices(note.hint)} | {_default(note)} | {before} |"


def without_effect() -> list[str]:
    """The settings that are checked and have no effect so far."""
    return [".".join(path) for path, note in leaves(Settings) if note.setting and not note.setting.effect]


def _choices(hint: Any) -> str:
    literals = [kind for kind in (hint, *get_args(hint)) if get_origin(kind) is Literal]
    *most, last = [f"`{choice}`" for kind in literals[:1] for choice in get_args(kind)] or [""]
    return f": {', '.join(most)} or {last}" if most else ""


def _default(note: FieldNote) -> str:
    if note.setting is not None and note.setting.default:
        return note.setting.default
    value: Any = note.default
    if value in (None, "", (), {}):
        return "none"
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    if isinstance(value, tuple):
        return f"`{list(value)}`".replace("'", '"')
    return f"`{value}`" if isinstance(value, str) else str(value)
