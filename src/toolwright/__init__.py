"""toolwright: the tool system for coding agents. Names are loaded when they are first used."""

from toolwright.version import VERSION

# Written out, because importing `typing` would double what `tw --version` costs.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from toolwright.definition import Attachment, Call, Result, Tool, ToolContext, tool
    from toolwright.errors import ConfigError, ToolError, ToolwrightError, UsageError
    from toolwright.extension import Extension, Hook
    from toolwright.inbox import Question, Reply
    from toolwright.models.model import Model
    from toolwright.permission.rules import Rule
    from toolwright.request import Request
    from toolwright.session.budget import Budget
    from toolwright.session.result import TurnResult
    from toolwright.session.session import Session
    from toolwright.signature import Field
    from toolwright.workspace import Workspace, open_workspace, run_sync
__version__ = VERSION

_HOMES = {
    "Attachment": "toolwright.definition",
    "Budget": "toolwright.session.budget",
    "Call": "toolwright.definition",
    "ConfigError": "toolwright.errors",
    "Extension": "toolwright.extension",
    "Field": "toolwright.signature",
    "Hook": "toolwright.extension",
    "Model": "toolwright.models.model",
    "Question": "toolwright.inbox",
    "Reply": "toolwright.inbox",
    "Request": "toolwright.request",
    "Result": "toolwright.definition",
    "Rule": "toolwright.permission.rules",
    "Session": "toolwright.session.session",
    "Tool": "toolwright.definition",
    "ToolContext": "toolwright.definition",
    "ToolError": "toolwright.errors",
    "ToolwrightError": "toolwright.errors",
    "TurnResult": "toolwright.session.result",
    "UsageError": "toolwright.errors",
    "Workspace": "toolwright.workspace",
    "open_workspace": "toolwright.workspace",
    "run_sync": "toolwright.workspace",
    "tool": "toolwright.definition",
}

__all__ = [
    "Attachment",
    "Budget",
    "Call",
    "ConfigError",
    "Extension",
    "Field",
    "Hook",
    "Model",
    "Question",
    "Reply",
    "Request",
    "Result",
    "Rule",
    "Session",
    "Tool",
    "ToolContext",
    "ToolError",
    "ToolwrightError",
    "TurnResult",
    "UsageError",
    "Workspace",
    "__version__",
    "open_workspace",
    "run_sync",
    "tool",
]


def __getattr__(name: str) -> "Any":
    """`import toolwright` costs nothing; a name costs its module, once."""
    if name not in _HOMES:
        raise AttributeError(f"module 'toolwright' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)
