"""The errors of one file from TypeScript's own server, which its language server passes questions on to.

The language server itself only tells of errors when they change, and of no version; so it would be waited for in vain
after every change that leaves a file without errors.
"""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

COMMAND = "typescript.tsserverRequest"
_SEVERITIES = {"error": 1, "warning": 2, "message": 3, "suggestion": 4}

Request = Callable[[str, Any], Awaitable[Any]]


async def file_errors(request: Request, path: Path) -> list[dict[str, Any]]:
    """Return the errors of a document as it is now, in the form of the language server protocol."""
    errors = list[dict[str, Any]]()
    for question in ("syntacticDiagnosticsSync", "semanticDiagnosticsSync"):
        arguments = [question, {"file": str(path), "includeLinePosition": True}]
        answer = await request("workspace/executeCommand", {"command": COMMAND, "arguments": arguments})
        body = answer.get("body") if isinstance(answer, dict) else None
        errors += [_diagnostic(one) for one in body or () if isinstance(one, dict) and "startLocation" in one]
    return errors


def _diagnostic(one: dict[str, Any]) -> dict[str, Any]:
    return {
        "range": {"start": _position(one["startLocation"]), "end": _position(one["endLocation"])},
        "severity": _SEVERITIES.get(one.get("category", ""), 1),
        "code": one.get("code"),
        "source": "typescript",
        "message": one.get("message", ""),
    }


def _position(location: dict[str, int]) -> dict[str, int]:
    return {"line": location["line"] - 1, "character": location["offset"] - 1}
