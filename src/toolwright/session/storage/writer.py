"""Thread that writes a SQLite file: orders carried out in batches, and those who wait told."""

import sqlite3
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import field
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from toolwright.record import record
from toolwright.session.storage.rescue import is_damage, rescue
from toolwright.session.storage.sqlite_file import identity, prepare

T = TypeVar("T")
Action = Callable[[sqlite3.Connection], Any]
Tell = Callable[[Any, Exception | None], None]

PATIENCE = 8.0
"""Seconds to wait for another process that is writing."""
SHORT_PATIENCE = 0.5
"""The same while waiting was in vain just before, so that all waits of a command together stay bearable."""


@record(frozen=True, slots=True)
class Write:
    statement: str
    values: tuple[Any, ...]


@record(frozen=True, slots=True)
class Lost:
    """A row that cannot be made ready at all."""

    reason: Exception


@record(frozen=True, slots=True)
class Waiter:
    """Somebody who wants to know when all that was put before is written, and may want more done then."""

    tell: Tell
    action: Action | None = None


@record(frozen=True, slots=True)
class Shrink:
    """An order that cannot be carried out inside a transaction."""


@record(frozen=True, slots=True)
class Rescue:
    """Somebody who reads has found the file damaged."""

    tell: Callable[[Exception | None], None]


@record(frozen=True, slots=True)
class LastOrder:
    """The last order."""

    tell: Tell


Order = Write | Lost | Waiter | Shrink | Rescue | LastOrder


@record(slots=True)
class Writer:
    """Work that the writer's thread has in hand."""

    path: Path
    schema: str
    version: int
    beat_seconds: float
    begin: Callable[[sqlite3.Connection], None]
    """Readies each connection to write with."""
    beat: Action | None = field(default=None, repr=False)
    """Done every `beat_seconds` while there is one."""
    due: float | None = None
    """Time when that is due, by the monotonic clock."""
    _connection: sqlite3.Connection | None = None
    _file: tuple[int, int] | None = None
    """Identity of the file that it is connected to."""
    _backlog: list[Write] = field(default_factory=list[Write])
    _patience: float = PATIENCE

    def carry_out(self, batch: list[Order]) -> Exception | None:
        self._backlog += [entry for entry in batch if isinstance(entry, Write)]
        for entry in batch:
            if isinstance(entry, Rescue):
                entry.tell(self._rescued())
        if self._connection is not None and identity(self.path) != self._file:
            self._disconnect()
        problem = self._committed() if self._connection is not None or self._is_wanted(batch) else None
        if problem is None:
            problem = next((entry.reason for entry in batch if isinstance(entry, Lost)), None)
        if self._connection is not None and any(isinstance(entry, Shrink) for entry in batch):
            _shrink(self._connection)
        for entry in batch:
            if isinstance(entry, Waiter):
                self._be_patient_after(self._answered(entry, problem))
        if self._connection is not None:
            self._beat(self._connection)
        return problem

    @property
    def is_behind(self) -> bool:
        """Tell whether something is still to be written."""
        return bool(self._backlog)

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()

    def _is_wanted(self, batch: list[Order]) -> bool:
        """Tell whether the file is worth opening; a removed file is not recreated just to flush nothing."""
        waiters = [entry for entry in batch if isinstance(entry, Waiter)]
        return bool(self._backlog or any(one.action for one in waiters) or (waiters and self._file is None))

    def _disconnect(self) -> None:
        self.close()
        # Nothing is due in a file that is not there: whoever waits for it would look again and again.
        self._connection = self.due = None

    def _rescued(self) -> Exception | None:
        """Have a sound file in the place of a damaged one; why not, if that cannot be."""
        self._disconnect()
        return tried(lambda: rescue(self.path, self.schema, self.version, self._patience))[1]

    def _committed(self) -> Exception | None:
        """Write what is to be written, into another file if this one turns out to be damaged."""
        problem = self._tried_to_commit()
        if not is_damage(problem):
            return problem
        return self._rescued() or self._tried_to_commit()

    def _tried_to_commit(self) -> Exception | None:
        """Open the file if it is not yet, and write what is to be written."""
        problem = None
        if self._connection is None:
            self._connection, problem = tried(self._opened)
            self._file = identity(self.path) if self._connection is not None else None
        if self._connection is not None:
            problem = _commit(self._connection, self._backlog)
        # Only trouble that may pass is worth another try; a statement that can never work must not block the rest.
        passes = isinstance(problem, sqlite3.OperationalError) or is_damage(problem)
        if self._connection is not None and not passes:
            self._backlog.clear()
        self._be_patient_after(problem)
        return problem

    def _opened(self) -> sqlite3.Connection:
        connection = prepare(self.path, self.schema, self.version, self._patience)
        self.begin(connection)
        return connection

    def _answered(self, waiter: Waiter, problem: Exception | None) -> Exception | None:
        """Do what somebody who waits wants done, and tell them; what went wrong, if anything did."""
        value = None
        if problem is None and waiter.action is not None:
            value, problem = self._acted(waiter.action)
            if is_damage(problem):
                problem = self._rescued() or self._committed()
                value, problem = (None, problem) if problem else self._acted(waiter.action)
        waiter.tell(value, problem)
        return problem

    def _acted(self, action: Action) -> tuple[Any, Exception | None]:
        connection = self._connection
        return (None, None) if connection is None else tried(partial(_in_transaction, connection, action))

    def _be_patient_after(self, problem: Exception | None) -> None:
        seconds = SHORT_PATIENCE if isinstance(problem, sqlite3.OperationalError) else PATIENCE
        if seconds != self._patience:
            self._patience = seconds
            if self._connection is not None:
                with suppress(sqlite3.Error):
                    self._connection.execute(f"PRAGMA busy_timeout = {int(seconds * 1000)}")

    def _beat(self, connection: sqlite3.Connection) -> None:
        now = time.monotonic()
        if self.beat is None:
            self.due = None
        elif self.due is None:
            self.due = now + self.beat_seconds
        elif now >= self.due:
            self.due = now + self.beat_seconds
            tried(partial(_in_transaction, connection, self.beat))


def tried(action: Callable[[], T]) -> tuple[T | None, Exception | None]:
    """Return the value of an action, or what went wrong, whatever that is. Somebody waits to be told."""
    try:
        return action(), None
    except Exception as error:  # noqa: BLE001 - a thread that ended here would leave those who wait for ever
        return None, error


_UNWRITABLE = (sqlite3.Error, ValueError, OverflowError)
"""Errors that come of values that SQLite does not take."""


def _commit(connection: sqlite3.Connection, writes: list[Write]) -> Exception | None:
    if not writes:
        return None
    try:
        connection.execute("BEGIN IMMEDIATE")
        for write in writes:
            connection.execute(write.statement, write.values)
        connection.execute("COMMIT")
    except sqlite3.OperationalError as error:
        _roll_back(connection)
        return error
    except _UNWRITABLE as error:  # the others are written without it
        _roll_back(connection)
        if not is_damage(error):
            _commit_one_by_one(connection, writes)
        return error
    return None


def _commit_one_by_one(connection: sqlite3.Connection, writes: list[Write]) -> None:
    for write in writes:
        with suppress(*_UNWRITABLE):
            connection.execute(write.statement, write.values)


def _shrink(connection: sqlite3.Connection) -> None:
    # Another process that reads or writes just now keeps us from it; there will be a next time.
    with suppress(sqlite3.Error):
        connection.execute("VACUUM")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _in_transaction(connection: sqlite3.Connection, action: Action) -> Any:
    try:
        connection.execute("BEGIN IMMEDIATE")
        value = action(connection)
        connection.execute("COMMIT")
    except BaseException:
        _roll_back(connection)
        raise
    return value


def _roll_back(connection: sqlite3.Connection) -> None:
    if connection.in_transaction:
        with suppress(sqlite3.Error):
            connection.execute("ROLLBACK")
