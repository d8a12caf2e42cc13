"""toolwright: the tool system for coding agents. Names are loaded when they are first used."""

import sys

from toolwright.version import VERSION

# Written out, because importing `typing` would double what `tw --version` costs.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any

    from toolwright.app import Workspace, open_workspace
    from toolwright.errors import ToolError, ToolwrightError
    from toolwright.permission.broker import Reply
    from toolwright.permission.rules import Rule
    from toolwright.request import Request
    from toolwright.signature import Field
    from toolwright.tool import Attachment, Call, Result, Tool, ToolContext, tool
else:
    ModuleType = type(sys)

__version__ = VERSION

_HOMES = {
    "Attachment": "toolwright.tool",
    "Call": "toolwright.tool",
    "Field": "toolwright.signature",
    "Reply": "toolwright.permission.broker",
    "Request": "toolwright.request",
    "Result": "toolwright.tool",
    "Rule": "toolwright.permission.rules",
    "Tool": "toolwright.tool",
    "ToolContext": "toolwright.tool",
    "ToolError": "toolwright.errors",
    "ToolwrightError": "toolwright.errors",
    "Workspace": "toolwright.app",
    "open_workspace": "toolwright.app",
    "tool": "toolwright.tool",
}

__all__ = [
    "Attachment",
    "Call",
    "Field",
    "Reply",
    "Request",
    "Result",
    "Rule",
    "Tool",
    "ToolContext",
    "ToolError",
    "ToolwrightError",
    "Workspace",
    "__version__",
    "open_workspace",
    "tool",
]


def __getattr__(name: str) -> "Any":
    """`import toolwright` costs nothing; a name costs its module, once."""
    if name not in _HOMES:
        raise AttributeError(f"module 'toolwright' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)


class _Package(ModuleType):
    """Keeps `toolwright.tool` the decorator, where the import system would put the module of that name."""

    def __setattr__(self, name: str, value: object) -> None:
        named = name in _HOMES and isinstance(value, ModuleType)
        super().__setattr__(name, getattr(value, name) if named else value)


sys.modules[__name__].__class__ = _Package
