"""Help for somebody who has no model yet."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from toolwright.terminal.screen import BOLD

if TYPE_CHECKING:
    from toolwright.app.project import UsableModels


def no_model_lines(usable: "UsableModels") -> Iterator[tuple[str, str]]:
    """Lines with their colour, from what is found on this machine."""
    nothing = "" if usable.keys or usable.local else " (found: nothing running on this machine)"
    yield f"No model yet. /connect adds one{nothing}.", BOLD
    for name in usable.keys[:3]:
        yield f"  /model {name}   there is a key for it", ""
    for name in usable.local[:3]:
        yield f"  /model {name}   it runs on this machine", ""
    if not usable.keys and not usable.local:
        yield "  Set a key, such as ANTHROPIC_API_KEY or OPENAI_API_KEY, or store one with tw auth PROVIDER;", ""
        yield "  or start a server on this machine, such as Ollama. Then: /model PROVIDER/MODEL", ""
    yield '  To have it every time, put "model": "PROVIDER/MODEL" into toolwright.json.', ""
    yield "  /demo   shows a whole session that needs none", ""
