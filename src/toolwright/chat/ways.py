"""How to get a model, told to somebody who has none."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from toolwright.chat.screen import BOLD

if TYPE_CHECKING:
    from toolwright.backend import Ways


def ways_told(ways: "Ways") -> Iterator[tuple[str, str]]:
    """Lines with their colour, from what is found on this machine."""
    yield "No model is chosen yet.", BOLD
    for name in ways.keys[:3]:
        yield f"  /model {name}   there is a key for it", ""
    for name in ways.local[:3]:
        yield f"  /model {name}   it runs on this machine", ""
    if not ways.keys and not ways.local:
        yield "  Set a key, such as ANTHROPIC_API_KEY or OPENAI_API_KEY, or store one with tw auth PROVIDER;", ""
        yield "  or start a server on this machine, such as Ollama. Then: /model PROVIDER/MODEL", ""
    yield '  To have it every time, put "model": "PROVIDER/MODEL" into toolwright.json.', ""
    yield "  /demo   shows a whole session that needs none", ""
