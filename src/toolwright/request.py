"""What a call asks leave for: one permission, the things it would touch, and what "always" would allow."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any


class PathPattern(str):
    """A path as a permission pattern: one text to show, several spellings that a rule may use for it.

    A rule matches when it matches any spelling; a rule that restricts also matches other cases of the
    letters, so that `.ENV` is protected like `.env`.
    """

    __slots__ = ("spellings",)
    spellings: tuple[str, ...]

    def __new__(cls, shown: str, also: Iterable[str] = ()) -> "PathPattern":
        self = super().__new__(cls, shown)
        self.spellings = tuple(dict.fromkeys((shown, *also)))
        return self


READ = "(read) "
"""Stands before the pattern of an approval that is for reading alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Below:
    """A folder whose content is touched as a whole, or somewhere in it."""

    folder: PathPattern
    names: tuple[str, ...] = ()
    """What is in it now, from there."""
    complete: bool = True
    """Whether those are all the names there are."""
    certain: bool = True
    """Whether all of it is touched, or only something in it, nobody knows what."""


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
    exact: Mapping[str, str] = field(default_factory=dict[str, str])
    """Patterns that only an approval of one text covers, with that text; none does where it is empty."""
    only_read: tuple[str, ...] = ()
    """Of the patterns, those that are read and not changed, for which an approval to read is enough."""
    suspected: tuple[str, ...] = ()
    """What may be done but need not be: counts only where a rule speaks of it by name, and then asks."""
    below: tuple[Below, ...] = ()
    """Folders with all that is in them."""
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any])
