"""Refusals that a turn and its subagents met, gathered while it runs and reported at its end."""

from dataclasses import field
from typing import Literal

from toolwright.events import Event, PermissionAsked, PermissionReplied
from toolwright.record import record
from toolwright.session.result import TurnResult


@record(frozen=True, slots=True, kw_only=True)
class Refusal:
    """One call that did not get what it asked for."""

    tool: str
    what: str
    by: Literal["rule", "answer"]
    agent: str = ""


@record(slots=True)
class Refusals:
    """Listens for questions that were answered with no."""

    answered_no: list[Refusal] = field(default_factory=list[Refusal])
    _asked: dict[str, PermissionAsked] = field(default_factory=dict[str, PermissionAsked])

    def __call__(self, event: Event) -> None:
        match event:
            case PermissionAsked():
                self._asked[event.id] = event
            case PermissionReplied(request_id=request_id, reply=reply) if request_id in self._asked:
                asked = self._asked.pop(request_id)
                if reply == "reject":
                    self.answered_no.append(_refusal(asked))
            case _:
                pass

    def of(self, result: TurnResult) -> list[Refusal]:
        """All of them: those an answer refused, then those a rule did."""
        denied = [call for call in result.refused if call.result.error and call.result.error.kind == "denied"]
        by_rule = [Refusal(tool=one.tool, what=_first_line(one.result.output), by="rule") for one in denied]
        return [*self.answered_no, *by_rule]


def _refusal(asked: PermissionAsked) -> Refusal:
    call = asked.call or {}
    what = f"{asked.permission} {', '.join(asked.patterns)}"
    return Refusal(tool=str(call.get("tool", "")), what=what, by="answer", agent=str(call.get("agent", "")))


def _first_line(text: str) -> str:
    return text.strip().splitlines()[0] if text.strip() else ""
