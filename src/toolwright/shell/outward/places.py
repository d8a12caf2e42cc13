"""The hosts and addresses that a call names, as programs are given them."""

import re
from collections.abc import Iterator
from typing import Final

from toolwright.shell.outward.http import calls_http, hosts, is_loopback
from toolwright.shell.outward.table import ProgramSection
from toolwright.shell.outward.words import Words

_URL: Final = re.compile(r"[a-z][a-z0-9+.-]*://(?:[^/@\s]*@)?(\[[0-9a-fA-F:]+\]|[^/:?#\s]+)")
_LOGIN: Final = re.compile(r"[^/@:\s=]+@([\w.-]+):")
_MAIL: Final = re.compile(r"[^/@:\s=<>,]{1,64}@[\w-]+(?:\.[\w-]+)+")
_NO_SCHEME: Final = re.compile(r"([\w-]+(?:\.[\w-]+)*\.[a-zA-Z]{2,})(?::\d+)?/")
_COPIED: Final = re.compile(r"([\w.-]+):(?!//)")
_COPIERS: Final = ("scp", "rsync", "sftp", "git", "unison", "rclone")
_OPTION: Final = re.compile(r"--?(?:.*(?:registry|server|host|url|endpoint|remote|index|proxy|webhook|mirror)|[hHx])")
"""Options that say where a call goes to."""
_BARE: Final = re.compile(r"(?:[\w-]+\.)+[a-zA-Z]{2,}|\d+(?:\.\d+){3}")


def places_in(name: str, program: ProgramSection, words: Words) -> tuple[str, ...]:
    """Return whom a call reaches, as far as its words say so, but for this machine."""
    return tuple(dict.fromkeys(one for one in _places(name, program, words) if one and not is_loopback(one)))


def _places(name: str, program: ProgramSection, words: Words) -> Iterator[str]:
    if program.has("addresses") or (program.has("http") and calls_http(program, words)):
        yield from hosts(words)
    operands = words.operands
    if program.listed("remote")[:1] == ("@host",) and operands:
        yield operands[0].rpartition("@")[2].partition(":")[0]
        operands = operands[1:]
    for word in operands:
        if match := _URL.match(word) or _LOGIN.match(word) or _NO_SCHEME.match(word):
            yield match[1]
        elif name in _COPIERS and (copied := _COPIED.match(word)):
            yield copied[1]
        elif program.has("people"):
            yield from _MAIL.findall(word)
    for option in words.options:
        if option.value and _OPTION.fullmatch(option.name):
            match = _URL.match(option.value)
            yield match[1] if match else option.value if _BARE.fullmatch(option.value) else ""
