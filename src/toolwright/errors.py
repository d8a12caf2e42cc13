"""The exceptions of the program.

ToolwrightError
├── ConfigError                 shown to the user: file, line, what was expected
├── ModelError                  a provider failed or refused; see models/model.py
├── UsageError                  shown to the user: a command or call that cannot be carried out as asked
└── ToolError                   written for the model, with a `kind` that programs can rely on
    ├── UnknownTool             `unknown_tool`
    ├── InvalidArguments        `schema`
    └── PermissionDenied        `denied`: a rule said no; the model may go on
        └── PermissionRejected  `rejected`: the user said no; the turn ends unless advice was given
            └── CallChanged     the user wants the call made with other arguments; it is, and nobody sees this
"""

from collections.abc import Mapping
from typing import Any, Literal

Kind = Literal[
    "schema",
    "unknown_tool",
    "not_found",
    "ambiguous",
    "same",
    "missing",
    "unread",
    "stale",
    "binary",
    "is_folder",
    "denied",
    "rejected",
    "aborted",
    "timeout",
    "too_large",
    "network",
    "crash",
    "markers",
    "empty_patch",
    "no_operations",
    "missing_file",
    "lines_not_found",
    "context_header_not_found",
]


class ToolwrightError(Exception):
    """Something this program says itself, in a sentence a person or a model can act on."""


class ConfigError(ToolwrightError):
    """A setting is wrong. The message names the file, the place in it and what was expected."""


class UsageError(ToolwrightError):
    """An agent, a session or an option was asked for that does not exist or makes no sense."""


class SessionBusy(UsageError):
    """Something was asked for that cannot be done while the session works."""


class ToolError(ToolwrightError):
    """A call failed in a way the model can act on: what, which value, what to do next."""

    def __init__(self, message: str, kind: Kind = "crash") -> None:
        super().__init__(message)
        self.kind: Kind = kind


class UnknownTool(ToolError):
    """The model named a tool that is not there."""

    def __init__(self, message: str) -> None:
        super().__init__(message, "unknown_tool")


class InvalidArguments(ToolError):
    """The arguments do not fit the tool's schema; all problems are listed at once."""

    def __init__(self, message: str) -> None:
        super().__init__(message, "schema")


class PermissionDenied(ToolError):
    """A rule forbids the call. Nothing has happened."""

    def __init__(self, message: str, kind: Literal["denied", "rejected"] = "denied") -> None:
        super().__init__(message, kind)


class PermissionRejected(PermissionDenied):
    """The user refused the call. Nothing has happened."""

    def __init__(self, message: str, *, advice: str = "") -> None:
        super().__init__(message, "rejected")
        self.advice = advice
        """Wish of the user instead; with it the model may go on."""


class CallChanged(PermissionRejected):
    """The user allows the call with other arguments. As it was made, nothing has happened."""

    def __init__(self, arguments: Mapping[str, Any], permissions: tuple[str, ...]) -> None:
        super().__init__("The user wants this call made with other arguments.")
        self.arguments = dict(arguments)
        self.permissions = permissions
        """Permissions that were asked for, and are allowed once with these arguments."""
