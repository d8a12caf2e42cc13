"""The user's own server: one for each user, started when it is first needed, ended when nothing needs it."""

import fcntl
import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

from toolwright.app.server_secret import notes_folder
from toolwright.errors import ToolwrightError
from toolwright.machine.private_files import is_locked, make_folder, open_private
from toolwright.process.programs.detached import begin_apart, has_ended
from toolwright.protocols.json_text import read_json

PATIENCE = 30.0
"""Seconds that it is given to start."""
_STEP = 0.05
_LOG = 1 << 20
"""Bytes after which its log begins anew."""


class OwnServerError(ToolwrightError):
    """The server could not be started."""


def address(environment: Mapping[str, str] = os.environ) -> str:
    """Return where it listens; empty if it does not run. Its secret lies beside, as that of every server of ours."""
    folder = notes_folder(environment)
    if not is_locked(folder / "own.lock"):
        return ""
    with suppress(OSError, ValueError, KeyError, TypeError):
        return str(read_json((folder / "own.json").read_text("utf-8"))["url"])
    return ""


def ensure(environment: Mapping[str, str] = os.environ) -> str:
    """Return where it listens, once it does: it is started if need be, apart from this terminal."""
    folder = notes_folder(environment)
    make_folder(folder)
    with _alone(folder / "own.start"):
        if url := address(environment):
            return url
        log = folder / "own.log"
        if log.exists() and log.stat().st_size > _LOG:
            log.unlink()
        begun = begin_apart(["serve", "--own"], log, environment)
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until and not has_ended(begun):
            if url := address(environment):
                return url
            time.sleep(_STEP)
    raise OwnServerError(f"The server for runs in the background did not start. {log} has what it said.")


@contextmanager
def held(url: str, environment: Mapping[str, str] = os.environ) -> Iterator[bool]:
    """Be the one server of the user's while this lasts, found by its address; False if another is."""
    folder = notes_folder(environment)
    make_folder(folder)
    handle = os.open(folder / "own.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    note = folder / "own.json"
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
            return
        with open_private(note) as stream:
            stream.write(json.dumps({"url": url, "pid": os.getpid()}).encode())
        try:
            yield True
        finally:
            note.unlink(missing_ok=True)
    finally:
        os.close(handle)


def port_of_killed(environment: Mapping[str, str] = os.environ) -> int:
    """Return the port of one that was killed, where its clients wait for the next; 0 if none was."""
    with suppress(OSError, ValueError, KeyError, TypeError):
        return urlsplit(read_json((notes_folder(environment) / "own.json").read_text("utf-8"))["url"]).port or 0
    return 0


def pid(environment: Mapping[str, str] = os.environ) -> int:
    """Return the number of its process; 0 if it does not run."""
    with suppress(OSError, ValueError, KeyError, TypeError):
        if address(environment):
            return int(read_json((notes_folder(environment) / "own.json").read_text("utf-8"))["pid"])
    return 0


@contextmanager
def _alone(file: Path) -> Iterator[None]:
    handle = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
