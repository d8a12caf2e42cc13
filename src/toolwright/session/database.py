"""One SQLite file and its two threads: one writes in batches, without making anybody wait; the other reads."""

import asyncio
import sqlite3
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

from toolwright.errors import ToolwrightError
from toolwright.session.sqlite_file import connect, prepare, problem_of

T = TypeVar("T")
Action = Callable[[sqlite3.Connection], Any]
Tell = Callable[[Any, Exception | None], None]

PATIENCE = 8.0
"""Seconds to wait for another process that is writing."""
SHORT_PATIENCE = 0.5
"""The same while waiting was in vain just before, so that all waits of a command together stay bearable."""


@dataclass(frozen=True, slots=True)
class _Write:
    statement: str
    values: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class _Row:
    """A row that is not made ready yet, because another may take its place before it goes."""

    statement: str
    values: Callable[[], tuple[Any, ...]]


@dataclass(frozen=True, slots=True)
class _Lost:
    """A row that cannot be made ready at all."""

    reason: Exception


@dataclass(frozen=True, slots=True)
class _Waiter:
    """Somebody who wants to know when all that was put before is written, and may want more done then."""

    tell: Tell
    action: Action | None = None


@dataclass(frozen=True, slots=True)
class _Shrink:
    """An order that cannot be carried out inside a transaction."""


@dataclass(frozen=True, slots=True)
class _End:
    """The last order."""

    tell: Tell


_Order = _Write | _Lost | _Waiter | _Shrink | _End


@dataclass(slots=True)
class Database:
    """A file that any number of processes may have open. Only the writer's thread changes it.

    Nothing here blocks the event loop. The file is opened by the writer, and what is wrong with it is told to whoever
    waits or reads; the next to ask has it tried again.
    """

    path: Path
    schema: str
    version: int
    beat: Action | None = None
    """Done by the writer every `beat_seconds` while there is one."""
    beat_seconds: float = 3.0
    _queue: "SimpleQueue[list[_Order]]" = field(default_factory=SimpleQueue)
    _gathered: "list[_Order | _Row]" = field(default_factory=list)
    """Orders of this turn of the event loop. They go to the writer together, so that they are one commit."""
    _rows: dict[str, int] = field(default_factory=dict[str, int])
    """Where in these a row stands that may still be replaced."""
    _reads: "SimpleQueue[_Waiter | _End]" = field(default_factory=SimpleQueue)
    _reader: threading.Thread | None = None
    _open: bool = True
    _put: int = 1
    """How much was put, to know whether a reader has to wait for the writer. The file itself is the first."""
    _written: int = 0

    @classmethod
    def open(cls, path: Path, schema: str, version: int, *, beat_seconds: float = 3.0) -> "Database":
        """The database at a path, made if there is none."""
        database = cls(path, schema, version, beat_seconds=beat_seconds)
        threading.Thread(target=database._write_all, name="toolwright-storage", daemon=True).start()
        return database

    # Writing.

    def write(self, statement: str, *values: Any) -> None:
        self._rows.clear()
        self._order(_Write(statement, values))

    def put(self, key: str, statement: str, values: Callable[[], tuple[Any, ...]]) -> None:
        """Write a row, in the place of what was put under the same key in this turn of the loop."""
        if (position := self._rows.get(key)) is not None:
            self._gathered[position] = _Row(statement, values)
            return
        self._rows[key] = len(self._gathered)
        self._order(_Row(statement, values))

    def shrink(self) -> None:
        """Give the room of deleted rows back to the disk, when nobody else is in the way."""
        self._order(_Shrink())

    async def settled(self) -> None:
        """Return when everything written so far is committed."""
        await self._told(None)

    async def run(self, action: Callable[[sqlite3.Connection], T]) -> T:
        """Do something in one transaction of the writer, after all that was written before."""
        value: T = await self._told(action)
        return value

    def _order(self, order: "_Order | _Row") -> None:
        """Hand an order over when this turn of the loop is over; at once where no loop runs."""
        self._put += 1
        self._gathered.append(order)
        if len(self._gathered) > 1:
            return
        try:
            asyncio.get_running_loop().call_soon(self._hand_over)
        except RuntimeError:
            self._hand_over()

    def _hand_over(self) -> None:
        if self._gathered:
            gathered, self._gathered = self._gathered, []
            self._rows.clear()
            self._queue.put([_made_ready(one) if isinstance(one, _Row) else one for one in gathered])

    async def _told(self, action: Action | None) -> Any:
        self._require_open()
        done, tell = self._answer()
        self._order(_Waiter(tell, action))
        self._hand_over()
        put = self._put
        value = await done
        self._written = max(self._written, put)
        return value

    # Reading.

    async def read(self, action: Callable[[sqlite3.Connection], T]) -> T:
        """What an action finds, on a thread of its own. It sees everything that was written before it."""
        self._require_open()
        if self._written < self._put:
            await self.settled()
        if self._reader is None:
            self._reader = threading.Thread(target=self._read_all, name="toolwright-reading", daemon=True)
            self._reader.start()
        done, tell = self._answer()
        self._reads.put(_Waiter(tell, action))
        value: T = await done
        return value

    async def close(self) -> None:
        """Write what is left, and end both threads. StorageError if something could not be written."""
        if not self._open:
            return
        self._open = False
        if self._reader is not None:
            done, tell = self._answer()
            self._reads.put(_End(tell))
            await done
        done, tell = self._answer()
        self._order(_End(tell))
        self._hand_over()
        await done

    def _require_open(self) -> None:
        if not self._open:
            raise problem_of(self.path, sqlite3.ProgrammingError("it was closed"))

    def _answer(self) -> "tuple[asyncio.Future[Any], Tell]":
        """Something to wait for, and how a thread says that it has come."""
        loop = asyncio.get_running_loop()
        done: asyncio.Future[Any] = loop.create_future()

        def tell(value: Any, reason: Exception | None) -> None:
            problem = None if reason is None else problem_of(self.path, reason)
            # A loop that has ended meanwhile has nobody left to tell.
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(_settle, done, value, problem)

        return done, tell

    # The two threads. Nothing ends them but the last order.

    def _write_all(self) -> None:
        """Take all there is, commit it, tell those who wait. What failed is tried again with the next."""
        writer = _Writer(self)
        end: _End | None = None
        while end is None:
            batch = self._next(writer.due)
            end = next((one for one in batch if isinstance(one, _End)), None)
            problem = writer.carry_out(batch)
            if end is not None:
                writer.close()
                end.tell(None, problem if writer.is_behind else None)

    def _next(self, due: float | None) -> list[_Order]:
        try:
            batch = self._queue.get(timeout=None if due is None else max(0.0, due - time.monotonic()))
        except Empty:
            return []
        while not self._queue.empty():
            batch += self._queue.get()
        return batch

    def _read_all(self) -> None:
        connection: sqlite3.Connection | None = None
        while True:
            job = self._reads.get()
            if isinstance(job, _End):
                if connection is not None:
                    connection.close()
                job.tell(None, None)
                return
            try:
                connection = connection or _reader(self.path)
                value = job.action(connection) if job.action else None
            except Exception as error:  # noqa: BLE001 - told to whoever reads, and the thread lives on
                job.tell(None, error)
            else:
                job.tell(value, None)


@dataclass(slots=True)
class _Writer:
    """What the writer's thread has in hand."""

    database: Database
    due: float | None = None
    """When the next beat is due, by the monotonic clock."""
    _connection: sqlite3.Connection | None = None
    _backlog: list[_Write] = field(default_factory=list[_Write])
    _patience: float = PATIENCE

    def carry_out(self, batch: list[_Order]) -> Exception | None:
        self._backlog += [entry for entry in batch if isinstance(entry, _Write)]
        problem = self._committed()
        connection = self._connection
        if problem is None:
            problem = next((entry.reason for entry in batch if isinstance(entry, _Lost)), None)
        if connection is not None and any(isinstance(entry, _Shrink) for entry in batch):
            _shrink(connection)
        for entry in batch:
            if isinstance(entry, _Waiter):
                _answer(connection, entry, problem)
        if connection is not None:
            self._beat(connection)
        return problem

    @property
    def is_behind(self) -> bool:
        """Whether something is still to be written."""
        return bool(self._backlog)

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()

    def _committed(self) -> Exception | None:
        """Open the file if it is not yet, and write what is to be written."""
        try:
            if self._connection is None:
                path, database = self.database.path, self.database
                self._connection = prepare(path, database.schema, database.version, self._patience)
            problem = _commit(self._connection, self._backlog)
        except Exception as error:  # noqa: BLE001 - told to whoever waits, and the next try may go better
            problem = error
        # Only trouble that may pass is worth another try; a statement that can never work must not block the rest.
        if self._connection is not None and not isinstance(problem, sqlite3.OperationalError):
            self._backlog.clear()
        self._be_patient(SHORT_PATIENCE if isinstance(problem, sqlite3.OperationalError) else PATIENCE)
        return problem

    def _be_patient(self, seconds: float) -> None:
        if seconds != self._patience:
            self._patience = seconds
            if self._connection is not None:
                with suppress(sqlite3.Error):
                    self._connection.execute(f"PRAGMA busy_timeout = {int(seconds * 1000)}")

    def _beat(self, connection: sqlite3.Connection) -> None:
        beat, now = self.database.beat, time.monotonic()
        if beat is None:
            self.due = None
        elif self.due is None or now >= self.due:
            self.due = now + self.database.beat_seconds
            _answer(connection, _Waiter(lambda *_: None, beat), None)


def _made_ready(row: _Row) -> _Write | _Lost:
    try:
        return _Write(row.statement, row.values())
    except Exception as error:  # noqa: BLE001 - one that cannot be text must not take the others along
        return _Lost(error)


def _reader(path: Path) -> sqlite3.Connection:
    connection = connect(path, PATIENCE)
    # A damaged text is for the reader of that one row to refuse, not a reason to find nothing at all.
    connection.text_factory = lambda data: data.decode("utf-8", "replace")
    return connection


_UNWRITABLE = (sqlite3.Error, ValueError, OverflowError)
"""What comes of values that SQLite does not take."""


def _commit(connection: sqlite3.Connection, writes: list[_Write]) -> Exception | None:
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
        _commit_one_by_one(connection, writes)
        return error
    return None


def _commit_one_by_one(connection: sqlite3.Connection, writes: list[_Write]) -> None:
    for write in writes:
        with suppress(*_UNWRITABLE):
            connection.execute(write.statement, write.values)


def _shrink(connection: sqlite3.Connection) -> None:
    # Another process that reads or writes just now keeps us from it; there will be a next time.
    with suppress(sqlite3.Error):
        connection.execute("VACUUM")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _answer(connection: sqlite3.Connection | None, waiter: _Waiter, problem: Exception | None) -> None:
    value = None
    if problem is None and connection is not None and waiter.action is not None:
        try:
            connection.execute("BEGIN IMMEDIATE")
            value = waiter.action(connection)
            connection.execute("COMMIT")
        except Exception as error:  # noqa: BLE001 - told to whoever waits
            _roll_back(connection)
            problem = error
    waiter.tell(value, problem)


def _roll_back(connection: sqlite3.Connection) -> None:
    if connection.in_transaction:
        with suppress(sqlite3.Error):
            connection.execute("ROLLBACK")


def _settle(done: "asyncio.Future[T]", value: T, problem: ToolwrightError | None) -> None:
    if done.done():
        return
    if problem is None:
        done.set_result(value)
    else:
        done.set_exception(problem)
