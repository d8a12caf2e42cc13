"""One SQLite file and its two threads: one writes in batches, without making anybody wait; the other reads."""

import asyncio
import sqlite3
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import field
from functools import partial
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

from toolwright.deadline import to_the_end
from toolwright.errors import ToolwrightError
from toolwright.record import record
from toolwright.session.storage.rescue import is_damage
from toolwright.session.storage.sqlite_file import connect, identity, problem_of
from toolwright.session.storage.writer import (
    PATIENCE,
    Action,
    LastOrder,
    Lost,
    Order,
    Rescue,
    Shrink,
    Tell,
    Waiter,
    Write,
    Writer,
    tried,
)

T = TypeVar("T")

MOMENT = 0.01
"""Seconds for which orders that nobody waits for are gathered."""


@record(frozen=True, slots=True)
class _Row:
    """A row that is not made ready yet, because another may take its place before it goes."""

    statement: str
    values: Callable[[], tuple[Any, ...]]


@record(slots=True)
class Database:
    """A file that any number of processes may have open. Only the writer's thread changes it.

    Nothing here blocks the event loop. The file is opened by the writer, and what is wrong with it is told to whoever
    waits or reads; the next to ask has it tried again.
    """

    path: Path
    writer: Writer
    _queue: "SimpleQueue[list[Order]]" = field(default_factory=SimpleQueue)
    _gathered: "list[Order | _Row]" = field(default_factory=list)
    """Orders of this moment. They go to the writer together, so that they are one commit."""
    _rows: dict[str, int] = field(default_factory=dict[str, int])
    """Index in these of each row that may still be replaced."""
    _reads: "SimpleQueue[Waiter | LastOrder]" = field(default_factory=SimpleQueue)
    _writing: threading.Thread | None = None
    _reading: threading.Thread | None = None
    _read_file: tuple[int, int] | None = None
    """Identity of the file that the reader is connected to."""
    _open: bool = True
    _put: int = 1
    """Number of orders that were put, so that a reader knows if it waits. The file itself is the first."""
    _written: int = 0

    @classmethod
    def open(
        cls,
        path: Path,
        schema: str,
        version: int,
        *,
        beat_seconds: float = 3.0,
        begin: Callable[[sqlite3.Connection], None] = lambda _: None,
    ) -> "Database":
        """The database at a path, made if there is none. `begin` readies the connection that writes."""
        database = cls(path, Writer(path, schema, version, beat_seconds, begin))
        database._writing = threading.Thread(target=database._write_all, name="toolwright-storage", daemon=True)
        database._writing.start()
        return database

    # Writing.

    def write(self, statement: str, *values: Any) -> None:
        self._rows.clear()
        self._order(Write(statement, values))

    def put(self, key: str, statement: str, values: Callable[[], tuple[Any, ...]]) -> None:
        """Write a row, in the place of what was put under the same key in this moment."""
        if (position := self._rows.get(key)) is not None:
            self._gathered[position] = _Row(statement, values)
            return
        self._rows[key] = len(self._gathered)
        self._order(_Row(statement, values))

    def shrink(self) -> None:
        """Give the room of deleted rows back to the disk, when nobody else is in the way."""
        self._order(Shrink())

    async def settled(self) -> None:
        """Return when everything written so far is committed."""
        await self._wait_for(None)

    async def run(self, action: Callable[[sqlite3.Connection], T]) -> T:
        """Do something in one transaction of the writer, after all that was written before."""
        value: T = await self._wait_for(action)
        return value

    def _order(self, order: "Order | _Row") -> None:
        """Hand an order over within a moment, with those that follow it; at once where no loop runs."""
        self._put += 1
        self._gathered.append(order)
        if len(self._gathered) > 1:
            return
        try:
            asyncio.get_running_loop().call_later(MOMENT, self._hand_over)
        except RuntimeError:
            self._hand_over()

    def _hand_over(self) -> None:
        if self._gathered:
            gathered, self._gathered = self._gathered, []
            self._rows.clear()
            self._queue.put([_made_ready(one) if isinstance(one, _Row) else one for one in gathered])

    async def _wait_for(self, action: Action | None) -> Any:
        if not self._open:
            raise self._closed()
        done, tell = self._answer()
        self._order(Waiter(tell, action))
        self._hand_over()
        put = self._put
        value = await done
        self._written = max(self._written, put)
        return value

    # Reading.

    async def read(self, action: Callable[[sqlite3.Connection], T]) -> T:
        """Return what an action finds, on a thread of its own. It sees everything that was written before it."""
        if not self._open:
            raise self._closed()
        if self._written < self._put:
            await self.settled()
        if self._reading is None:
            self._reading = threading.Thread(target=self._read_all, name="toolwright-reading", daemon=True)
            self._reading.start()
        done, tell = self._answer()
        self._reads.put(Waiter(tell, action))
        value: T = await done
        return value

    async def close(self) -> None:
        """Write what is left, and end both threads. StorageError if something could not be written."""
        await to_the_end(self._close())

    async def _close(self) -> None:
        if not self._open:
            return
        self._open = False
        if self._reading is not None:
            done, tell = self._answer()
            self._reads.put(LastOrder(tell))
            await done
            self._reading.join()
        done, tell = self._answer()
        self._order(LastOrder(tell))
        self._hand_over()
        await asyncio.wait([done])
        if self._writing is not None:
            self._writing.join()
        done.result()

    def _closed(self) -> ToolwrightError:
        return problem_of(self.path, sqlite3.ProgrammingError("it was closed"))

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
        writer = self.writer
        end: LastOrder | None = None
        while end is None:
            batch = self._next(writer.due)
            end = next((one for one in batch if isinstance(one, LastOrder)), None)
            problem = writer.carry_out(batch)
            if end is not None:
                writer.close()
                end.tell(None, problem if writer.is_behind else None)

    def _next(self, due: float | None) -> list[Order]:
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
            if isinstance(job, LastOrder):
                if connection is not None:
                    connection.close()
                job.tell(None, None)
                return
            connection, value, problem = self._run_read(connection, job)
            if is_damage(problem):
                if connection is not None:
                    connection.close()
                problem = self._rescued()
                connection, value, problem = (None, None, problem) if problem else self._run_read(None, job)
            job.tell(value, problem)

    def _run_read(
        self, connection: sqlite3.Connection | None, job: Waiter
    ) -> tuple[sqlite3.Connection | None, Any, Exception | None]:
        """Run a reader's action over this connection or one that is made."""
        value, problem = None, None
        file = identity(self.path)
        if connection is not None and file != self._read_file:
            connection.close()
            connection = None
        if connection is None:
            connection, problem = tried(lambda: _reader(self.path))
            self._read_file = file
        if connection is not None and job.action is not None:
            value, problem = tried(partial(job.action, connection))
        return connection, value, problem

    def _rescued(self) -> Exception | None:
        """Have the writer put a sound file in the place of the damaged one."""
        answers: SimpleQueue[Exception | None] = SimpleQueue()
        self._queue.put([Rescue(answers.put)])
        return answers.get()


def _made_ready(row: _Row) -> Write | Lost:
    try:
        return Write(row.statement, row.values())
    except Exception as error:  # noqa: BLE001 - one that cannot be made into text must not take the others along
        return Lost(error)


def _reader(path: Path) -> sqlite3.Connection:
    connection = connect(path, PATIENCE)
    # A damaged text is for the reader of that one row to refuse, not a reason to find nothing at all.
    connection.text_factory = lambda data: data.decode("utf-8", "replace")
    return connection


def _settle(done: "asyncio.Future[T]", value: T, problem: ToolwrightError | None) -> None:
    if done.done():
        return
    if problem is None:
        done.set_result(value)
    else:
        done.set_exception(problem)
