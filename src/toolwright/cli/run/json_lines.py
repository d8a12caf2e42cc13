"""Events of `tw run --format json`, one line each; `events.schema.json` beside this file describes them."""

import json
import sys
import time
from collections.abc import Sequence
from dataclasses import field, replace
from importlib.resources import files
from typing import Any, TextIO

from toolwright.calls.parts import Completed, Failed, ToolPart
from toolwright.cli.output import say_json
from toolwright.cli.run.refusals import Refusal
from toolwright.errors import ToolwrightError
from toolwright.events import Event, PartUpdated, PermissionAsked, PermissionReplied
from toolwright.messages import ReasoningPart, StepFinishPart, StepStartPart, TextPart, User
from toolwright.protocols.client_json import to_json
from toolwright.protocols.json_types import Json
from toolwright.record import record
from toolwright.session.events import MessageUpdated, SessionCreated, SessionError
from toolwright.session.result import TurnResult
from toolwright.version import VERSION


def line_schema() -> Json:
    """The JSON Schema of a line."""
    schema: Json = json.loads((files("toolwright.cli.run") / "events.schema.json").read_text("utf-8"))
    return schema


@record(slots=True)
class JsonLines:
    """Writes the lines of a session and of its subagents, first `start`, last `result`."""

    session_id: str
    out: TextIO = field(default_factory=lambda: sys.stdout)
    _written: set[str] = field(default_factory=set[str])
    _parents: dict[str, str] = field(default_factory=dict[str, str])
    """The subagents' sessions, each with the one that started it."""
    _started: bool = False

    def __call__(self, event: Event) -> None:
        match event:
            case SessionCreated(info=info) if info.parent_id and self._knows(info.parent_id):
                self._parents[info.id] = info.parent_id
            case MessageUpdated(info=User() as info) if info.session_id == self.session_id:
                self._start(info.agent, f"{info.model.provider_id}/{info.model.model_id}")
            case PartUpdated(part=part) if self._knows(part.session_id):
                self._part(part)
            case PermissionAsked() | PermissionReplied() if self._knows(event.session_id):
                kind = "permission_asked" if isinstance(event, PermissionAsked) else "permission_replied"
                self._write(kind, event.session_id, {"permission": to_json(event)})
            case SessionError(session_id=self.session_id):
                self._write("error", self.session_id, {"error": to_json(event.error)})
            case _:
                pass

    def end(self, result: TurnResult, refused: Sequence[Refusal], code: int, reason: str) -> None:
        """The last line: what the whole came to."""
        value: Any = result.output
        changes = [{"file": one.file, "additions": one.additions, "deletions": one.deletions} for one in result.changes]
        self._finish(
            text=result.text,
            reason=reason,
            code=code,
            steps=result.steps,
            tokens=to_json(result.tokens),
            cost=result.cost,
            changes=changes,
            refused=[to_json(one) for one in refused],
            error={"name": result.error.name, "message": str(result.error)} if result.error else None,
            **({} if value is None else {"output": value}),
            **({} if result.evidence is None else {"evidence": result.evidence.as_json()}),
        )

    def fail(self, error: ToolwrightError, code: int, reason: str) -> None:
        """The last line of a prompt that could not even be taken."""
        self._finish(reason=reason, code=code, error={"name": type(error).__name__, "message": str(error)})

    def _finish(self, *, reason: str, code: int, error: Json | None, **more: Any) -> None:
        self._start("", "")
        nothing: Json = {"text": "", "steps": 0, "tokens": {"input": 0, "output": 0, "total": 0}, "cost": 0.0}
        nothing |= {"changes": [], "refused": []}
        line = nothing | more | {"reason": reason, "exitCode": code, "error": error}
        self._write("result", self.session_id, line)

    def _start(self, agent: str, model: str) -> None:
        if not self._started:
            self._started = True
            self._write("start", self.session_id, {"version": VERSION, "agent": agent, "model": model})

    def _knows(self, session_id: str) -> bool:
        return session_id == self.session_id or session_id in self._parents

    def _part(self, part: Any) -> None:
        if isinstance(part, TextPart) and part.metadata and "notAttached" in part.metadata:
            self._write("not_attached", part.session_id, {"message": part.metadata["notAttached"]})
            return
        kind = _line_type(part)
        if kind and part.id not in self._written:
            self._written.add(part.id)
            plain = replace(part, shown=None) if isinstance(part, ToolPart) else part
            self._write(kind, part.session_id, {"part": to_json(plain)})

    def _write(self, kind: str, session_id: str, more: Json) -> None:
        line: Json = {"type": kind, "timestamp": time.time_ns() // 1_000_000, "sessionID": session_id}
        if session_id in self._parents:
            line["parentID"] = self._parents[session_id]
        text = json.dumps(line | more, ensure_ascii=False, separators=(",", ":"))
        say_json(text, to=self.out)


def _line_type(part: Any) -> str | None:
    """The kind of line a part becomes, once it is complete."""
    match part:
        case StepStartPart():
            return "step_start"
        case StepFinishPart():
            return "step_finish"
        case TextPart(synthetic=None, time=span) if span is not None and span.end is not None:
            return "text"
        case ReasoningPart(time=span) if span.end is not None:
            return "reasoning"
        case ToolPart(state=Completed() | Failed()):
            return "tool_use"
        case _:
            return None
