"""A damaged SQLite file is set aside, and all that can still be read of it goes into a new one."""

import fcntl
import logging
import os
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from pathlib import Path

from toolwright.session.storage.sqlite_file import prepare, tables_in
from toolwright.session.store import StorageError

log = logging.getLogger(__name__)

_DAMAGE = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_SHARED = (0x40000000 + 2, 510)
"""The bytes of a file, behind all it holds, that every program which has it open as a database holds a lock on."""
_LAST = 2**62


def is_damage(error: Exception | None) -> bool:
    """Tell if an error says that the file itself is broken, and not that it is in use, full or not ours to change."""
    return isinstance(error, sqlite3.DatabaseError) and getattr(error, "sqlite_errorcode", 0) & 0xFF in _DAMAGE


def rescue(path: Path, schema: str, version: int, patience: float) -> None:
    """Put a sound file in the place of a damaged one. StorageError while another program has it open."""
    if _is_sound(path, schema, version, patience):
        return  # somebody else was faster
    if _is_in_use(path):
        raise StorageError(f"{path} is damaged and in use. Close every other toolwright: the next start saves it.")
    aside = _set_aside(path)
    with closing(prepare(path, schema, version, patience)) as fresh:
        saved = sum(_copied(aside, fresh, table) for table in sorted(tables_in(schema)))
    log.warning("%s was damaged: %d of its records were saved, and the damaged file is now %s", path, saved, aside)


def _is_sound(path: Path, schema: str, version: int, patience: float) -> bool:
    try:
        with closing(prepare(path, schema, version, patience)) as connection:
            return list(connection.execute("PRAGMA quick_check(1)")) == [("ok",)]
    except sqlite3.DatabaseError as error:
        if is_damage(error):
            return False
        raise


def _is_in_use(path: Path) -> bool:
    with path.open("r+b") as file:
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, _SHARED[1], _SHARED[0])
        except OSError:
            return True
    return False


def _set_aside(path: Path) -> Path:
    stamp = time.strftime("%Y%m%d-%H%M%S")
    aside = path.with_name(f"{path.name}.damaged-{stamp}")
    # The newest records stand in the log; left where it is, it would be taken for that of the new file.
    for ending in ("-shm", "-wal", ""):
        with suppress(FileNotFoundError):
            os.rename(f"{path}{ending}", f"{aside}{ending}")  # noqa: PTH104 - a name is made longer, not a path
    return aside


def _copied(aside: Path, fresh: sqlite3.Connection, table: str) -> int:
    """Copy every row of a table that can be read; how many those were."""
    columns = [name for _, name, *_ in fresh.execute(f"PRAGMA table_info({table})")]
    put = f"INSERT OR IGNORE INTO {table} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"  # noqa: S608 - names of our own tables
    count = 0
    with closing(sqlite3.connect(aside, isolation_level=None)) as damaged:
        damaged.text_factory = lambda data: data.decode("utf-8", "replace")
        fresh.execute("BEGIN IMMEDIATE")
        for row in _rows(damaged, table, columns):
            with suppress(sqlite3.Error):
                count += fresh.execute(put, row).rowcount
        fresh.execute("COMMIT")
    return count


def _rows(damaged: sqlite3.Connection, table: str, columns: Sequence[str]) -> Iterator[tuple[object, ...]]:
    """The rows in their order. Where one cannot be read, we go on behind it, further away each time."""
    wanted = f"SELECT rowid, {', '.join(columns)} FROM {table} WHERE rowid > ? ORDER BY rowid"  # noqa: S608 - as above
    at, step = -1, 1
    while at < _LAST:
        try:
            for row in damaged.execute(wanted, (at,)):
                at, step = row[0], 1
                yield row[1:]
        except sqlite3.DatabaseError:
            at, step = at + step, step * 2
        else:
            return
