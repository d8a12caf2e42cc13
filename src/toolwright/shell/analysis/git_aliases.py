"""Aliases of git: its settings' meanings of words that are none of its commands, read from the files they are in."""

import posixpath
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from toolwright.machine.git_index import git_folder
from toolwright.machine.plain_files import read_start
from toolwright.shell.programs.git_options import KNOWN

SETTINGS = 200_000
"""Bytes of a file of settings that are looked at."""
FILES = 24
"""The most files of settings that are looked at, with those that they include."""
CHAIN = 16
"""The most aliases that are followed, with those that stand for each other."""

_SECTION = re.compile(r"\s*\[\s*([\w.-]+)[^\]]*\]", re.IGNORECASE)
_SETTING = re.compile(r"\s*([A-Za-z][\w-]*)\s*=\s*(.*)")


def commands_behind(text: str, *, home: str, top: str) -> Iterator[str]:
    """The commands that `git word …` is by another name; what a shell would run as it is given to it."""
    waiting, aliases = [text], None
    for _ in range(CHAIN):
        if not waiting:
            return
        words = waiting.pop(0).split(" ")
        if len(words) < 2 or words[0] != "git" or words[1] in KNOWN or words[1].startswith("-"):
            continue
        aliases = _aliases(home, top) if aliases is None else aliases
        for value in aliases.get(words[1].lower(), ()):
            command = " ".join([value[1:].strip() if value.startswith("!") else f"git {value}", *words[2:]])
            waiting.append(command)
            yield command


def _aliases(home: str, top: str) -> Mapping[str, Sequence[str]]:
    """Every meaning that a name has somewhere: which files count is decided by conditions that are not looked at."""
    waiting = ["/etc/gitconfig", posixpath.join(home, ".config/git/config"), posixpath.join(home, ".gitconfig")]
    if top:
        folder = git_folder(top)
        common = read_start(posixpath.join(folder, "commondir"), 4096).decode("utf-8", "replace").strip()
        waiting += [posixpath.join(folder, common, "config"), posixpath.join(folder, "config.worktree")]
    aliases, seen = defaultdict[str, list[str]](list), dict[str, None]()
    while waiting and len(seen) < FILES:
        place = posixpath.normpath(waiting.pop(0))
        if place in seen:
            continue
        seen[place] = None
        for section, name, value in _read(read_start(place, SETTINGS)):
            if section == "alias":
                aliases[name].append(value)
            elif name == "path":
                path = f"{home}/{value[2:]}" if value.startswith("~/") else value
                waiting.append(posixpath.join(posixpath.dirname(place), path))
    return aliases


@lru_cache(maxsize=FILES)
def _read(settings: bytes) -> list[tuple[str, str, str]]:
    """The aliases, and the files that are included."""
    settings_read, section = list[tuple[str, str, str]](), ""
    for line in settings.decode("utf-8", "replace").replace("\\\n", " ").splitlines():
        if opened := _SECTION.match(line):
            section, line = opened[1].lower(), line[opened.end() :]
        if section in ("alias", "include", "includeif") and (setting := _SETTING.match(line)):
            settings_read.append((section, setting[1].lower(), setting[2].replace('"', "").strip()))
    return settings_read
