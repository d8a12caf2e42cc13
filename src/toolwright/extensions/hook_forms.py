"""Hooks that are no programs: a request to an address, and a question to a model."""

import json
import re
from collections.abc import Mapping, Sequence

from toolwright.errors import ToolError
from toolwright.protocols.json_text import read_json
from toolwright.protocols.json_types import Json

MOST_BYTES = 1_000_000
"""Of an answer of an address."""
_VARIABLE = re.compile(r"\$(?:\{([A-Za-z_][A-Za-z0-9_]*)\}|([A-Za-z_][A-Za-z0-9_]*))")
_ASKED = (
    "You judge one event of a coding agent. Answer with one JSON object and nothing else: "
    '{"ok": true} where it may go on, {"ok": false, "reason": "why not"} where it may not.\n\n'
)


async def told_by_address(
    url: str, headers: Mapping[str, str], variables: Sequence[str], environment: Mapping[str, str], event: Json
) -> str:
    """Send what happens to an address, and return what it answers. Only variables that are named reach its headers."""
    import httpx2

    def value_of(match: re.Match[str]) -> str:
        name = match[1] or match[2]
        return environment.get(name, "") if name in variables else ""

    filled = {name: _VARIABLE.sub(value_of, value) for name, value in headers.items()}
    data = json.dumps(event, ensure_ascii=False, default=str).encode("utf-8", "replace")
    filled = {"content-type": "application/json", **filled}
    try:
        async with (
            httpx2.AsyncClient(timeout=None) as client,
            client.stream("POST", url, content=data, headers=filled) as answer,
        ):
            body = bytearray()
            async for chunk in answer.aiter_bytes():
                body += chunk
                if len(body) > MOST_BYTES:
                    raise ToolError(f"it answered with more than {MOST_BYTES} bytes", "too_large")
            if not answer.is_success:
                raise HookRefused(f"it answered with status {answer.status_code}")
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        raise ToolError(f"it could not be reached: {error}", "network") from error
    return body.decode("utf-8", "replace")


class HookRefused(Exception):
    """An answer that decides nothing, such as a status of 500."""


def question(prompt: str, event: Json) -> str:
    """Return the text a model is asked: `$ARGUMENTS` is what happens, at the end where it is not named."""
    event_text = json.dumps(event, ensure_ascii=False, default=str)
    asked = prompt.replace("$ARGUMENTS", event_text) if "$ARGUMENTS" in prompt else f"{prompt}\n\n{event_text}"
    return _ASKED + asked


def refusal_in(answer: str) -> str:
    """Return why a model said no, empty if it said yes; ToolError for an answer that is neither."""
    match = re.search(r"\{.*\}", answer, re.DOTALL)
    try:
        verdict = read_json(match[0]) if match else None
    except ValueError:
        verdict = None
    if not isinstance(verdict, dict) or not isinstance(verdict.get("ok"), bool):
        raise ToolError(f"the model gave no verdict: {answer[:200]!r}", "schema")
    return "" if verdict["ok"] else str(verdict.get("reason") or "the hook's model refused it")
