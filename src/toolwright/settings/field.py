"""Fields of the settings: what each does, and what a project that is not trusted may do with it."""

import posixpath
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Any, Literal

from toolwright.record import record

Untrusted = Literal["user_only", "tightens", "free"]
"""What a project may say before the user trusts it: nothing, only what restricts more, or anything."""
Tighten = Callable[[Any, Any], Any]
"""The stricter of what stands and what is said, as JSON values."""


@record(frozen=True, slots=True, kw_only=True)
class Setting:
    """The note on a field, written as `Annotated[type, user_only("what it does")]`."""

    does: str
    untrusted: Untrusted
    tighten: Tighten | None = None
    """Also holds a user's value within the bounds of a managed one."""
    default: str = ""
    """The default in words, where its value does not tell."""
    schema: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Further keywords of JSON Schema."""
    key: str = ""
    """The name in a file, where it is not that of the field."""
    short: str = ""
    """For a section: the field that a plain value in its place stands for."""
    before_trust: str = ""
    """What an untrusted project may do with it, in words, where there is more to say."""
    effect: bool = True
    """Whether anything follows from it yet; if not, whoever writes it is told."""


def user_only(does: str, tighten: Tighten | None = None, **more: Any) -> Setting:
    return Setting(does=does, untrusted="user_only", tighten=tighten, **more)


def tightens(does: str, tighten: Tighten | None = None, **more: Any) -> Setting:
    return Setting(does=does, untrusted="tightens", tighten=tighten, **more)


def free(does: str, **more: Any) -> Setting:
    return Setting(does=does, untrusted="free", **more)


def lowest(current: Any, said: Any) -> Any:
    """The smaller number; None is no limit at all."""
    return said if current is None else min(current, said)


def off_wins(current: Any, said: Any) -> Any:
    return current and said


def joined(current: Sequence[str], said: Sequence[str]) -> list[str]:
    """Both lists: what they name is withheld."""
    return list(dict.fromkeys((*current, *said)))


def also(current: Mapping[str, bool], said: Mapping[str, bool]) -> dict[str, bool]:
    """Return the current list with what is switched on besides."""
    return {**current, **{name: True for name, on in said.items() if on}}


def within(current: Sequence[str], said: Sequence[str]) -> list[str]:
    """Return the entries of both lists: they grant."""
    return [entry for entry in said if entry in current]


def within_if_any(current: Sequence[str], said: Sequence[str]) -> list[str]:
    """The same where an empty list means everything."""
    return within(current, said) or list(current) if current else list(said)


def narrower(current: Sequence[str], said: Sequence[str]) -> list[str]:
    """The places said that lie within the current ones; if none does, the current ones."""
    return [place for place in said if any(_holds(outer, place) for outer in current)] or list(current)


def stricter_mode(current: str, said: str) -> str:
    """`auto` may be made definite; nothing but `off` itself becomes `off`."""
    if current == "off":
        return said
    return said if current == "auto" and said != "off" else current


def refusing(current: str, said: str) -> str:
    return said if said == "refuse" else current


def lower_limits(current: Mapping[str, Any], said: Mapping[str, Any]) -> dict[str, Any]:
    """Limits of output that are nowhere above the current ones, the general or those of the same agent or tool."""
    lower = _lower(current, said)
    for group in ("agent", "tool"):
        entries = {
            name: _lower({**current, **current.get(group, {}).get(name, {})}, limits)
            for name, limits in said.get(group, {}).items()
        }
        lower |= {group: entries} if entries else {}
    return lower


def _lower(current: Mapping[str, Any], said: Mapping[str, Any]) -> dict[str, Any]:
    limits = {key: min(said[key], current[key]) for key in ("max_lines", "max_bytes") if key in said}
    return limits | {key: value for key, value in said.items() if key == "direction"}


def _holds(outer: str, place: str) -> bool:
    if outer == "/":
        return True
    outer, place = posixpath.normpath(outer), posixpath.normpath(place)
    return place == outer or place.startswith(f"{outer}/")
