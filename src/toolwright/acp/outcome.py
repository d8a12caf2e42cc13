"""The end of a turn, in the words of the protocol."""

from toolwright.messages import Assistant
from toolwright.protocols.json_types import Json
from toolwright.protocols.jsonrpc import RpcError

_STOPS = {
    "MessageAbortedError": "cancelled",
    "LimitReachedError": "max_turn_requests",
    "MessageOutputLengthError": "max_tokens",
    "ContentFilterError": "refusal",
}
"""Errors of a message that are ends of a turn."""


def outcome_of(info: Assistant) -> Json:
    """The answer to a prompt; a failure of the model is an error of the request."""
    tokens = info.tokens
    usage = {
        "inputTokens": tokens.input,
        "outputTokens": tokens.output,
        "totalTokens": tokens.total,
        "thoughtTokens": tokens.reasoning,
        "cachedReadTokens": tokens.cache.read,
        "cachedWriteTokens": tokens.cache.write,
    }
    if info.error is None:
        return {"stopReason": "max_tokens" if info.finish == "length" else "end_turn", "usage": usage}
    if info.error.name in _STOPS:
        return {"stopReason": _STOPS[info.error.name], "usage": usage}
    raise RpcError(f"{info.error.name}: {info.error.data.get('message', '')}", data={"name": info.error.name})
