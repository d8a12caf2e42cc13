"""What git's own settings make of a word that is none of its commands: aliases, read from the files they are in."""

import posixpath
import re
from collections.abc import Iterator
from functools import lru_cache

from toolwright.plainfile import read_start
from toolwright.shell.gitoptions import KNOWN

SETTINGS = 200_000
"""Bytes of a file of settings that are looked at."""
CHAIN = 4
"""How many aliases may stand for each other."""

_SECTION = re.compile(r"\s*\[\s*([\w.-]+)[^\]]*\]", re.IGNORECASE)
_ALIAS = re.compile(r"\s*([A-Za-z][\w-]*)\s*=\s*(.*)")


def commands_behind(text: str, *, home: str, top: str) -> Iterator[str]:
    """The commands that `git word …` is by another name; what a shell would run as it is given to it."""
    for _ in range(CHAIN):
        words = text.split(" ")
        if len(words) < 2 or words[0] != "git" or words[1] in KNOWN or words[1].startswith("-"):
            return
        value = _aliases(home, top).get(words[1].lower())
        if value is None:
            return
        text = " ".join([value[1:].strip() if value.startswith("!") else f"git {value}", *words[2:]])
        yield text


def _aliases(home: str, top: str) -> dict[str, str]:
    places = [posixpath.join(home, ".config/git/config"), posixpath.join(home, ".gitconfig")]
    found = dict[str, str]()
    for place in [*places, *([posixpath.join(top, ".git/config")] if top else [])]:
        found |= _read(read_start(place, SETTINGS))
    return found


@lru_cache(maxsize=8)
def _read(settings: bytes) -> dict[str, str]:
    found, inside = dict[str, str](), False
    for line in settings.decode("utf-8", "replace").replace("\\\n", " ").splitlines():
        if section := _SECTION.match(line):
            inside, line = section[1].lower() == "alias", line[section.end() :]
        if inside and (alias := _ALIAS.match(line)):
            found[alias[1].lower()] = alias[2].replace('"', "").strip()
    return found
