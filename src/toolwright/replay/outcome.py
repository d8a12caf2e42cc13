"""Outcomes of calls and of whole sessions, as recorded and as played again."""

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from toolwright.protocols.json_types import Json
from toolwright.record import record


@record(frozen=True, slots=True, kw_only=True)
class CallOutcome:
    """The outcome of a call: its result, and the files it left."""

    status: str
    output: str
    files: Mapping[str, str | None] = field(default_factory=dict[str, str | None])
    """The files it changed, each with the name of its content; None for one that is gone."""

    def as_json(self) -> Json:
        return {"status": self.status, "output": self.output, "files": dict(self.files)}


@record(frozen=True, slots=True, kw_only=True)
class NotPlayed:
    """A call that was not made again, and why."""

    id: str
    tool: str
    why: str

    def as_json(self) -> Json:
        return {"id": self.id, "tool": self.tool, "why": self.why}


@record(frozen=True, slots=True, kw_only=True)
class Replay:
    """The outcome of a session that was played again."""

    calls: int
    """Calls that were played."""
    call: Mapping[str, Any] | None = None
    """The first call that came out otherwise."""
    recorded: CallOutcome | None = None
    replayed: CallOutcome | None = None
    changed_since: tuple[str, ...] = ()
    """Files of the folder that somebody has changed after the session, if a call came out otherwise."""
    not_played: tuple[NotPlayed, ...] = ()
    """Calls that were passed over."""

    @property
    def same(self) -> bool:
        return self.call is None

    def as_json(self) -> Json:
        passed_over: Json = {"not_played": [one.as_json() for one in self.not_played]} if self.not_played else {}
        if self.call is None or self.recorded is None or self.replayed is None:
            return {"same": True, "calls": self.calls, **passed_over}
        return {
            "same": False,
            "calls": self.calls,
            "call": dict(self.call),
            "recorded": self.recorded.as_json(),
            "replayed": self.replayed.as_json(),
            "changed_since": list(self.changed_since),
            **passed_over,
        }
