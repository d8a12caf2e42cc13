"""Lasting approvals: what a person has allowed for a session, a project or for good, in a file they can edit."""

import json
from collections.abc import Iterable
from dataclasses import field
from pathlib import Path
from typing import Any, Literal

from toolwright.calls.request import PathPattern, Request
from toolwright.errors import ConfigError, UsageError
from toolwright.machine.private_files import read_private, update
from toolwright.permission.defaults import is_protected
from toolwright.protocols.json_text import read_json
from toolwright.record import record
from toolwright.schema.check import problems_with

Scope = Literal["session", "project", "user"]
_OUTSIDE = "external_directory"
_READING = "(read) "


@record(frozen=True, slots=True)
class Approval:
    """Permission given once for everything that begins like this. Unlike a rule it knows no wildcard but a final `*`.

    Our settings and the files of git are covered only by their own name.
    """

    permission: str
    pattern: str
    reading: bool = False
    """True if it is for reading alone. Only folders outside the project have such."""

    @classmethod
    def written(cls, permission: str, text: str) -> "Approval":
        """The approval that a text stands for, as people see, edit and revoke it."""
        reading = permission == _OUTSIDE and text.startswith(_READING)
        return cls(permission, text.removeprefix(_READING) if reading else text, reading)

    @property
    def text(self) -> str:
        """The pattern as people see it: `(read) /opt/*` is for reading alone."""
        return f"{_READING}{self.pattern}" if self.reading else self.pattern

    def covers(self, permission: str, pattern: str) -> bool:
        """Tell whether it was given for this, as far as it may be: one for reading alone covers what is only read."""
        if permission != self.permission:
            return False
        spellings = pattern.spellings if isinstance(pattern, PathPattern) else (pattern,)
        if not self.exact and is_protected(permission, spellings):
            return False
        return any(map(self._covers, spellings))

    @property
    def exact(self) -> bool:
        return not self.pattern.endswith("*")

    def _covers(self, text: str) -> bool:
        if self.exact:
            return text == self.pattern
        start = self.pattern[:-1]
        return text.startswith(start) or (start.endswith(" ") and text == start[:-1])


def offered(request: Request) -> tuple[Approval, ...]:
    """Return the approvals that an `always` would store."""
    return tuple(Approval(request.permission, pattern, pattern in request.always_reading) for pattern in request.always)


def covered(request: Request, pattern: str, approvals: Iterable[Approval]) -> bool:
    """Tell whether one of the approvals was given for this; an approval never covers what the person did not see."""
    only_read = pattern in request.only_read
    fitting = [one for one in approvals if only_read or not one.reading]
    if pattern in request.exact:
        wanted = request.exact[pattern]
        return bool(wanted) and any(
            one.exact and one.permission == request.permission and one.pattern == wanted for one in fitting
        )
    return any(one.covers(request.permission, pattern) for one in fitting)


def act_covered(request: Request, pattern: str, approvals: Iterable[Approval]) -> bool:
    """Tell whether one of the approvals was given for what this does beyond this machine.

    It must name it by its words, and nothing lasting is given for what cannot be taken back.
    """
    act = request.acts[pattern]
    naming = [one for one in approvals if act.is_named_by(one.pattern) and act.is_meant_by(one.pattern)]
    return act.kind != "final" and covered(request, pattern, naming)


@record(slots=True, kw_only=True)
class Approvals:
    """The approvals of one project and its user. A change to the file, by whomever, holds from the next call on."""

    file: Path
    project: Path
    _by_session: dict[str, list[Approval]] = field(default_factory=dict[str, list[Approval]])
    _stamp: tuple[int, ...] = ()
    """The stamp of the file read last: two changes in a moment may leave the same time and size."""
    _stored: tuple[Approval, ...] = ()

    def of(self, sessions: tuple[str, ...]) -> tuple[Approval, ...]:
        """Return what holds in a session: its own and its callers' approvals, the project's and the user's."""
        self._refresh()
        return (*self._stored, *(approval for one in sessions for approval in self._by_session.get(one, ())))

    def add(self, approvals: tuple[Approval, ...], scope: Scope, session: str) -> None:
        if scope == "session":
            self._by_session.setdefault(session, []).extend(approvals)
            return

        def added(text: str) -> str:
            data = self._parsed(text)
            known = self._section(data, scope)
            known += (entry for approval in approvals if (entry := _entry(approval)) not in known)
            return _file_text(data)

        update(self.file, added)

    def forget(self, session: str) -> None:
        """Let go of the approvals of a session that is over."""
        self._by_session.pop(session, None)

    def listed(self) -> list[tuple[Scope, Approval]]:
        """The stored approvals that hold here, with their scope."""
        data = self._read()
        return [(scope, _approval(entry)) for scope in ("user", "project") for entry in self._section(data, scope)]

    def revoke(self, permission: str, pattern: str) -> int:
        """Remove approvals from every scope, by their text; the number that went."""
        unwanted = Approval.written(permission, pattern)
        removed = 0

        def without(text: str) -> str:
            nonlocal removed
            data = self._parsed(text)
            for scope in ("user", "project"):
                section = self._section(data, scope)
                kept = [entry for entry in section if _approval(entry) != unwanted]
                removed += len(section) - len(kept)
                section[:] = kept
            if not removed:
                raise UsageError(f"No approval {permission} {pattern!r} is stored for {self.project}.")
            return _file_text(data)

        update(self.file, without)
        return removed

    def _section(self, data: dict[str, Any], scope: Literal["user", "project"] | str) -> list[dict[str, Any]]:
        if scope == "user":
            section: list[dict[str, Any]] = data.setdefault("user", [])
            return section
        projects: dict[str, list[dict[str, Any]]] = data.setdefault("projects", {})
        return projects.setdefault(str(self.project), [])

    def _refresh(self) -> None:
        try:
            status = self.file.stat()
        except FileNotFoundError:
            self._stamp, self._stored = (), ()
            return
        stamp = (status.st_ino, status.st_ctime_ns, status.st_mtime_ns, status.st_size)
        if stamp != self._stamp:
            self._stored = tuple(approval for _, approval in self.listed())
            self._stamp = stamp

    def _read(self) -> dict[str, Any]:
        return self._parsed(read_private(self.file))

    def _parsed(self, text: str) -> dict[str, Any]:
        if not text.strip():
            return {}
        try:
            data = read_json(text)
        except ValueError as error:
            raise ConfigError(f"{self.file}: {error}. Correct the file, or delete it to be asked again.") from error
        problems = problems_with(data, _FILE)
        if problems:
            raise ConfigError(f"{self.file}: {problems[0]}. Correct the file, or delete it to be asked again.")
        entries: dict[str, Any] = data
        return entries


def _file_text(data: dict[str, Any]) -> str:
    return json.dumps(data, indent=2, ensure_ascii=False) + "\n"


_ENTRIES = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {
            "permission": {"type": "string"},
            "pattern": {"type": "string"},
            "reading": {"type": "boolean"},
        },
        "required": ["permission", "pattern"],
    },
}
_FILE = {
    "type": "object",
    "properties": {"user": _ENTRIES, "projects": {"type": "object", "additionalProperties": _ENTRIES}},
}


def _entry(approval: Approval) -> dict[str, Any]:
    entry: dict[str, Any] = {"permission": approval.permission, "pattern": approval.pattern}
    return entry | ({"reading": True} if approval.reading else {})


def _approval(entry: dict[str, Any]) -> Approval:
    """Return the approval in an entry of the file; those of older versions have its text for its pattern."""
    if "reading" in entry:
        return Approval(entry["permission"], entry["pattern"], entry["reading"])
    return Approval.written(entry["permission"], entry["pattern"])
