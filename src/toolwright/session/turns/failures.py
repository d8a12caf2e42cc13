"""Errors of a turn as clients know them: a name and what to tell people."""

from toolwright.messages import Failure
from toolwright.models.model import ModelError

HELD_BACK = Failure(
    name="ContentFilterError",
    data={"message": "The provider held the answer back. Put the request another way."},
)
EMPTY = Failure(
    name="EmptyReplyError",
    data={"message": "The model answered with nothing, twice. Ask again, or try another model."},
)
TOO_LONG = Failure(
    name="MessageOutputLengthError",
    data={"message": "The model used up all it may write before it came to an answer. Ask for less at once."},
)

_NAMES = {
    "context_overflow": "ContextOverflowError",
    "content_filter": "ContentFilterError",
}


def failure_of(error: ModelError) -> Failure:
    data: dict[str, object] = {"message": str(error), "kind": error.kind, "isRetryable": error.retryable}
    if error.status is not None:
        data["statusCode"] = error.status
    return Failure(name=_NAMES.get(error.kind, "APIError"), data=data)


def aborted(reason: str) -> Failure:
    return Failure(name="MessageAbortedError", data={"message": reason})


def limit(message: str) -> Failure:
    return Failure(name="LimitReachedError", data={"message": message})


def other(message: str) -> Failure:
    return Failure(name="UnknownError", data={"message": message})
