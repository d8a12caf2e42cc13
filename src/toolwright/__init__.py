"""toolwright: the tool system for coding agents. Names are loaded when they are first used."""

from toolwright.version import VERSION

# Written out, because importing `typing` would double what `tw --version` costs.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from toolwright.calls.request import Request
    from toolwright.definition import Attachment, Call, Result, Tool, ToolContext, tool
    from toolwright.errors import ConfigError, ToolError, ToolwrightError, UsageError
    from toolwright.extension import Extension, Hook
    from toolwright.functions.signature import Field
    from toolwright.inbox import Question, Reply
    from toolwright.mcp.serve.program import serve_mcp
    from toolwright.messages import Message
    from toolwright.models.model import Model
    from toolwright.permission.rules import Rule
    from toolwright.script import run_sync
    from toolwright.session.agent import Agent
    from toolwright.session.alone import CallDecision, CommandOutcome
    from toolwright.session.budget import Budget
    from toolwright.session.result import MadeCall, TurnError, TurnResult
    from toolwright.session.session import Session
    from toolwright.session.turn_events import (
        Asked,
        Finished,
        TextDelta,
        ThinkingDelta,
        ToolFinished,
        ToolProgress,
        ToolStarted,
        TurnEvent,
    )
    from toolwright.session.typed_answer import StructuredOutputError
    from toolwright.session.undo.changes import ChangedFile
    from toolwright.workspace import Workspace, open_workspace
__version__ = VERSION

_HOMES = {
    "Agent": "toolwright.session.agent",
    "Asked": "toolwright.session.turn_events",
    "Attachment": "toolwright.definition",
    "Budget": "toolwright.session.budget",
    "Call": "toolwright.definition",
    "CallDecision": "toolwright.session.alone",
    "ChangedFile": "toolwright.session.undo.changes",
    "CommandOutcome": "toolwright.session.alone",
    "ConfigError": "toolwright.errors",
    "Extension": "toolwright.extension",
    "Field": "toolwright.functions.signature",
    "Finished": "toolwright.session.turn_events",
    "Hook": "toolwright.extension",
    "MadeCall": "toolwright.session.result",
    "Message": "toolwright.messages",
    "Model": "toolwright.models.model",
    "Question": "toolwright.inbox",
    "Reply": "toolwright.inbox",
    "Request": "toolwright.calls.request",
    "Result": "toolwright.definition",
    "Rule": "toolwright.permission.rules",
    "Session": "toolwright.session.session",
    "StructuredOutputError": "toolwright.session.typed_answer",
    "TextDelta": "toolwright.session.turn_events",
    "ThinkingDelta": "toolwright.session.turn_events",
    "Tool": "toolwright.definition",
    "ToolContext": "toolwright.definition",
    "ToolError": "toolwright.errors",
    "ToolFinished": "toolwright.session.turn_events",
    "ToolProgress": "toolwright.session.turn_events",
    "ToolStarted": "toolwright.session.turn_events",
    "ToolwrightError": "toolwright.errors",
    "TurnError": "toolwright.session.result",
    "TurnEvent": "toolwright.session.turn_events",
    "TurnResult": "toolwright.session.result",
    "UsageError": "toolwright.errors",
    "Workspace": "toolwright.workspace",
    "open_workspace": "toolwright.workspace",
    "run_sync": "toolwright.script",
    "serve_mcp": "toolwright.mcp.serve.program",
    "tool": "toolwright.definition",
}

__all__ = [
    "Agent",
    "Asked",
    "Attachment",
    "Budget",
    "Call",
    "CallDecision",
    "ChangedFile",
    "CommandOutcome",
    "ConfigError",
    "Extension",
    "Field",
    "Finished",
    "Hook",
    "MadeCall",
    "Message",
    "Model",
    "Question",
    "Reply",
    "Request",
    "Result",
    "Rule",
    "Session",
    "StructuredOutputError",
    "TextDelta",
    "ThinkingDelta",
    "Tool",
    "ToolContext",
    "ToolError",
    "ToolFinished",
    "ToolProgress",
    "ToolStarted",
    "ToolwrightError",
    "TurnError",
    "TurnEvent",
    "TurnResult",
    "UsageError",
    "Workspace",
    "__version__",
    "open_workspace",
    "run_sync",
    "serve_mcp",
    "tool",
]


def __getattr__(name: str) -> "Any":
    """`import toolwright` costs nothing; a name costs its module, once."""
    if name not in _HOMES:
        raise AttributeError(f"module 'toolwright' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)
