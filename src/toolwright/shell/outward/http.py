"""Acts of a client of web services: by its method, its body, and whether it talks to this machine."""

import re
from collections.abc import Sequence

from toolwright.calls.acts import ActClass
from toolwright.shell.outward.rows import Fit, fits_option
from toolwright.shell.outward.table import ProgramSection
from toolwright.shell.outward.words import Words

_READS = frozenset({"GET", "HEAD", "OPTIONS", "TRACE", "PROPFIND", "REPORT"})
_METHOD = re.compile(r"[A-Z]{3,}|(?i:get|head|options|post|put|patch|delete)")
_FIELD = re.compile(r"[\w.\[\]-]+(?::=@?|=@|=(?!=)|@)")
_LOOPBACK = re.compile(
    r"(?:[a-z+]+://)?(?:[^/@\s]*@)?(?:localhost|[\w.-]+\.localhost|127(?:\.\d+){3}|\[::1\]|0\.0\.0\.0|:\d+)(?=[:/?#]|$)"
)
_ADDRESS = re.compile(
    r"(?:[a-z+]+://)?(?:[^/@\s]*@)?([\w.-]+\.[a-zA-Z]{2,}|\d+(?:\.\d+){3}|\[[0-9a-f:]+\])(?=[:/?#]|$)"
)
_MAIL = re.compile(r"smtps?://")
_MUTATION = re.compile(r"query=\s*(?:#[^\n]*\n|\s)*(?:query|\{|fragment)")


def by_method(program: ProgramSection, words: Words, *, fed: bool) -> Fit:
    """The class that the method has, or the body makes it."""
    method, how = _method(program, words, fed=fed and not words.has("--ignore-stdin"))
    kind: ActClass = "reads" if method in _READS else "final" if method == "DELETE" else "changes"
    urls = words.operands
    if any(_MAIL.match(url) for url in urls):
        kind = "final"
    if kind != "reads" and is_here(urls):
        return Fit(kind="here", words=how)
    return Fit(kind=kind, words=how)


def calls_http(program: ProgramSection, words: Words) -> bool:
    """Tell whether the call is one of a web service: of a forge's client, only those of its `api`."""
    commands = [one for one in program.listed("http") if one[0] != "-" and one != "word"]
    return not commands or words.operands[:1] == tuple(commands)


def is_here(urls: Sequence[str]) -> bool:
    """Tell whether some of the words are addresses of this machine, and none is of another."""
    return any(map(_LOOPBACK.match, urls)) and not any(_ADDRESS.match(url) for url in urls if not _LOOPBACK.match(url))


def is_loopback(host: str) -> bool:
    return _LOOPBACK.match(host) is not None


def hosts(words: Words) -> list[str]:
    """The hosts that the words name."""
    return list(dict.fromkeys(match[1] for one in words.operands if (match := _ADDRESS.match(one))))


def _method(program: ProgramSection, words: Words, *, fed: bool) -> tuple[str, tuple[str, ...]]:
    named = program.listed("http")
    if "word" in named and words.operands and _METHOD.fullmatch(words.operands[0]):
        return words.operands[0].upper(), words.operands[:1]
    methods = words.values(*named)
    if methods:
        return methods[-1].upper(), (next(name for name in named if words.has(name)), methods[-1])
    if any(fits_option(one, words.options) for one in program.listed("reading")):
        return "GET", ()
    body = next(
        (one.name for token in program.listed("body") for one in words.options if fits_option(token, [one])), ""
    )
    if body and "graphql" in words.operands and any(_MUTATION.match(value) for value in words.values(body)):
        return "GET", ()
    sent = "word" in named and (fed or any(map(_FIELD.match, words.operands[1:])))
    return ("POST", (body,) if body else ()) if body or sent else ("GET", ())
