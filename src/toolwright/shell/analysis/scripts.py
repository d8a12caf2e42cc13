"""Files that a line runs: scripts are read as if typed, copies of programs known by how they begin."""

import os
import posixpath
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import lru_cache

from toolwright.machine.plain_files import read_start
from toolwright.shell.analysis.analysis import LONGEST, Analysis, analyse
from toolwright.shell.analysis.git_aliases import commands_behind
from toolwright.shell.walk.shells import SHELLS

FILES = 8
"""The most files that one line is followed through."""
FOLDERS = ("/bin", "/usr/bin", "/sbin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin")
BEGINNING = 1024
"""Bytes of a program that tell it from others: what builds it writes a number of its own into them."""
BINARY = (b"\x7fELF", b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe")
"""Beginnings of programs that are no scripts, on Linux and on macOS."""


def suspected_in_files(analysis: Analysis) -> Iterator[str]:
    """The commands that the files hold, and the programs that they are by other names."""
    cwd = next((folder for command in analysis.commands for folder in command.folders), "/")
    waiting = [(path, path in analysis.touched.get("script", ())) for path in analysis.paths("run", "script")]
    seen = set[str]()
    while waiting and len(seen) < FILES:
        path, by_shell = waiting.pop(0)
        real = os.path.realpath(path)
        if real in seen:
            continue
        seen.add(real)
        start = _start(real)
        if posixpath.dirname(real) in FOLDERS or start.startswith(BINARY):
            yield from _by_other_names(path, real, start, analysis)
        elif by_shell or _is_for_a_shell(start):
            inside = analyse(_script_text(real), cwd=cwd, home=analysis.home)
            yield from _all_of(inside)
            waiting += [(one, one in inside.touched.get("script", ())) for one in inside.paths("run", "script")]


def suspected_behind_aliases(analysis: Analysis) -> Iterator[str]:
    """The commands that the user's own settings of git have other names for."""
    texts = (text for command in analysis.commands for text in (command.shown, *command.implied))
    for text in texts:
        for behind in commands_behind(text, home=analysis.home, top=analysis.top):
            yield from _all_of(analyse(behind, cwd=analysis.top or "/", home=analysis.home))


def _all_of(analysis: Analysis) -> Iterator[str]:
    for command in analysis.commands:
        yield from (command.shown, *command.implied, *command.suspected)


def _by_other_names(path: str, real: str, start: bytes, analysis: Analysis) -> Iterator[str]:
    """A link to a program of the machine or a copy of one does what that does."""
    name = posixpath.basename(path)
    programs = [posixpath.basename(real)] if posixpath.dirname(real) in FOLDERS else _programs().get(start, [])
    arguments = [one.words[1:] for one in analysis.commands if one.words and posixpath.basename(one.words[0]) == name]
    for program in programs:
        yield from (" ".join([program, *words]) for words in arguments or [()] if program != name)


def is_for_a_shell(path: str) -> bool:
    """Return whether a file is a script that a shell runs, and no program of another kind."""
    start = _start(os.path.realpath(path))
    return bool(start) and not start.startswith(BINARY) and _is_for_a_shell(start)


def _is_for_a_shell(start: bytes) -> bool:
    """Tell whether it says so, or says nothing, which comes to the same."""
    if not start.startswith(b"#!"):
        return b"\0" not in start
    words = start[2:].partition(b"\n")[0].decode("utf-8", "replace").split()
    return any(posixpath.basename(word) in SHELLS for word in words)


@lru_cache(maxsize=1)
def _programs() -> dict[bytes, Sequence[str]]:
    """The machine's programs by how they begin. Looked for once."""
    programs = defaultdict[bytes, list[str]](list)
    for folder in FOLDERS:
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    if (start := _start(entry.path)).startswith(BINARY):
                        programs[start].append(entry.name)
        except OSError:
            continue
    return dict(programs)


def _start(path: str) -> bytes:
    return read_start(path, BEGINNING)


def _script_text(path: str) -> str:
    return read_start(path, LONGEST).decode("utf-8", "replace").replace("\0", "")
