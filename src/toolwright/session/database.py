"""One SQLite file and the thread that writes it: statements go in without a wait, commits come in batches."""

import asyncio
import os
import sqlite3
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import field
from pathlib import Path
from queue import SimpleQueue
from typing import Any, TypeVar

from toolwright.errors import ToolwrightError, UsageError
from toolwright.private import make_folder
from toolwright.record import record

T = TypeVar("T")
BUSY_SECONDS = 30
"""How long to wait for another process that is writing."""


class StorageError(ToolwrightError):
    """Records cannot be written: the disk is full, read-only or gone."""


@record(frozen=True, slots=True)
class _Write:
    statement: str
    values: tuple[Any, ...]


@record(frozen=True, slots=True)
class _Row:
    """A row that is not made ready yet, because another may take its place before it goes."""

    statement: str
    values: Callable[[], tuple[Any, ...]]


@record(frozen=True, slots=True)
class _Waiter:
    """Somebody who wants to know when all that was put before is written, and may want more done then."""

    tell: Callable[[Any, sqlite3.Error | None], None]
    action: Callable[[sqlite3.Connection], Any] | None = None


@record(frozen=True, slots=True)
class _Shrink:
    """An order that cannot be carried out inside a transaction."""


_Order = _Write | _Waiter | _Shrink | None
"""None is the last."""


@record(slots=True)
class Database:
    """A file that any number of processes may have open. Only the writer's thread changes it."""

    path: Path
    _queue: "SimpleQueue[list[_Order]]" = field(default_factory=SimpleQueue)
    _gathered: "list[_Order | _Row]" = field(default_factory=list)
    """Orders of this turn of the event loop. They go to the writer together, so that they are one commit."""
    _rows: dict[str, int] = field(default_factory=dict[str, int])
    """Where in these a row stands that may still be replaced."""
    _writer: threading.Thread | None = None
    _reader: sqlite3.Connection | None = None
    _unread: bool = False
    """Whether something was put since the reader last waited for the writer."""

    @classmethod
    def open(cls, path: Path, schema: str, version: int) -> "Database":
        """The database at a path, made if there is none."""
        make_folder(path.parent)
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
        database = cls(path)
        connection = _prepared(path, schema, version)
        database._writer = threading.Thread(
            target=database._write_all, args=(connection,), name="toolwright-storage", daemon=True
        )
        database._writer.start()
        return database

    def write(self, statement: str, *values: Any) -> None:
        self._rows.clear()
        self._order(_Write(statement, values))
        self._unread = True

    def put(self, key: str, statement: str, values: Callable[[], tuple[Any, ...]]) -> None:
        """Write a row, in the place of what was put under the same key in this turn of the loop."""
        self._unread = True
        if (position := self._rows.get(key)) is not None:
            self._gathered[position] = _Row(statement, values)
            return
        self._rows[key] = len(self._gathered)
        self._order(_Row(statement, values))

    def _order(self, order: "_Order | _Row") -> None:
        """Hand an order over when this turn of the loop is over; at once where no loop runs."""
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
            self._queue.put([_Write(one.statement, one.values()) if isinstance(one, _Row) else one for one in gathered])

    def rows(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        """What a query finds. It sees everything that was written before it."""
        if self._unread:
            self._wait()
        if self._reader is None:
            self._reader = _connect(self.path)
            # A damaged text is for the reader of that one row to refuse, not a reason to find nothing at all.
            self._reader.text_factory = lambda data: data.decode("utf-8", "replace")
        return self._reader.execute(query, values).fetchall()

    async def settled(self) -> None:
        """Return when everything written so far is committed."""
        await self._told(None)

    async def run(self, action: Callable[[sqlite3.Connection], T]) -> T:
        """Do something in one transaction of the writer, after all that was written before."""
        value: T = await self._told(action)
        return value

    async def _told(self, action: Callable[[sqlite3.Connection], Any] | None) -> Any:
        loop = asyncio.get_running_loop()
        done: asyncio.Future[Any] = loop.create_future()

        def tell(value: Any, problem: sqlite3.Error | None) -> None:
            # A loop that has ended meanwhile has nobody left to tell.
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(_settle, done, value, self._failure(problem))

        if self._writer is None:
            raise StorageError(f"{self.path} was closed.")
        self._order(_Waiter(tell, action))
        self._hand_over()
        return await done

    def shrink(self) -> None:
        """Give the room of deleted rows back to the disk, when nobody else is in the way."""
        self._order(_Shrink())
        self._unread = True

    async def close(self) -> None:
        writer, self._writer = self._writer, None
        if writer is not None:
            self._order(None)
            self._hand_over()
            await asyncio.to_thread(writer.join)
        if self._reader is not None:
            self._reader.close()
            self._reader = None

    def _wait(self) -> None:
        self._unread = False
        if self._writer is not None:
            done = threading.Event()
            self._order(_Waiter(lambda *_: done.set()))
            self._hand_over()
            done.wait()

    def _failure(self, problem: sqlite3.Error | None) -> StorageError | None:
        if problem is None:
            return None
        return StorageError(f"{self.path} cannot be written: {problem}. Make room or put it right, then go on.")

    def _write_all(self, connection: sqlite3.Connection) -> None:
        """The writer's life: take all there is, commit it, tell those who wait. What failed is tried again."""
        backlog: list[_Write] = []
        running = True
        while running:
            batch = self._queue.get()
            while not self._queue.empty():
                batch += self._queue.get()
            running = None not in batch
            backlog += [entry for entry in batch if isinstance(entry, _Write)]
            problem = _commit(connection, backlog)
            # Only trouble that may pass is worth another try; a statement that can never work must not block the rest.
            if not isinstance(problem, sqlite3.OperationalError):
                backlog.clear()
            if any(isinstance(entry, _Shrink) for entry in batch):
                _shrink(connection)
            for entry in batch:
                if isinstance(entry, _Waiter):
                    _answer(connection, entry, problem)
        connection.close()


def _prepared(path: Path, schema: str, version: int) -> sqlite3.Connection:
    try:
        connection = _connect(path)
        [found] = connection.execute("PRAGMA user_version").fetchone()
        if found == 0:
            connection.executescript(f"BEGIN IMMEDIATE; {schema}; PRAGMA user_version = {version}; COMMIT")
    except sqlite3.DatabaseError as error:
        raise UsageError(f"{path} cannot be used: {error}. If it is damaged, move it away to begin anew.") from error
    if found > version:
        connection.close()
        raise UsageError(f"{path} was written by a newer version of this program. Update, or set another data folder.")
    return connection


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=BUSY_SECONDS)
    _use_wal(connection)
    connection.execute("PRAGMA synchronous = NORMAL")
    return connection


def _use_wal(connection: sqlite3.Connection) -> None:
    """SQLite does not wait for others when it changes the journal, so we do."""
    for _ in range(100):
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if "locked" not in str(error):
                raise
            time.sleep(0.05)
        else:
            return


def _commit(connection: sqlite3.Connection, writes: list[_Write]) -> sqlite3.Error | None:
    if not writes:
        return None
    try:
        connection.execute("BEGIN IMMEDIATE")
        for write in writes:
            connection.execute(write.statement, write.values)
        connection.execute("COMMIT")
    except sqlite3.Error as error:
        _roll_back(connection)
        return error
    return None


def _shrink(connection: sqlite3.Connection) -> None:
    # Another process that reads or writes just now keeps us from it; there will be a next time.
    with suppress(sqlite3.OperationalError):
        connection.execute("VACUUM")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _answer(connection: sqlite3.Connection, waiter: _Waiter, problem: sqlite3.Error | None) -> None:
    value = None
    if problem is None and waiter.action is not None:
        try:
            connection.execute("BEGIN IMMEDIATE")
            value = waiter.action(connection)
            connection.execute("COMMIT")
        except sqlite3.Error as error:
            _roll_back(connection)
            problem = error
    waiter.tell(value, problem)


def _roll_back(connection: sqlite3.Connection) -> None:
    if connection.in_transaction:
        connection.execute("ROLLBACK")


def _settle(done: "asyncio.Future[T]", value: T, failure: StorageError | None) -> None:
    if done.done():
        return
    if failure is None:
        done.set_result(value)
    else:
        done.set_exception(failure)
