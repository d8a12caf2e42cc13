"""Why a request is not carried out: a status, a name programs know, and one sentence."""

from collections.abc import Sequence
from typing import Any

from toolwright.errors import PermissionDenied, ToolwrightError, UsageError
from toolwright.protocols.json_types import Json
from toolwright.schema.basics import Problem, shown_path
from toolwright.session.undo.file_back import NothingToUndo

NOTHING = NothingToUndo.__name__


class HttpRefusal(Exception):
    """The answer to a request that is not carried out."""

    def __init__(self, status: int, name: str, message: str, **data: Any) -> None:
        super().__init__(message)
        self.status, self.name, self.data = status, name, data
        self.headers: dict[str, str] = {}

    def to_json(self) -> Json:
        return {"name": self.name, "data": {"message": str(self), **self.data}}


def bad_request(message: str, issues: Sequence[Problem] = ()) -> HttpRefusal:
    listed = [{"path": list(one.path), "message": one.message} for one in issues]
    words = "; ".join(f"{shown_path(one.path) or 'the body'}: {one.message}" for one in issues[:3])
    return HttpRefusal(400, "BadRequest", f"{message} {words}".strip(), issues=listed)


def not_found(message: str) -> HttpRefusal:
    return HttpRefusal(404, "NotFoundError", message)


def forbidden(message: str) -> HttpRefusal:
    return HttpRefusal(403, "Forbidden", message)


def busy(session_id: str) -> HttpRefusal:
    return HttpRefusal(
        409, "Busy", f"{session_id} is at work. Wait for session.idle, or POST /session/{session_id}/abort first."
    )


def unusable(message: str) -> HttpRefusal:
    """An agent or a model that is not there; the message has the nearest names."""
    return HttpRefusal(422, "Unprocessable", message)


def refusal_of(error: ToolwrightError) -> HttpRefusal:
    """Return the refusal that stands for one of the program's own errors."""
    if isinstance(error, PermissionDenied):
        return forbidden(str(error))
    if isinstance(error, NothingToUndo):
        return HttpRefusal(404, NOTHING, str(error))
    if isinstance(error, UsageError):
        return HttpRefusal(400, "BadRequest", str(error))
    return unusable(str(error))
