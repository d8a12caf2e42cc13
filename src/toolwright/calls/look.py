"""The look of a call to people: what its tool says of that, and what it comes to for one call."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal

from toolwright.record import record

_PLACE = re.compile(r"\{(.*?)\}")
Kind = Literal["read", "search", "edit", "delete", "move", "execute", "fetch", "think", "switch_mode", "other"]
Arguments = Mapping[str, Any]
LONGEST = 200
"""Characters of what a call is about that stand in one line."""


@record(frozen=True, slots=True, kw_only=True)
class Look:
    """A tool's word on how its calls are shown. Surfaces know it by this alone, not by its name."""

    verb: str = ""
    """Its name in a word or two, such as Edit; its id if empty."""
    kind: Kind | Callable[[Arguments], Kind] = "other"
    subject: str | Callable[[Arguments], str] = ""
    """The argument that says what a call is about; the first text if none is named."""
    place: str | Callable[[Arguments], Sequence[str]] = ""
    """The argument that names the file or folder it is about."""
    act: str = ""
    """The wish of its caller: `run a command`; in braces what stands for the subject: `change {a file}`."""
    quiet: bool = False
    """True if its output is for the model alone, since a person sees otherwise what it has done."""
    lasting: bool = False
    """True if its beginning is worth showing, because its end may be far off."""
    child: str = ""
    """The entry of its metadata that names the session in which its work is done, where it is handed down."""

    def kind_of(self, arguments: Arguments) -> Kind:
        return self.kind(arguments) if callable(self.kind) else self.kind

    def subject_of(self, arguments: Arguments) -> str:
        """Tell in one line what a call is about; empty if its arguments do not say."""
        if callable(self.subject):
            text = self.subject(arguments)
        else:
            value = arguments.get(self.subject) if self.subject else next(_texts(arguments), "")
            text = value if isinstance(value, str) else ""
        lines = text.strip().splitlines() or [""]
        more = f"  (and {len(lines) - 1} more lines)" if len(lines) > 1 else ""
        return f"{lines[0][:LONGEST]}{'…' if len(lines[0]) > LONGEST else ''}{more}"

    def wish_of(self, subject: str) -> str:
        """Say what somebody wants who calls it, about a subject as far as one is known; empty if it does not say."""
        return _PLACE.sub(lambda match: subject or match[1], self.act)

    def places_of(self, arguments: Arguments) -> tuple[str, ...]:
        """Name the files and folders that a call is about, as it has named them."""
        if callable(self.place):
            return tuple(self.place(arguments))
        value = arguments.get(self.place) if self.place else None
        return (value,) if isinstance(value, str) and value and "\0" not in value else ()


def _texts(arguments: Arguments) -> Iterator[str]:
    return (value for value in arguments.values() if isinstance(value, str))


@record(frozen=True, slots=True, kw_only=True)
class CallView:
    """One call as a person is shown it."""

    verb: str
    subject: str = ""
    """Its subject, in one line."""
    title: str = ""
    """The whole in one line."""
    kind: str = "other"
    places: tuple[str, ...] = ()
    additions: int | None = None
    """Lines that it has added to files, where that is known."""
    deletions: int | None = None
    note: str = ""
    """Its outcome, in a word or two."""
    quiet: bool = False
    lasting: bool = False
    child: str = ""
    """The session in which its work is done."""
