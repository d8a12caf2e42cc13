"""Time and tokens that the tools of sessions took, their failures, and the cost of offering each."""

from collections.abc import Iterable
from typing import Any

from toolwright.calls.parts import Completed, Failed, ToolPart
from toolwright.definition import Tool
from toolwright.messages import Message
from toolwright.models.formats.sizes import tools_size
from toolwright.models.model import ToolSpec
from toolwright.record import record
from toolwright.workspace import Workspace


@record(slots=True)
class ToolUse:
    """The use of one tool."""

    tool: str
    calls: int = 0
    failures: int = 0
    seconds: float = 0.0
    tokens: int = 0
    """Of its arguments and outputs, about."""
    schema_tokens: int = 0
    """Of its description and parameters, in every request that offers it."""

    def as_json(self) -> dict[str, Any]:
        names = ("tool", "calls", "failures", "seconds", "tokens", "schema_tokens")
        return {name: getattr(self, name) for name in names}


async def report(workspace: Workspace, session_id: str = "") -> list[ToolUse]:
    """The tools by the time they took, those never called at the end; of one session or of all."""
    session = workspace.session()
    offered = await workspace.registry.tools("", "", session.ruled_agent)
    uses = {tool.id: ToolUse(tool.id, schema_tokens=_size(tool)) for tool in offered}
    roots = [session_id] if session_id else [info.id for info in await workspace.sessions.listed(100_000)]
    for one in roots:
        _count(await workspace.sessions.messages(one), uses)
        if session_id:
            for child in await workspace.sessions.children(one):
                _count(await workspace.sessions.messages(child.id), uses)
    return sorted(uses.values(), key=lambda use: (-use.seconds, -use.tokens, -use.calls, use.tool))


def _size(tool: Tool) -> int:
    return tools_size([ToolSpec(name=tool.id, description=tool.description, schema=tool.parameters)])


def _count(messages: Iterable[Message], found: dict[str, ToolUse]) -> None:
    for message in messages:
        for part in message.parts.values():
            if isinstance(part, ToolPart):
                _add(found.setdefault(part.tool, ToolUse(part.tool)), part)


def _add(use: ToolUse, part: ToolPart) -> None:
    use.calls += 1
    if isinstance(part.state, Completed | Failed):
        text = part.state.output if isinstance(part.state, Completed) else part.state.error
        use.failures += isinstance(part.state, Failed)
        use.seconds = round(use.seconds + max(0, (part.state.time.end or 0) - part.state.time.start) / 1000, 3)
        use.tokens += (len(text) + sum(len(str(value)) for value in part.state.input.values())) // 4
