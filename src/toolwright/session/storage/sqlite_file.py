"""A SQLite file opened and made ready, and in one sentence what is wrong with it."""

import os
import re
import sqlite3
import stat
import time
from pathlib import Path

from toolwright.errors import ToolwrightError, UsageError
from toolwright.machine.private_files import make_folder
from toolwright.session.store import StorageError


def prepare(path: Path, schema: str, version: int, patience: float) -> sqlite3.Connection:
    """A connection to write with. The file and whatever table it lacks are made; nothing that is there is touched."""
    make_folder(path.parent)
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NONBLOCK, 0o600)
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise UsageError(f"{path} is not a regular file. Move it away, or set another data folder.")
    finally:
        os.close(handle)
    connection = connect(path, patience)
    try:
        [present] = connection.execute("PRAGMA user_version").fetchone()
        if present > version:
            raise UsageError(
                f"{path} was written by a newer version of this program. Update, or set another data folder."
            )
        if present < version or not tables_in(schema) <= _tables_of(connection):
            connection.executescript(f"BEGIN IMMEDIATE; {schema}; PRAGMA user_version = {version}; COMMIT")
    except BaseException:
        connection.close()
        raise
    return connection


def connect(path: Path, patience: float) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=0.05)
    try:
        _use_wal(connection, time.monotonic() + patience)
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute(f"PRAGMA busy_timeout = {int(patience * 1000)}")
    except BaseException:
        connection.close()
        raise
    return connection


def identity(path: Path) -> tuple[int, int] | None:
    """Return which file is at a path now; another than before if somebody has moved or removed it."""
    try:
        status = os.stat(path)  # noqa: PTH116 - for every commit
    except OSError:
        return None
    return status.st_dev, status.st_ino


def problem_of(path: Path, error: Exception) -> ToolwrightError:
    """The error as a person should read it."""
    text = " ".join(str(error).split())[:200]
    match error:
        case ToolwrightError():
            return error
        case sqlite3.OperationalError() if "locked" in text or "busy" in text:
            return StorageError(f"{path} is locked by another program. Close what uses it, then try again.")
        case sqlite3.OperationalError() if re.search("full|readonly|read-only|disk I/O|unable to open", text):
            return StorageError(
                f"{path} cannot be written: {text}. Make room or correct its permissions, then try again."
            )
        case sqlite3.ProgrammingError():
            return StorageError(f"{path} cannot be used: {text}.")
        case sqlite3.DatabaseError() | UnicodeError():
            return StorageError(f"{path} is damaged: {text}. Restore it, or move it away to begin anew.")
        case OSError():
            return StorageError(f"{path} cannot be used: {error.strerror or text}. Correct it, then try again.")
        case _:
            return StorageError(f"A record cannot be kept in {path}: {type(error).__name__}: {text}.")


def _use_wal(connection: sqlite3.Connection, deadline: float) -> None:
    """SQLite does not wait for others when it changes the journal, so we do."""
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.05)
        else:
            return


def tables_in(schema: str) -> set[str]:
    return set(re.findall(r"CREATE TABLE IF NOT EXISTS (\w+)", schema))


def _tables_of(connection: sqlite3.Connection) -> set[str]:
    return {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
