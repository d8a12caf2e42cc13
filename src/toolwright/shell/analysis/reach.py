"""The network reach of a command line: the addresses it names, and the programs that may reach any."""

import posixpath
import re
from collections.abc import Sequence

from toolwright.record import record
from toolwright.shell.analysis.analysis import Analysis
from toolwright.shell.programs.arguments import names
from toolwright.shell.programs.downloads import DOWNLOADS
from toolwright.shell.programs.plain import PLAIN, QUIET
from toolwright.shell.programs.searches import SEARCHES
from toolwright.shell.programs.transfers import TRANSFERS
from toolwright.shell.programs.wrappers import WRAPPERS
from toolwright.shell.walk.shells import SHELLS

_COPIERS = names("tar gtar bsdtar rsync scp")
"""They reach another machine if a file is said to be there, as in `host:file`."""
_LOCAL = (
    frozenset((*QUIET, *PLAIN, *SEARCHES, *TRANSFERS, *WRAPPERS, "find", "gfind", "sed", "gsed"))
    # Those that look up names, run what a file says, or fetch what they are to run.
    - names(". source getent hostname lsof netstat ss ifconfig")
    - _COPIERS
    - names("npx pnpx bunx uvx pipx direnv torsocks proxychains nsenter busybox toybox ssh-agent script")
)
"""Programs that reach no network whatever they are told; what they run in turn is looked at by itself."""
_GIT = frozenset(
    f"git {name}"
    for name in names(
        "status log diff show blame shortlog describe rev-parse rev-list ls-files ls-tree grep cat-file for-each-ref"
        " merge-base name-rev check-ignore count-objects reflog branch tag add rm mv restore stash init version help"
    )
)
"""Subcommands that git does by itself, without hooks and without other machines."""
_REACHES = frozenset((*DOWNLOADS, "ssh", "scp", "sftp", "rsync")) | {
    f"git {name}" for name in ("clone", "fetch", "pull", "push", "ls-remote")
}
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*://\S+|[\w.-]+@[\w.-]+(?::\S*)?|[\w-]+(?:\.[\w-]+)*:[^\s=]\S*", re.IGNORECASE)
_URL = re.compile(r"(?!file:)[a-z][a-z0-9+.-]*://\S+", re.IGNORECASE)
_DEVICE = re.compile(r"/dev/(?:tcp|udp)/([^/]+)/([^/]+)")


@record(frozen=True, slots=True, kw_only=True)
class Reach:
    """The known reach of a line. Nothing in either means that the line reaches no other machine."""

    known: tuple[str, ...] = ()
    """Programs that do, with the addresses that they are given."""
    possible: tuple[str, ...] = ()
    """Programs that may: whatever is not known to stay on this machine."""


_NOWHERE = Reach()


def reach_of(analysis: Analysis) -> Reach:
    """The reach of the line's commands, and of those that they run in turn."""
    known: dict[str, None] = {}
    possible: dict[str, None] = {}
    for path in analysis.paths("read", "take", "carry", "write"):
        if device := _DEVICE.match(path):
            known[f"{device[1]}:{device[2]}"] = None
    for command in analysis.commands:
        for words in (command.words, *(text.split() for text in command.implied)):
            _sort_out(words, known, possible)
    return Reach(known=tuple(known), possible=tuple(possible))


def addresses_of(analysis: Analysis) -> tuple[str, ...]:
    """Return the addresses that programs which fetch are given as whole words."""
    addresses = dict[str, None]()
    for command in analysis.commands:
        for words in (command.words, *(text.split() for text in command.implied)):
            if _name(words) in _REACHES:
                addresses |= dict.fromkeys(word for word in words[1:] if _URL.fullmatch(word))
    return tuple(addresses)


def works_alone(analysis: Analysis) -> bool:
    """Tell whether all its programs are known, and do nothing but work on files that they are given."""
    if analysis.verdict != "understood" or analysis.paths("run"):
        return False
    return reach_of(analysis) == _NOWHERE


def _sort_out(words: Sequence[str], known: dict[str, None], possible: dict[str, None]) -> None:
    name = _name(words)
    if not name or _stays(name, words):
        return
    address = _ADDRESS if name in _REACHES else _URL
    addresses = [word for word in words[1:] if address.search(word)]
    if addresses:
        known[f"{name} to {', '.join(addresses)}"] = None
    elif name in _REACHES:
        known[name] = None
    else:
        possible[name] = None


def _name(words: Sequence[str]) -> str:
    """The program, with what git is told to do."""
    name = posixpath.basename(words[0]) if words else ""
    if name != "git":
        return name
    rest = words[3:] if len(words) > 2 and words[1] == "-C" else words[1:]
    return f"git {rest[0]}" if rest and not rest[0].startswith("-") else name


def _stays(name: str, words: Sequence[str]) -> bool:
    if name in _LOCAL or name in _GIT:
        return True
    if name in _COPIERS:
        return not any(":" in word for word in words)
    # What a shell is told in a word of its line is examined like the line itself.
    return name in SHELLS and "-c" in words
