"""Markdown files with a head of settings: agents, commands and skills are written this way."""

import re
from typing import Any

from toolwright.errors import ConfigError
from toolwright.protocols.json_text import DEPTH
from toolwright.record import record

_OPENED = re.compile(r"\A\ufeff?---(?:ya?ml)?[ \t]*\r?\n")
_CLOSED = re.compile(r"^-{3,}[ \t]*(?:\r?\n|\Z)", re.MULTILINE)
_PLAIN_LINE = re.compile(r"^([A-Za-z_][\w-]*+):[ \t]++(?![\"'|>\[{&*#])(.*:.*)$", re.MULTILINE)

MOST_CHARACTERS = 64_000
"""Of a head; the parser's time does not grow with the text alone."""


@record(frozen=True, slots=True)
class Document:
    """The settings at the top of a file, and the text below them."""

    head: dict[str, Any]
    body: str


def read_document(text: str, name: str) -> Document:
    """Split a file into head and body. A value with a colon in it, as people write them, needs no quotes."""
    opened = _OPENED.match(text)
    if opened is None:
        return Document({}, text.strip())
    start, closed = opened.end(), _CLOSED.search(text, opened.end())
    if closed is None:
        # To take it all for text would be to pass over what it forbids.
        return Document(_parse_head(text[start:], name), "")
    return Document(_parse_head(text[start : closed.start()], name), text[closed.end() :].strip())


def _parse_head(text: str, name: str) -> dict[str, Any]:
    import yaml

    if len(text) > MOST_CHARACTERS or _depth(text) > DEPTH:
        raise ConfigError(f"{name}:1: the lines between the two `---` are too long or nested too deep. Shorten them.")
    try:
        value = _load(text)
    except (yaml.YAMLError, ValueError, RecursionError):
        try:
            value = _load(_PLAIN_LINE.sub(_quoted, text))
        except (yaml.YAMLError, ValueError, RecursionError) as error:
            mark = getattr(error, "problem_mark", None)
            line = mark.line + 2 if mark is not None else 1
            problem = getattr(error, "problem", None) or str(error) or "this is not YAML"
            raise ConfigError(f"{name}:{line}: {problem}. Correct the lines between the two `---`.") from error
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise ConfigError(f"{name}:2: expected `key: value` lines between the two `---`.")
    return value


def _depth(text: str) -> int:
    """Return the deepest nesting of brackets, those in quotes counted too."""
    depth = deepest = 0
    for char in text:
        depth += (char in "[{") - (char in "]}")
        deepest = max(deepest, depth)
    return deepest


def _quoted(match: re.Match[str]) -> str:
    escaped = match[2].rstrip().replace("'", "''")
    return f"{match[1]}: '{escaped}'"


def _load(text: str) -> Any:
    import yaml

    loader = _loader()
    if "&" in text and any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(text, Loader=loader)):
        # A few lines of references to references come to more values than any memory holds.
        raise yaml.YAMLError("a value cannot refer to another with * here")
    return yaml.load(text, Loader=loader)  # noqa: S506 - a loader that makes nothing but plain values


def _loader() -> Any:
    """YAML without the surprises of its first version: `no` and `on` are words, 012 and 1:30 and dates are text."""
    import yaml

    base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    loader: Any = type("PlainLoader", (base,), {"yaml_implicit_resolvers": {}})
    core = {
        "tag:yaml.org,2002:bool": (r"true|True|TRUE|false|False|FALSE", "tTfF"),
        "tag:yaml.org,2002:int": (r"[-+]?(?:0|[1-9][0-9]*)", "-+0123456789"),
        "tag:yaml.org,2002:float": (r"[-+]?(?:0|[1-9][0-9]*)\.[0-9]+(?:[eE][-+]?[0-9]+)?", "-+0123456789"),
        "tag:yaml.org,2002:null": (r"null|Null|NULL|~|", ["n", "N", "~", ""]),
    }
    for tag, (pattern, first) in core.items():
        loader.add_implicit_resolver(tag, re.compile(f"^(?:{pattern})$"), list(first))
    return loader
