"""What a call asks leave for: one permission, the things it would touch, and what "always" would allow."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any


class PathPattern(str):
    """A path as a permission pattern: one text to show, several spellings that a rule may use for it.

    A rule matches when it matches any spelling; a rule that restricts also matches other cases of the
    letters, so that `.ENV` is protected like `.env`, and the names by which links lead to the path.
    """

    __slots__ = ("aliases", "spellings")
    spellings: tuple[str, ...]
    aliases: tuple[str, ...]

    def __new__(cls, shown: str, also: Iterable[str] = (), aliases: Iterable[str] = ()) -> "PathPattern":
        self = super().__new__(cls, shown)
        self.spellings = tuple(dict.fromkeys((shown, *also)))
        self.aliases = tuple(dict.fromkeys(aliases))
        return self


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One permission a call needs. All requests of a call are judged before anything is asked or done."""

    permission: str
    patterns: tuple[str, ...]
    """What the user is shown, and what rules are matched against."""
    always: tuple[str, ...] = ("*",)
    """The patterns that a lasting approval would store; empty where none may be offered."""
    implied: tuple[str, ...] = ()
    """Judged like `patterns` but not shown: what the shown text really comes down to."""
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any])
