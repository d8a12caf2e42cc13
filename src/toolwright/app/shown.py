"""Views of calls and changes: worked out once, from what the tools say of themselves."""

from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from toolwright.calls.look import CallView, Look
from toolwright.calls.parts import Completed, Failed, ToolPart
from toolwright.definition import Tool
from toolwright.events import Event, PartUpdated, PermissionAsked
from toolwright.inbox import Question
from toolwright.messages import Message
from toolwright.protocols.json_types import Json, JsonView
from toolwright.record import record
from toolwright.tools import built_in

if TYPE_CHECKING:
    from toolwright.workspace import Workspace

_WAYS = {"doom_loop": "go on, though it repeats itself"}
"""Permissions that are about the way of a call, not about what it does."""
_BESIDES = {
    "edit": "that changes files",
    "read": "that reads files",
    "external_directory": "that leaves the project's folder",
    "webfetch": "that reaches the network",
    "network": "that reaches the network",
}
"""Act of a command for which it needs another permission than to be run."""


@record(frozen=True, slots=True, kw_only=True)
class Looks:
    """The looks of a project's tools."""

    directory: str
    """Files of it are named from here."""
    loaded: Callable[[str], Tool | None] = lambda _: None
    """Finds a tool of the workspace that has been used; those that are built in are found without it."""

    def look(self, tool_id: str) -> Look:
        """Return the look of a tool; of one that nobody knows here, that of any."""
        tool = self.loaded(tool_id) or built_in(tool_id)
        return tool.look if tool else Look()

    def call(self, part: ToolPart) -> CallView:
        """Tell how a call is shown, unless whoever runs it has told already."""
        if part.shown is not None:
            return part.shown
        state = part.state
        look, metadata = self.look(part.tool), getattr(state, "metadata", None) or {}
        subject = self.subject(part.tool, state.input) or (state.title if isinstance(state, Completed) else "")
        verb, kind = look.verb or part.tool, look.kind_of(state.input)
        additions, deletions = _counts(metadata)
        if additions is None and kind == "edit" and isinstance(state, Completed):
            additions, deletions = _written(state.input)
        return CallView(
            verb=verb,
            subject=subject,
            title=subject if kind == "execute" and subject else f"{verb} {subject}".strip(),
            kind=kind,
            places=look.places_of(state.input),
            additions=additions,
            deletions=deletions,
            note=_note(state.input, metadata) if isinstance(state, Completed | Failed) else "",
            quiet=look.quiet,
            lasting=look.lasting,
            child=str(metadata.get(look.child, "")) if look.child else "",
        )

    def subject(self, tool_id: str, arguments: JsonView) -> str:
        """Tell in one line what a call is about, with files named from the project."""
        return self.look(tool_id).subject_of(arguments).removeprefix(f"{self.directory}/")

    def wish(self, tool_id: str, arguments: JsonView, permission: str) -> str:
        """Say what a call wants that asks for a permission."""
        if permission in _WAYS:
            return _WAYS[permission]
        look = self.look(tool_id)
        wanted = look.wish_of(" ".join(self.subject(tool_id, arguments).split())) or f"use {tool_id or permission}"
        return f"{wanted} {_BESIDES[permission]}" if look.kind == "execute" and permission in _BESIDES else wanted

    def with_view(self, part: ToolPart) -> ToolPart:
        return replace(part, shown=self.call(part))

    def event(self, event: Event) -> Event:
        """Add to what happens to a call, or what it asks, how it is shown."""
        match event:
            case PartUpdated(part=ToolPart() as part):
                return replace(event, part=self.with_view(part))
            case PermissionAsked(call=dict() as call):
                return replace(event, call=call | self.asked(call, event.permission))
            case _:
                return event

    def asked(self, call: JsonView, permission: str) -> Json:
        """Tell how a call is shown that asks for a permission: what it wants, and what it is about."""
        tool, arguments = str(call.get("tool", "")), call.get("arguments") or {}
        return {"wish": self.wish(tool, arguments, permission), "subject": self.subject(tool, arguments)}

    async def events(self, events: AsyncIterator[Event]) -> AsyncIterator[Event]:
        """The same for everything that happens."""
        async for event in events:
            yield self.event(event)

    def message(self, message: Message) -> Message:
        """The same for the calls of a message, as it stands now: a copy, for whoever reads it in another thread."""
        views = {name: self.with_view(part) for name, part in message.parts.items() if isinstance(part, ToolPart)}
        return Message(message.info, {**message.parts, **views})


def looks_of(workspace: "Workspace") -> Looks:
    """Return the looks of the tools of a workspace."""
    return Looks(directory=str(workspace.directory), loaded=lambda name: workspace.registry.loaded.get(name))


def wish(question: Question, directory: str = "") -> str:
    """Say what a question asks to be allowed to do: `run a command that changes files`, `change basket.py`."""
    return Looks(directory=directory).wish(question.tool, question.arguments, question.permission)


def view_of(part: ToolPart) -> CallView:
    """Tell how a call is shown that comes from a place where nobody has said so."""
    return part.shown or Looks(directory="").call(part)


def _counts(metadata: JsonView) -> tuple[int, int] | tuple[None, None]:
    """Count the lines of the differences that a result tells."""
    files = metadata.get("files")
    diffs = [one.get("diff") for one in files if isinstance(one, dict)] if isinstance(files, list) else []
    lines = [line for diff in [*diffs, metadata.get("diff")] if isinstance(diff, str) for line in diff.splitlines()]
    if not lines or (diffs and not any(diffs)):
        return None, None
    counted = [line[:1] for line in lines if line[:4] not in ("+++ ", "--- ")]
    return counted.count("+"), counted.count("-")


def _written(arguments: JsonView) -> tuple[int, int] | tuple[None, None]:
    """Count the lines of a file that was not there before."""
    content = arguments.get("content")
    return (len(content.splitlines()), 0) if isinstance(content, str) else (None, None)


def _note(arguments: JsonView, metadata: JsonView) -> str:
    todos: Any = arguments.get("todos")
    match metadata:
        case {"exit": int(code)} if code:
            return f"exit {code}"
        case {"matches": int(count)}:
            return f"{count} match{'' if count == 1 else 'es'}"
        case {"count": int(count)}:
            return f"{count} file{'' if count == 1 else 's'}"
    if isinstance(todos, list):
        return f"{sum(isinstance(one, dict) and one.get('status') == 'completed' for one in todos)} done"
    return ""
