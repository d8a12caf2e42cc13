"""How a turn ended, in the words of the protocol."""

from toolwright.jsontypes import Json
from toolwright.messages import Assistant
from toolwright.rpc import RpcError

_STOPS = {"length": "max_tokens", "content-filter": "refusal"}


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
        return {"stopReason": _STOPS.get(info.finish or "", "end_turn"), "usage": usage}
    match info.error.name:
        case "MessageAbortedError":
            return {"stopReason": "cancelled", "usage": usage}
        case "LimitReachedError":
            return {"stopReason": "max_turn_requests", "usage": usage}
    raise RpcError(f"{info.error.name}: {info.error.data.get('message', '')}", data={"name": info.error.name})
