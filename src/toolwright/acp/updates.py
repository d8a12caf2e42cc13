"""What happens in a session, as the updates an editor shows."""

import time
from dataclasses import field
from pathlib import Path
from typing import Any

from toolwright.events import Event, PartUpdated
from toolwright.files.body import body_at
from toolwright.jsontypes import Json
from toolwright.messages import Assistant, Message, ReasoningPart, TextPart, User
from toolwright.parts import Completed, Failed, FilePart, Pending, Running, ToolPart
from toolwright.record import record
from toolwright.session.events import MessageUpdated, PartDelta, SessionUpdated, TodoUpdated
from toolwright.workspace import Workspace

OUTPUT_SECONDS = 0.1
OUTPUT = 4096
"""Characters of a command's output that are shown while it runs."""
_KINDS = {
    "read": "read",
    "list": "read",
    "glob": "search",
    "grep": "search",
    "codesearch": "search",
    "edit": "edit",
    "write": "edit",
    "multiedit": "edit",
    "apply_patch": "edit",
    "bash": "execute",
    "webfetch": "fetch",
    "websearch": "fetch",
    "todowrite": "think",
    "task": "think",
    "plan_exit": "switch_mode",
    "plan_enter": "switch_mode",
}


def kind_of(tool: str) -> str:
    return _KINDS.get(tool, "other")


def text_block(text: str) -> Json:
    return {"type": "text", "text": text}


def chunk(kind: str, text: str) -> Json:
    return {"sessionUpdate": kind, "content": text_block(text)}


@record(slots=True)
class Updates:
    """Turns the events of one session into updates, in order."""

    workspace: Workspace
    session_id: str
    _kinds: dict[str, str] = field(default_factory=dict[str, str])
    """Whether a part that grows is an answer or a thought."""
    _told: dict[str, str] = field(default_factory=dict[str, str])
    """The last state told of each call."""
    _shown_at: dict[str, float] = field(default_factory=dict[str, float])
    _title: str = ""

    def of(self, event: Event) -> list[Json]:
        match event:
            case PartDelta(session_id=self.session_id) if event.field == "text" and event.part_id in self._kinds:
                return [chunk(self._kinds[event.part_id], event.delta)]
            case PartUpdated(part=TextPart(time=span) as part) if part.session_id == self.session_id and span:
                self._kinds[part.id] = "agent_message_chunk"
            case PartUpdated(part=ReasoningPart() as part) if part.session_id == self.session_id:
                self._kinds[part.id] = "agent_thought_chunk"
            case PartUpdated(part=ToolPart() as part) if part.session_id == self.session_id:
                return self.call(part)
            case TodoUpdated(session_id=self.session_id):
                return [plan(event.todos)]
            case SessionUpdated(info=info) if info.id == self.session_id and info.title != self._title:
                self._title = info.title
                return [{"sessionUpdate": "session_info_update", "title": info.title}]
            case MessageUpdated(info=Assistant() as info) if info.session_id == self.session_id and info.finish:
                return self._usage(info)
        return []

    def call(self, part: ToolPart) -> list[Json]:
        """A call: announced once, then its states."""
        state, before = part.state, self._told.get(part.call_id, "")
        if before in ("completed", "failed"):
            return []
        found: list[Json] = []
        if not before:
            found.append(
                {
                    "sessionUpdate": "tool_call",
                    "toolCallId": part.call_id,
                    "title": title_of(part),
                    "kind": kind_of(part.tool),
                    "status": "pending",
                    "locations": self.locations(part),
                    "rawInput": state.input,
                }
            )
            self._told[part.call_id] = "pending"
        match state:
            case Pending():
                pass
            case Running():
                found += self._running(part, state)
            case Completed():
                self._told[part.call_id] = "completed"
                found.append(self._ended(part, "completed", state.output))
            case Failed():
                self._told[part.call_id] = "failed"
                found.append(self._ended(part, "failed", state.error))
        return found

    def _running(self, part: ToolPart, state: Running) -> list[Json]:
        update: Json = {"sessionUpdate": "tool_call_update", "toolCallId": part.call_id}
        if self._told[part.call_id] == "pending":
            self._told[part.call_id] = "in_progress"
            return [
                update
                | {
                    "status": "in_progress",
                    "title": title_of(part),
                    "locations": self.locations(part),
                    "rawInput": state.input,
                }
            ]
        output = (state.metadata or {}).get("output")
        if not isinstance(output, str) or time.monotonic() - self._shown_at.get(part.call_id, 0) < OUTPUT_SECONDS:
            return []
        self._shown_at[part.call_id] = time.monotonic()
        return [update | {"content": [_content(output[-OUTPUT:])]}]

    def _ended(self, part: ToolPart, status: str, text: str) -> Json:
        content = [*self.diffs(part), *([_content(text)] if text else [])]
        files: tuple[FilePart, ...] = (part.state.attachments or ()) if isinstance(part.state, Completed) else ()
        content += [_image(file) for file in files if file.mime.startswith("image/") and file.url.startswith("data:")]
        update: Json = {
            "sessionUpdate": "tool_call_update",
            "toolCallId": part.call_id,
            "status": status,
            "title": title_of(part),
            "content": content,
            "rawInput": part.state.input,
            "rawOutput": {"output": text} if status == "completed" else {"error": text},
        }
        locations = self.locations(part)
        return update | ({"locations": locations} if locations else {})

    def diffs(self, part: ToolPart) -> list[Json]:
        """Every file the call has written, whole as it was and as it is."""
        journal = self.workspace.files.journal
        first: dict[str, str | None] = {}
        for entry in journal.entries(part.session_id):
            if entry.call_id == part.call_id:
                first.setdefault(entry.path, entry.before)
        found = []
        for path, name in first.items():
            try:
                present = body_at(Path(path))
            except OSError:
                continue
            before = None if name is None else journal.images.body(name, present)
            found.append(
                {
                    "type": "diff",
                    "path": path,
                    "oldText": before.decode("utf-8", "replace") if isinstance(before, bytes) else None,
                    "newText": present.decode("utf-8", "replace") if isinstance(present, bytes) else "",
                }
            )
        return found

    def locations(self, part: ToolPart) -> list[Json]:
        given = part.state.input
        named = given.get("filePath") or (given.get("path") if part.tool in ("read", "list", "glob", "grep") else None)
        if not isinstance(named, str) or not named or "\0" in named:
            return []
        place: Json = {"path": str(self.workspace.directory / named)}
        line = given.get("offset")
        return [place | ({"line": line} if isinstance(line, int) and line > 0 else {})]

    def _usage(self, info: Assistant) -> list[Json]:
        size = 0
        for model in self.workspace.connections.catalog.models(info.provider_id):
            size = model.limits.context if model.id == info.model_id else size
        cost = {"amount": info.cost, "currency": "USD"}
        return [{"sessionUpdate": "usage_update", "used": info.tokens.total, "size": size, "cost": cost}]

    def replay(self, messages: list[Message]) -> list[Json]:
        """An earlier conversation, whole."""
        found: list[Json] = []
        for message in messages:
            said = "user_message_chunk" if isinstance(message.info, User) else "agent_message_chunk"
            for part in message.parts.values():
                if isinstance(part, TextPart) and part.text and not part.synthetic:
                    found.append(chunk(said, part.text))
                elif isinstance(part, ReasoningPart) and part.text:
                    found.append(chunk("agent_thought_chunk", part.text))
                elif isinstance(part, ToolPart):
                    found += self.call(part)
        return found


def title_of(part: ToolPart) -> str:
    """The call in words: the command itself, or what is done to which file."""
    given = part.state.input
    if part.tool == "bash" and isinstance(given.get("command"), str):
        return str(given["command"])[:200] or "bash"
    for name in ("filePath", "path", "pattern", "url", "query", "description"):
        if isinstance(given.get(name), str) and given[name]:
            return f"{part.tool.capitalize()} {given[name]}"[:200]
    return part.tool


def plan(todos: Any) -> Json:
    entries = [
        {
            "content": str(one.get("content", "")),
            "priority": one.get("priority") if one.get("priority") in ("high", "medium", "low") else "medium",
            "status": one.get("status") if one.get("status") in ("pending", "in_progress", "completed") else "pending",
        }
        for one in todos
        if one.get("status") != "cancelled"
    ]
    return {"sessionUpdate": "plan", "entries": entries}


def _content(text: str) -> Json:
    return {"type": "content", "content": text_block(text)}


def _image(file: FilePart) -> Json:
    data = file.url.partition(",")[2]
    return {"type": "content", "content": {"type": "image", "mimeType": file.mime, "data": data}}
