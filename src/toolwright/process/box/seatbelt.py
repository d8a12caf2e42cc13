"""Boxes put up by macOS itself: a profile for `sandbox-exec`."""

from collections.abc import Iterable
from pathlib import Path

from toolwright.process.box.box import EVERYTHING, Box, Wrapped
from toolwright.process.paths.safe_stat import is_in

PROGRAM = "/usr/bin/sandbox-exec"
DEVICES = ("/dev/null", "/dev/zero", "/dev/tty", "/dev/ptmx", "/dev/dtracehelper")
SYSTEM = ("/usr", "/bin", "/sbin", "/System", "/Library", "/private/etc", "/private/var/db", "/opt", "/dev")


def put_up(box: Box) -> Wrapped:
    """The box; the command is still to come. Its temporary folder is named by TMPDIR, as it always is on macOS."""
    return Wrapped(argv=(PROGRAM, "-p", profile(box)), env={"TMPDIR": str(box.temp)})


def profile(box: Box) -> str:
    """The rules in the order the system reads them: the last one that fits decides."""
    rules = ["(version 1)", "(allow default)"]
    readable = box.places("show")
    if EVERYTHING not in box.readable:
        seen = [*map(Path, SYSTEM), *box.readable, *box.places("write"), box.temp]
        rules += [_rule("deny file-read-data", [EVERYTHING]), _rule("allow file-read*", seen)]
    rules += [
        _rule("deny file-write*", [EVERYTHING]),
        _rule("allow file-write*", [box.temp, *box.places("write"), *map(Path, DEVICES)]),
        _rule("deny file-write*", box.places("read")),
        _rule("allow file-write*", box.places("open")),
        # A folder that holds something protected must not be moved away under it.
        _rule("deny file-write-unlink", box.places("stay"), kind="literal"),
        _rule("deny file-read* file-write*", dict.fromkeys((*box.places("empty"), *box.hidden))),
        _rule("allow file-read*", readable),
        _rule("deny file-read*", [place for place in box.hidden if is_in(place.parent, readable)]),
        _rule("deny process-exec*", box.places("replace", why=("denied",))),
    ]
    rules += [f'(deny network-outbound (remote ip "*:{port}"))' for port in box.ports]
    if box.doors or not box.network:
        rules += ["(deny network*)", "(allow network* (remote unix-socket) (local unix-socket))"]
    if box.doors:
        rules += ['(allow network-bind network-inbound (local ip "localhost:*"))']
    doors = (port for port in box.doors if port not in box.ports)
    rules += [f'(allow network-outbound (remote ip "localhost:{port}"))' for port in doors]
    return "\n".join(rule for rule in rules if rule)


def _rule(what: str, places: Iterable[Path], *, kind: str = "subpath") -> str:
    names = " ".join(f"({kind} {_quoted(place)})" for place in places)
    return f"({what} {names})" if names else ""


def _quoted(place: Path) -> str:
    escaped = str(place).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
