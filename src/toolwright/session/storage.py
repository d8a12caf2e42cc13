"""Records on disk: one SQLite file, one thread that writes, commits in batches."""

import asyncio
import json
import sqlite3
import threading
from dataclasses import dataclass, field
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from toolwright.messages import ToolPart
from toolwright.wire import to_json

# Order is by `seq`, which SQLite counts up as rows come in; ids and clocks decide nothing.
_SCHEMA = """
CREATE TABLE IF NOT EXISTS part (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    message_id TEXT NOT NULL,
    session_id TEXT NOT NULL,
    data TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS part_of_session ON part (session_id, seq);
"""
_PUT_PART = """
INSERT INTO part (id, message_id, session_id, data) VALUES (?, ?, ?, ?)
ON CONFLICT (id) DO UPDATE SET data = excluded.data
"""

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class _Write:
    statement: str
    values: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class _Settle:
    loop: asyncio.AbstractEventLoop
    done: "asyncio.Future[None]"


@dataclass(slots=True)
class Storage:
    """The records of all sessions. Writing never waits; `settled` does."""

    path: Path
    _queue: "SimpleQueue[_Write | _Settle | None]" = field(default_factory=SimpleQueue)
    _writer: threading.Thread | None = None

    @classmethod
    def open(cls, path: Path) -> "Storage":
        path.parent.mkdir(parents=True, exist_ok=True)
        storage = cls(path)
        connection = _connect(path)
        connection.executescript(_SCHEMA)
        storage._writer = threading.Thread(
            target=storage._write_all, args=(connection,), name="toolwright-storage", daemon=True
        )
        storage._writer.start()
        return storage

    def put_part(self, part: ToolPart) -> None:
        data = json.dumps(to_json(part), ensure_ascii=False, separators=(",", ":"))
        self._queue.put(_Write(_PUT_PART, (part.id, part.message_id, part.session_id, data)))

    async def settled(self) -> None:
        """Return when everything put so far is committed."""
        loop = asyncio.get_running_loop()
        done: asyncio.Future[None] = loop.create_future()
        self._queue.put(_Settle(loop, done))
        await done

    async def close(self) -> None:
        self._queue.put(None)
        if self._writer is not None:
            await asyncio.to_thread(self._writer.join)

    def parts(self, session_id: str) -> list[Json]:
        """The parts of a session in the order they came; a row that cannot be read is passed over."""
        connection = _connect(self.path)
        try:
            rows = connection.execute(
                "SELECT data FROM part WHERE session_id = ? ORDER BY seq", (session_id,)
            ).fetchall()
        finally:
            connection.close()
        return [value for (text,) in rows if (value := _readable(text)) is not None]

    def _write_all(self, connection: sqlite3.Connection) -> None:
        """The writer's life: wait for work, take all there is, commit it, tell those who wait."""
        running = True
        while running:
            batch = [self._queue.get()]
            while not self._queue.empty():
                batch.append(self._queue.get())
            running = None not in batch
            _commit(connection, [entry for entry in batch if isinstance(entry, _Write)])
            for entry in batch:
                if isinstance(entry, _Settle):
                    entry.loop.call_soon_threadsafe(_finish, entry.done)
        connection.close()


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=30)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")
    return connection


def _commit(connection: sqlite3.Connection, writes: list[_Write]) -> None:
    if not writes:
        return
    connection.execute("BEGIN IMMEDIATE")
    for write in writes:
        connection.execute(write.statement, write.values)
    connection.execute("COMMIT")


def _finish(done: "asyncio.Future[None]") -> None:
    if not done.done():
        done.set_result(None)


def _readable(text: str) -> Json | None:
    try:
        value = json.loads(text)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None
