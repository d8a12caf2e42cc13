"""Denials: the wall of its box that a command ran into, told by the calls it made, or else from what it printed."""

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from toolwright.process.box.box import TEMP_FOLDERS, Box
from toolwright.process.box.decoys import WORDS
from toolwright.process.paths.safe_stat import is_in, is_there
from toolwright.process.running.scope import PROCESSES

LINES = 200
"""At most this many of the last lines are looked at."""
LENGTH = 2000
"""Characters of a line that are looked at."""

_REFUSED = re.compile(
    r"permission denied|read-only file system|device or resource busy|operation not permitted|cannot connect|"
    r"\bEROFS\b|\bEACCES\b|\bEPERM\b|\bEBUSY\b",
    re.IGNORECASE,
)
_READ_ONLY = re.compile(r"read-only file system|\bEROFS\b", re.IGNORECASE)
_OFFLINE = re.compile(
    r"network is unreachable|could not resolve host|name resolution|name or service not known|nodename nor servname|"
    r"getaddrinfo|\bENETUNREACH\b|\bEAI_AGAIN\b|socket: permission denied",
    re.IGNORECASE,
)
_NO_ROOM = re.compile(r"fork: (retry: )?resource temporarily unavailable|can't fork|cannot fork", re.IGNORECASE)
_NO_PRIVILEGES = re.compile(r"no new privileges", re.IGNORECASE)
_LOOKS_FOR_PROCESSES = re.compile(r"\b(?:kill|pkill|killall|pgrep|fuser|lsof)\b")
_QUOTED = re.compile(r"['\"`‘]([^'\"`‘’]+)['\"`’]")
_ADDRESS = re.compile(r"^[a-z]+://(?=/)")


def wall_note(box: Box, cwd: Path, text: str, *, failed: bool, refused: Sequence[str] = ()) -> str:
    """One sentence on the wall and what opens it; empty if none was hit, or if nobody can tell.

    `refused` is what it was kept from changing, where that is seen. A command that did not fail, and does not speak of
    it, has done without. One that is not seen is believed to have met a wall only if it says so beyond doubt.
    """
    lines = [line[:LENGTH] for line in text.splitlines()[-LINES:]]
    if failed and any(map(_NO_ROOM.search, lines)):
        return f"Commands may be {PROCESSES} processes together, and there were more. End some, or start fewer."
    if box.rung == "none":
        return ""
    if failed and any(map(_NO_PRIVILEGES.search, lines)):
        return "Nothing can become root in the sandbox. Ask the user to run this, or do without."
    if failed and not box.network and any(map(_OFFLINE.search, lines)):
        whose = " of an agent that may not edit" if box.read_only else ""
        return (
            f"The network is off for commands{whose}. The user can open it with sandbox.network or a rule for network."
        )
    if any(WORDS.decode().strip() in line for line in lines):
        return (
            "A file that a rule keeps from being read is hidden. The user can show it with the setting sandbox.reveal."
        )
    if box.brokered:
        named = [Path(one) for one in refused if failed or any(Path(one).name in line for line in lines)]
    else:
        pattern = _REFUSED if failed else _READ_ONLY
        complaints = ((line, found) for line in lines if (found := pattern.search(line)))
        named = [path for line, found in complaints for path in _paths(line, found, cwd)]
    return next(filter(None, (_wall(box, path) for path in named)), "")


def temporary_note(box: Box, root: Path, named: Iterable[Path]) -> str:
    """Say that something was made where only commands see it; empty if nothing was.

    In a project that lies in a temporary folder itself, its neighbours look like places as good as any.
    """
    folder = next((one for one in TEMP_FOLDERS if root.is_relative_to(one)), None)
    if folder is None or box.rung not in ("bubblewrap", "landlock") or not box.mounts:
        return ""
    beside = (one for one in named if one.is_relative_to(folder) and not one.is_relative_to(root))
    new_file = next((one for one in beside if not is_there(one) and is_there(box.temp / one.relative_to(folder))), None)
    if new_file is None:
        return ""
    return (
        f"{new_file} is in the temporary folder that commands have for themselves: nobody else sees it, and it goes"
        " when toolwright ends. Make it in the project, or ask the user to keep the project elsewhere."
    )


def misses_processes(command: str, text: str, *, failed: bool) -> bool:
    """Tell whether a command looked in vain for processes, which may be those of others."""
    return "No such process" in text or (failed and _LOOKS_FOR_PROCESSES.search(command) is not None)


def other_processes(jobs: Iterable[str]) -> str:
    return (
        "A command sees no processes but its own. To end what an earlier one left running"
        f" ({', '.join(jobs)}), call bash with its job and stop"
    )


def _paths(line: str, complaint: re.Match[str], cwd: Path) -> Iterator[Path]:
    """Yield the subjects of a complaint, the likeliest first: what is quoted, the word before it, what has a slash."""
    before = line[: complaint.start()].rstrip(": ,").split()
    slashed = [word for word in [*reversed(before), *line[complaint.end() :].split()] if "/" in word]
    for piece in [*_QUOTED.findall(line), *before[-1:], *slashed]:
        name = _ADDRESS.sub("", piece.strip(" '\"`‘’,;:()[]"))
        # The full stop of a sentence is not part of a name.
        name = name.rstrip(".") if name.strip("./") and not os.path.lexists(cwd / name) else name
        if name and "\0" not in name and len(name) < LENGTH:
            yield Path(os.path.realpath(cwd / Path(name).expanduser() if name.startswith("~/") else cwd / name))


def _wall(box: Box, path: Path) -> str:
    """The sentence on the walls around a path."""
    if path in box.places("replace", why=("denied",)):
        return f"{path.name} is denied by a rule, whoever starts it. Do without it, or tell the user."
    if is_in(path, box.hidden):
        return (
            f"{path} is hidden from commands, for a rule restricts who may read it."
            " The user can show it with the setting sandbox.reveal."
        )
    if is_in(path, box.places("empty")):
        return f"{path} is out of sight for commands: it belongs to programs outside of the sandbox."
    if path in box.places("stay"):
        return (
            f"{path} keeps its name and its place: there is something in it that a rule restricts, or that git runs."
            " Move what else is in it, or ask the user to move it."
        )
    if box.allows_writing(path) or not _we_could_write(path):
        return ""
    if is_in(path, box.places("absent")):
        return f"Commands may not make {path}: it says what is allowed. Use the write tool, which asks the user."
    if is_in(path, box.places("read", why=("rule",))):
        reason = "a rule denies to edit it. No setting of the sandbox changes that."
    elif box.read_only:
        reason = "a rule lets this agent edit nothing but what it allows by name."
    elif is_in(path, box.places("read", why=("ours",))):
        reason = (
            "toolwright itself runs from there, or takes its settings from it."
            " The user can install toolwright elsewhere, or allow it with the setting sandbox.writable."
        )
    elif is_in(path, box.places("read", why=("runs",))):
        reason = "it decides what programs are run. The user can allow it with the setting sandbox.writable."
    else:
        return (
            f"Commands may not write {path}. Name it in the command as what is written, so that the user can be asked"
            " (external_directory), or have it added to the setting sandbox.writable."
        )
    return f"Commands may not write {path}: {reason}"


def _we_could_write(path: Path) -> bool:
    """If not even we can, it is not the sandbox that is in the way."""
    there = next((place for place in (path, *path.parents) if os.path.lexists(place)), None)
    return there is not None and os.access(there, os.W_OK)
