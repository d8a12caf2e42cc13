"""Acts of a call beyond this machine, and whether they can be taken back."""

import re
from collections.abc import Iterable
from typing import Final, Literal, get_args

from toolwright.record import record

ActClass = Literal["nothing", "here", "reads", "changes", "final"]
CLASSES: Final[tuple[ActClass, ...]] = get_args(ActClass)
"""From what takes nothing away to what cannot be taken back."""
RANKS: Final = {kind: rank for rank, kind in enumerate(CLASSES)}
OUTWARD: Final[tuple[ActClass, ...]] = ("reads", "changes", "final")
"""The classes that rules about acts speak of."""
_PLAIN: Final = {
    "final": "cannot be taken back",
    "changes": "changes what no undo reaches",
    "reads": "only reads",
}


@record(frozen=True, slots=True, kw_only=True)
class Act:
    """One act of a call beyond this machine."""

    kind: ActClass
    program: str = ""
    words: tuple[str, ...] = ()
    """The words that say so, with the program's name first."""
    on: str = ""
    """The thing it acts on, for people."""
    to: tuple[str, ...] = ()
    """Whom it reaches, as the call names them: hosts, addresses, people."""
    things: tuple[tuple[str, str], ...] = ()
    """The things it changes, as arguments of a tool name them: each with the name of its argument."""
    foreign: bool = False
    """True if others have written what it brings."""
    unnamed: str = ""
    """Why it is asked about whatever the rules allow: what nobody has named, and which text did. See `flows/`."""
    forbidden: bool = False
    """True if that is refused, since a secret was seen."""

    def is_named_by(self, pattern: str) -> bool:
        """Return whether a pattern that fits spells out all the words that say so, and leaves none to a wildcard."""
        if not set(pattern) & set("*?"):
            return True
        return {*self.words} <= {word.rstrip("*") for word in pattern.split()}

    def is_meant_by(self, pattern: str) -> bool:
        """Return whether a pattern that fits names whom it reaches, should nobody else have."""
        return not self.unnamed or all(spells(pattern, one) for one in self.to)

    @property
    def sentence(self) -> str:
        """The act for people, in a few plain words."""
        return "; ".join(filter(None, (self._plain, self.unnamed)))

    @property
    def _plain(self) -> str:
        if self.unnamed and self.kind not in OUTWARD:
            return f"reaches {', '.join(self.to)}"
        plain = _PLAIN.get(self.kind, "stays on this machine")
        if self.kind == "reads" and self.on:
            return f"{plain} {self.on}"
        return f"{plain}; acts on {self.on}" if self.on and self.kind in OUTWARD else plain

    @property
    def line(self) -> str:
        """The sentence with the words that it is about."""
        return f"`{' '.join(self.words)}` {self.sentence}" if self.words else self.sentence


def strictest(kinds: Iterable[ActClass]) -> ActClass:
    return max(kinds, key=RANKS.__getitem__)


def spells(pattern: str, name: str) -> bool:
    """Return whether a pattern has the whole name, or a wildcard for no more than hosts below one that it spells."""
    if re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w-]|\.\w)", pattern, re.IGNORECASE):
        return True
    domains = re.findall(r"\*\.([\w-]+(?:\.[\w-]+)+)", pattern)
    return any(name.lower().endswith(f".{domain.lower()}") for domain in domains)
