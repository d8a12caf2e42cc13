"""Events of a session, as the updates an editor shows."""

import time
from dataclasses import field
from pathlib import Path
from typing import Any

from toolwright.app.outcome import FileChanges, Outcome, text_of
from toolwright.app.shown import Looks, looks_of, view_of
from toolwright.calls.look import CallView
from toolwright.calls.parts import Completed, Failed, FilePart, Pending, Running, ToolPart
from toolwright.events import Event, PartUpdated
from toolwright.files.body import Body, Link, body_at, name_of
from toolwright.files.journal import JournalEntry
from toolwright.messages import Assistant, Message, ReasoningPart, TextPart, User
from toolwright.protocols.json_types import Json
from toolwright.record import record
from toolwright.session.events import AgentSwitched, MessageUpdated, PartDelta, SessionUpdated, TodoUpdated
from toolwright.text.display import visible
from toolwright.text.ids import new_id
from toolwright.workspace import Workspace

OUTPUT_SECONDS = 0.1
OUTPUT = 4096
"""Characters of a command's output that are shown while it runs."""
TITLE = 200
"""Characters of a call's title."""
LARGEST = 4 * 1024 * 1024
"""Bytes of a file that a difference is shown of."""


def named(view: CallView) -> Json:
    """Return the title of a call, and its kind."""
    return {"title": visible(view.title)[:TITLE], "kind": view.kind}


def text_block(text: str) -> Json:
    return {"type": "text", "text": text}


def chunk(kind: str, message_id: str, content: Json) -> Json:
    return {"sessionUpdate": kind, "messageId": message_id, "content": content}


@record(slots=True)
class Updates:
    """Turns the events of one session into updates, in order."""

    workspace: Workspace
    session_id: str
    folder: str
    """The workspace's folder as the editor names it, which may be by a link."""
    terminals: dict[str, str] = field(default_factory=dict[str, str])
    """The terminals of the editor that calls run in."""
    _kinds: dict[str, str] = field(default_factory=dict[str, str])
    """Kind of each part that grows: an answer or a thought."""
    _mode: str = ""
    _written: "dict[str, list[JournalEntry]]" = field(default_factory=dict)
    """Entries of what calls have written, as far as the journal was read."""
    _read_to: int = 0
    _told: dict[str, str] = field(default_factory=dict[str, str])
    """The last state told of each call."""
    _shown_at: dict[str, float] = field(default_factory=dict[str, float])
    _title: str = ""
    looks: Looks = field(init=False)

    def __post_init__(self) -> None:
        self.looks = looks_of(self.workspace)

    def of(self, event: Event) -> list[Json]:
        match event:
            case PartDelta(session_id=self.session_id) if event.field == "text" and event.part_id in self._kinds:
                return [chunk(self._kinds[event.part_id], event.message_id, text_block(event.delta))]
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
                return [{"sessionUpdate": "session_info_update", "title": visible(info.title, lines=False)}]
            case AgentSwitched(session_id=self.session_id, agent=agent):
                return self.mode(agent)
            case MessageUpdated(info=Assistant() as info) if info.session_id == self.session_id and info.finish:
                return self._usage(info)
        return []

    def mode(self, agent: str) -> list[Json]:
        """Return the agent that works now, if that is news."""
        known, self._mode = self._mode, agent
        return [{"sessionUpdate": "current_mode_update", "currentModeId": agent}] if agent != known else []

    def editor_path(self, path: Path) -> str:
        """A path in the words of the editor."""
        inside = path.is_relative_to(self.workspace.directory)
        return str(Path(self.folder, path.relative_to(self.workspace.directory)) if inside else path)

    def call(self, part: ToolPart) -> list[Json]:
        """A call: announced once, then its states."""
        state, before = part.state, self._told.get(part.call_id, "")
        if before in ("completed", "failed"):
            return []
        part = self.looks.with_view(part)
        updates: list[Json] = []
        if not before:
            updates.append(
                {
                    "sessionUpdate": "tool_call",
                    "toolCallId": part.call_id,
                    **named(view_of(part)),
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
                updates += self._running(part, state)
            case Completed():
                self._told[part.call_id] = "completed"
                updates.append(self._ended(part, "completed", state.output))
            case Failed():
                self._told[part.call_id] = "failed"
                updates.append(self._ended(part, "failed", state.error))
        return updates

    def _running(self, part: ToolPart, state: Running) -> list[Json]:
        update: Json = {"sessionUpdate": "tool_call_update", "toolCallId": part.call_id}
        if self._told[part.call_id] == "pending":
            self._told[part.call_id] = "in_progress"
            return [
                update
                | {
                    "status": "in_progress",
                    **named(view_of(part)),
                    "locations": self.locations(part),
                    "rawInput": state.input,
                }
            ]
        if part.call_id in self.terminals:
            return []
        output = (state.metadata or {}).get("output")
        if (
            not isinstance(output, str)
            or not output
            or time.monotonic() - self._shown_at.get(part.call_id, 0) < OUTPUT_SECONDS
        ):
            return []
        self._shown_at[part.call_id] = time.monotonic()
        return [update | {"status": "in_progress", "content": [_content(output[-OUTPUT:])]}]

    def _ended(self, part: ToolPart, status: str, text: str) -> Json:
        content = self._content(part, text)
        metadata = part.state.metadata if isinstance(part.state, Completed) else {}
        update: Json = {
            "sessionUpdate": "tool_call_update",
            "toolCallId": part.call_id,
            "status": status,
            **named(view_of(part)),
            "content": content,
            "rawInput": part.state.input,
            "rawOutput": {"output": text, "metadata": metadata} if status == "completed" else {"error": text},
        }
        self._shown_at.pop(part.call_id, None)
        locations = self.locations(part)
        return update | ({"locations": locations} if locations else {})

    def _content(self, part: ToolPart, text: str) -> list[Json]:
        """Return the content of a finished call: its changes, its words, and its pictures."""
        terminal = self.terminals.pop(part.call_id, "")
        if terminal:
            return [{"type": "terminal", "terminalId": terminal}, *self.diffs(part)]
        files: tuple[FilePart, ...] = (part.state.attachments or ()) if isinstance(part.state, Completed) else ()
        images = [image_block(file) for file in files if is_image(file)]
        blocks = [*([text_block(text)] if text else []), *images]
        return [*self.diffs(part), *({"type": "content", "content": block} for block in blocks)]

    def diffs(self, part: ToolPart) -> list[Json]:
        """Every file the call has written, whole as it was and as the call has left it."""
        journal = self.workspace.files.journal
        size = journal.size(self.session_id)
        if size != self._read_to:
            for entry in journal.entries(self.session_id, self._read_to):
                self._written.setdefault(entry.call_id, []).append(entry)
            self._read_to = size
        first: dict[str, str | None] = {}
        last: dict[str, str | None] = {}
        for entry in self._written.get(part.call_id, ()):
            first.setdefault(entry.path, entry.before)
            last[entry.path] = entry.after
        diffs = (self._diff(Path(path), before, last[path]) for path, before in first.items())
        return [one for one in diffs if one is not None]

    def _diff(self, path: Path, before: str | None, after: str | None) -> Json | None:
        images = self.workspace.files.journal.images
        try:
            present = body_at(path)
        except OSError:
            present = None
        new = None if after is None else present if name_of(present) == after else images.body(after, present)
        old = None if before is None else images.body(before, new or present)
        lost = (before is not None and old is None) or (after is not None and new is None)
        if lost or sum(len(one) for one in (old, new) if isinstance(one, bytes)) > LARGEST:
            return None
        return {
            "type": "diff",
            "path": self.editor_path(path),
            "oldText": _as_text(old),
            "newText": _as_text(new) or "",
        }

    def locations(self, part: ToolPart) -> list[Json]:
        """The files a call is about, with the line to look at if it is known."""
        places: list[Json] = [{"path": str(Path(self.folder, path))} for path in view_of(part).places]
        changed = part.state.metadata.get("lines") if isinstance(part.state, Completed) else None
        line = changed[0] if isinstance(changed, list) and changed else part.state.input.get("offset")
        if len(places) == 1 and isinstance(line, int) and line > 0:
            places[0]["line"] = line
        return places

    def _usage(self, info: Assistant) -> list[Json]:
        size = 0
        for model in self.workspace.connections.catalog.models(info.provider_id):
            size = model.limits.context if model.id == info.model_id else size
        cost = {"amount": info.cost, "currency": "USD"}
        return [{"sessionUpdate": "usage_update", "used": info.tokens.total, "size": size, "cost": cost}]

    def outcome(self, outcome: Outcome) -> list[Json]:
        """Return the outcome of a command of ours, as words of the agent; of several lines, as they stand."""
        text = text_of(outcome).rstrip()
        if "\n" in text:
            text = f"```{'diff' if isinstance(outcome, FileChanges) else ''}\n{text}\n```"
        return [chunk("agent_message_chunk", new_id("msg"), text_block(text))] if text else []

    def replay(self, messages: list[Message]) -> list[Json]:
        """An earlier conversation, whole."""
        updates: list[Json] = []
        for message in messages:
            kind = "user_message_chunk" if isinstance(message.info, User) else "agent_message_chunk"
            for part in message.parts.values():
                if isinstance(part, TextPart) and part.text and not part.synthetic:
                    updates.append(chunk(kind, message.info.id, text_block(part.text)))
                elif isinstance(part, ReasoningPart) and part.text:
                    updates.append(chunk("agent_thought_chunk", message.info.id, text_block(part.text)))
                elif isinstance(part, FilePart) and is_image(part):
                    updates.append(chunk(kind, message.info.id, image_block(part)))
                elif isinstance(part, FilePart) and part.url.startswith("file:"):
                    link = {"type": "resource_link", "uri": part.url, "name": part.filename or part.url}
                    updates.append(chunk(kind, message.info.id, link))
                elif isinstance(part, ToolPart):
                    updates += self.call(part)
        return updates


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


def _as_text(body: Body) -> str | None:
    if isinstance(body, Link):
        return f"-> {body.target}\n"
    return None if body is None else body.decode("utf-8", "replace")


def is_image(file: FilePart) -> bool:
    return file.mime.startswith("image/") and file.url.startswith("data:")


def image_block(file: FilePart) -> Json:
    return {"type": "image", "mimeType": file.mime, "data": file.url.partition(",")[2]}
