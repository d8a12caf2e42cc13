"""Errors of a turn as clients know them: a name and what to tell people."""

from toolwright.messages import Failure
from toolwright.models.model import ModelError

_NAMES = {
    "auth": "ProviderAuthError",
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
