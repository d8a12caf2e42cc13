"""The leave a command line needs: for folders outside, for files read and changed, and for its commands."""

import glob
import itertools
import posixpath
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Protocol

from toolwright.request import PathPattern, Request
from toolwright.shell.analysis import Analysis

MATCHES = 200
"""How many files that a wildcard names are judged one by one."""

_PROGRAMS = ("/bin", "/sbin", "/usr", "/opt", "/nix/store", "/snap/bin", "/Applications", "/Library", "/System")
"""Where the machine's own programs lie; running one of them is not leaving the project."""


class Place(Protocol):
    """What must be known of a path; `toolwright.files` has it."""

    @property
    def path(self) -> Path: ...
    @property
    def inside(self) -> bool: ...
    @property
    def pattern(self) -> PathPattern: ...
    @property
    def absolute_pattern(self) -> PathPattern: ...


PlaceOf = Callable[[str], Place]


def requests_for(analysis: Analysis, place: PlaceOf) -> list[Request]:
    """Everything that has to be allowed before the line may run, in the order in which it is asked."""
    changed = (*analysis.writes, *analysis.deletes)
    return [
        *_external(analysis, place),
        *_files("read", (place(path).absolute_pattern for path in _each(analysis.reads))),
        *_files("edit", (place(path).pattern for path in _each(changed))),
        *_commands(analysis),
    ]


def checks_for(analysis: Analysis) -> list[Request]:
    """What no rule may forbid but nobody needs to be asked about.

    `> file` runs no command, and whether the file may be written is settled by `edit`; but where commands are
    forbidden altogether, it must not slip through.
    """
    return [Request(permission="bash", patterns=analysis.bare, always=())] if analysis.bare else []


def _external(analysis: Analysis, place: PlaceOf) -> Iterator[Request]:
    """One question for all paths outside, with the folder that holds each as the lasting approval."""
    shown: dict[str, None] = {}
    real: dict[str, None] = {}
    for path in itertools.chain(_touched(analysis), _run(analysis, place)):
        there = place(path)
        if there.inside:
            continue
        real[str(there.path)] = None
        shown[str(place(analysis.spellings.get(path, path)).path)] = None
    if shown:
        yield Request(
            permission="external_directory",
            patterns=tuple(shown),
            implied=tuple(path for path in real if path not in shown),
            always=tuple(dict.fromkeys(pattern for path in (*shown, *real) for pattern in _lasting(path))),
        )


def _touched(analysis: Analysis) -> Iterator[str]:
    """Folders first. A folder that a wildcard names is not looked up: what is done in it is judged file by file."""
    yield from analysis.enters
    yield from _each(dict.fromkeys((*analysis.deletes, *analysis.writes, *analysis.reads)))


def _run(analysis: Analysis, place: PlaceOf) -> Iterator[str]:
    """Programs that lie outside; the folder counts, for the program itself is often a link to the machine's own."""
    for path in analysis.runs:
        folder = place(posixpath.dirname(path))
        if not folder.inside and not str(folder.path).startswith(_PROGRAMS):
            yield path


def _lasting(path: str) -> tuple[str, ...]:
    """The folder that holds the path, but never the whole file system."""
    folder = posixpath.dirname(path)
    if path == "/":
        return ("/",)
    return (path, f"{path}/*") if folder == "/" else (f"{folder}/*",)


def _each(paths: Iterable[str]) -> Iterator[str]:
    """The paths, and for those with wildcards also the files they name at the moment."""
    for path in paths:
        yield path
        if glob.has_magic(path):
            yield from itertools.islice(glob.iglob(path, recursive=True), MATCHES)  # noqa: PTH207 - absolute, and as text


def _files(permission: str, patterns: Iterable[PathPattern]) -> Iterator[Request]:
    named = tuple(dict.fromkeys(patterns))
    if named:
        yield Request(permission=permission, patterns=named)


def _commands(analysis: Analysis) -> Iterator[Request]:
    if not analysis.commands:
        return
    shown = dict.fromkeys(command.shown for command in analysis.commands)
    implied = dict.fromkeys(text for command in analysis.commands for text in command.implied if text not in shown)
    offers = [command.always for command in analysis.commands]
    always = dict.fromkeys(pattern for offer in offers for pattern in offer) if all(offers) else {}
    understood = analysis.verdict == "understood"
    yield Request(
        permission="bash",
        patterns=tuple(shown),
        implied=tuple(implied),
        always=tuple(always),
        metadata={} if understood else {"reasons": list(analysis.reasons)},
        must_ask=not understood,
    )
