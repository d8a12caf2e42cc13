"""Tools in few words, for models whose context would be half full of their descriptions."""

import re
from collections.abc import Mapping
from typing import Any

from toolwright.models.model import ToolSpec

SMALL_CONTEXT = 16_384
"""Tokens of context up to which the short form is offered."""
LONGEST = 160
"""Characters of a description that are left; whole sentences, at least one."""
LONGEST_OF_ARGUMENT = 80


def short_spec(spec: ToolSpec) -> ToolSpec:
    """The same tool: what it does in its first sentences, its arguments by their first words."""
    properties = spec.schema.get("properties") or {}
    arguments = {name: _short_argument(value) for name, value in properties.items()}
    return ToolSpec(
        name=spec.name,
        description=_short_description(spec.description),
        schema={**spec.schema, **({"properties": arguments} if arguments else {})},
    )


def _short_description(text: str) -> str:
    """Its first sentences, and the entries of a list of names, which the model must know to use the tool."""
    lines = text.splitlines()
    prose = "\n".join(line for line in lines if not line.startswith("- "))
    entries = [first_sentences(line, LONGEST_OF_ARGUMENT) for line in lines if _NAME.match(line)]
    return "\n".join([first_sentences(prose, LONGEST), *entries])


def first_sentences(text: str, longest: int) -> str:
    """As many whole sentences from the beginning as fit; the first one in any case."""
    sentences = _SENTENCE.findall(text.strip().split("\n\n", 1)[0].replace("\n", " "))
    kept = ""
    for sentence in sentences:
        if kept and len(kept) + len(sentence) > longest:
            break
        kept += sentence
    return kept.strip()


def _short_argument(value: Any) -> Any:
    if not isinstance(value, Mapping) or "description" not in value:
        return value
    return {**value, "description": first_sentences(str(value["description"]), LONGEST_OF_ARGUMENT)}


_NAME = re.compile(r"- [\w@./-]+: ")
_SENTENCE = re.compile(r".+?(?:[.!?](?:\s+|$)|$)")
