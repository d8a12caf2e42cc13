"""Requests for permission: which permission, on what, and what "always" would allow."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import field
from pathlib import Path
from typing import Any, Self

from toolwright.calls.acts import RANKS, Act
from toolwright.record import record


class PathPattern(str):
    """A path as a permission pattern: one text to show, several spellings that a rule may use for it.

    A rule matches when it matches any spelling; a rule that restricts also matches other cases of the
    letters, so that `.ENV` is protected like `.env`, and the names by which links lead to the path.
    """

    __slots__ = ("aliases", "path", "spellings")
    spellings: tuple[str, ...]
    aliases: tuple[str, ...]
    path: Path | None
    """Its place on disk; None for what is no file of this machine."""

    def __new__(
        cls, text: str, also: Iterable[str] = (), aliases: Iterable[str] = (), path: Path | None = None
    ) -> Self:
        self = super().__new__(cls, text)
        self.spellings = tuple(dict.fromkeys((text, *also)))
        self.aliases = tuple(dict.fromkeys(aliases))
        self.path = path
        return self


class HostPattern(PathPattern):
    """A web address as a permission pattern that only a rule which spells its host may allow."""

    __slots__ = ("hosts",)
    hosts: tuple[str, ...]

    def __new__(cls, text: str, also: Iterable[str] = (), hosts: Iterable[str] = ()) -> Self:
        self = super().__new__(cls, text, also)
        self.hosts = tuple(hosts)
        return self

    def is_spelled_by(self, rule: str) -> bool:
        """Return whether the rule has the whole host in it, not a wildcard that fits it among others."""
        return any(re.search(rf"(?<![\w.-]){re.escape(host)}(?![\w.-])", rule, re.IGNORECASE) for host in self.hosts)


@record(frozen=True, slots=True, kw_only=True)
class Below:
    """A folder whose content is touched as a whole, or somewhere in it."""

    folder: PathPattern
    names: tuple[str, ...] = ()
    """The names in it now, from there."""
    complete: bool = True
    """True if those are all the names there are."""
    certain: bool = True
    """True if all of it is touched; else only something in it, nobody knows what."""
    grows: bool = True
    """True if a name that is not there yet may come to be in it."""
    listed: bool = False
    """True if the names are what a listing in the line itself comes to."""
    broad: bool = False
    """True if it is so much that only what rules say of fixed places in it counts."""
    guarded: bool = False
    """True if a box keeps what no setting gives away: our settings and git's own files."""


@record(frozen=True, slots=True, kw_only=True)
class Request:
    """One permission a call needs. All requests of a call are judged before anything is asked or done."""

    permission: str
    patterns: tuple[str, ...]
    """The things asked for: shown to the user, and matched against rules."""
    always: tuple[str, ...] = ("*",)
    """The patterns that a lasting approval would store; empty where none may be offered."""
    always_reading: tuple[str, ...] = ()
    """Of those, the ones that would be for reading alone."""
    implied: tuple[str, ...] = ()
    """Judged like `patterns` but not shown: what the shown text really comes down to."""
    exact: Mapping[str, str] = field(default_factory=dict[str, str])
    """Patterns that only an approval of one text covers, with that text; none does where it is empty."""
    only_read: tuple[str, ...] = ()
    """Of the patterns, those that are read and not changed, for which an approval to read is enough."""
    suspected: tuple[str, ...] = ()
    """Things that may be done but need not be: they count only where a rule speaks of them by name, and then ask."""
    below: tuple[Below, ...] = ()
    """Folders with all that is in them."""
    acts: Mapping[str, Act] = field(default_factory=dict[str, Act])
    """Acts beyond this machine, by the pattern that does them: judged with it, by the rules about `act`."""
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Help for a person who decides, such as the difference an edit makes; it decides nothing itself."""
    must_ask: bool = False
    """Set where not all of it could be understood: what the rules allow is asked about all the same."""
    contained: bool = False
    """True if a complete box contains it: then what is not understood is asked about only where rules restrict."""
    title: str = ""
    """The call in one line, where its tool can say it better than its patterns."""

    @property
    def places(self) -> tuple[Path, ...]:
        """The files and folders that its patterns name, where each really is."""
        named = (one for one in (*self.patterns, *self.implied) if isinstance(one, PathPattern))
        return tuple(one.path for one in named if one.path is not None)

    @property
    def act_lines(self) -> tuple[str, ...]:
        """Return the acts that no undo reaches or nobody has named, one line for each."""
        acts = sorted(self.acts.values(), key=lambda act: -RANKS[act.kind])
        return tuple(dict.fromkeys(act.line for act in acts if act.unnamed or act.kind in ("changes", "final")))


@record(frozen=True, slots=True, kw_only=True)
class Need:
    """A permission that a call asks for beside another, and on what."""

    permission: str
    patterns: tuple[str, ...]


@record(frozen=True, slots=True, kw_only=True)
class Option:
    """An answer to choose."""

    label: str
    description: str
