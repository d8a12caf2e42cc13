"""Whom a tool's call reaches and what it changes, by its arguments; and whether the person has named it. Pure."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import Any, Final

from toolwright.calls.acts import Act, spells
from toolwright.definition import Tool
from toolwright.record import record

REACHES: Final = re.compile(
    "to|b?cc|(?:recipient|participant|attendee|invitee|member|assignee|reviewer)s?|(?:user_)?emails?|mail|users?|username"
    "|ur[il]s?|link|href|host|hostname|server|domain|endpoint|webhook(?:_url)?|callback|address|phone|room"
    "|channel(?:_id)?|iban|account|owner|repo|repository|org|organization|team"
)
"""Names of arguments that say who gets to see something, where a tool does not say which of its arguments do."""
_ID: Final = re.compile(r"id|.*_id|.*[a-z]Id")
_HOST: Final = re.compile(r"[a-z][a-z0-9+.-]*://(?:[^/@\s]*@)?(\[[0-9a-fA-F:]+\]|[^/:?#\s]+)|(www\.[\w.-]+)")
LONG_ID: Final = 6
"""Characters from which an id in a prompt is no other number."""


def act_of_call(tool: Tool, arguments: Mapping[str, Any]) -> Act:
    """Return what a call of a tool does, with whom it reaches and what it changes."""
    kind = tool.act or "nothing"
    reaching = [name for name in arguments if _says_where(name, tool)]
    to = [host_of(one) for name in reaching for one in strings(arguments[name])]
    things = list[tuple[str, str]]()
    if kind in ("changes", "final"):
        about = [name for name in arguments if name not in reaching and _says_what(name, tool)]
        if not to and not about:
            about = list(arguments)
        things = [(name, one) for name in about for one in strings(arguments[name])]
    return Act(
        kind=kind,
        program=tool.id,
        on=tool.acts_on,
        to=tuple(dict.fromkeys(to)),
        things=tuple(dict.fromkeys(things)),
    )


def strings(value: object) -> Iterator[str]:
    """Return every text and number in a value of JSON."""
    match value:
        case str():
            yield from (value,) if value.strip() else ()
        case Mapping():
            yield from (one for inner in value.values() for one in strings(inner))
        case list() | tuple():
            yield from (one for inner in value for one in strings(inner))
        case int() | float() if not isinstance(value, bool):
            yield str(value)


def host_of(text: str) -> str:
    """Return the host of an address of the web, and any other text as it is."""
    match = _HOST.match(text)
    return (match[1] or match[2]) if match else text


def says(text: str, name: str) -> bool:
    """Tell whether a text has a name as a whole word, in letters of any case."""
    return bool(name) and re.search(rf"(?<![\w.@-]){re.escape(name)}(?![\w@-])", text, re.IGNORECASE) is not None


@record(slots=True)
class OwnRecords:
    """Names by which the user's own records, which no stranger writes, call an address, or a thing that has an id."""

    names: dict[str, set[str]] = field(default_factory=dict[str, set[str]])

    def add(self, what: str, *names: str) -> None:
        """Say what an address or a thing is called: `ada@example.com` is `Ada`, `file_id:7` is `notes.txt`."""
        self.names.setdefault(what.lower(), set()).update(filter(None, names))

    def names_of(self, what: str) -> set[str]:
        return self.names.get(what.lower(), set())


@record(frozen=True, slots=True, kw_only=True)
class NamedThings:
    """Names from what the person has said, the user's own records and trusted files, and what the session has made."""

    prompts: str = ""
    trusted: str = ""
    allowed: tuple[str, ...] = ()
    """Patterns of rules and lasting answers that let a place be reached."""
    records: OwnRecords = field(default_factory=OwnRecords)
    made: frozenset[str] = frozenset()

    def missing(self, act: Act) -> tuple[str, ...]:
        """Return what of an act nobody has named; of a command that names nobody, its own words."""
        missing = [one for one in act.to if not self._names(one)]
        missing += [value for name, value in act.things if not self._names_thing(name, value)]
        if act.kind in ("changes", "final") and not act.to and not act.things and act.words:
            verbs = [word.lstrip("-") for word in act.words[1:] or act.words]
            missing += [] if all(says(self.prompts, verb) for verb in verbs) else [f"`{' '.join(act.words)}`"]
        return tuple(dict.fromkeys(missing))

    def _names(self, name: str) -> bool:
        spellings = {name, name.removeprefix("www."), *self.records.names_of(name)}
        is_said = any(says(self.prompts, spelling) for spelling in spellings) or says(self.trusted, name)
        return is_said or any(spells(pattern, name) for pattern in self.allowed)

    def _names_thing(self, argument: str, value: str) -> bool:
        if not _ID.fullmatch(argument):
            return says(self.prompts, value)
        if value in self.made or (len(value) >= LONG_ID and says(self.prompts, value)):
            return True
        return any(says(self.prompts, name) for name in self.records.names_of(f"{argument}:{value}"))


_MADE: Final = re.compile(r"""(?<![A-Za-z])id_?['"]?\s*[:=]\s*['"]?([\w-]+)""")


def ids_in(output: str) -> list[str]:
    """Return the ids of what a call says that it has made."""
    return _MADE.findall(output)


def _says_where(name: str, tool: Tool) -> bool:
    return name in tool.reaches if tool.reaches is not None else REACHES.fullmatch(_plain(name)) is not None


def _says_what(name: str, tool: Tool) -> bool:
    return name in tool.about if tool.about is not None else _ID.fullmatch(name) is not None


def _plain(name: str) -> str:
    """The name of an argument as Python spells it."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()
