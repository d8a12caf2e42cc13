"""Records on disk: one SQLite file, one thread that writes, commits in batches."""

import asyncio
import json
import sqlite3
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from toolwright.errors import UsageError
from toolwright.messages import AnyPart, Info, Message, SessionInfo
from toolwright.parts import Part
from toolwright.session.owner import Owner
from toolwright.wire import from_json, to_json

Json = dict[str, Any]

# Order is by `seq`, which SQLite counts up as rows come in; ids and clocks decide nothing.
_SCHEMA = """
CREATE TABLE IF NOT EXISTS session (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, project_id TEXT NOT NULL, parent_id TEXT,
    updated INTEGER NOT NULL, data TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS session_of_project ON session (project_id, updated);
CREATE INDEX IF NOT EXISTS session_of_parent ON session (parent_id);
CREATE TABLE IF NOT EXISTS message (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, session_id TEXT NOT NULL, data TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS message_of_session ON message (session_id, seq);
CREATE TABLE IF NOT EXISTS part (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, message_id TEXT NOT NULL,
    session_id TEXT NOT NULL, data TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS part_of_session ON part (session_id, seq);
CREATE INDEX IF NOT EXISTS part_of_message ON part (message_id);
CREATE TABLE IF NOT EXISTS todo (session_id TEXT PRIMARY KEY, data TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS owner (session_id TEXT PRIMARY KEY, pid INTEGER NOT NULL, born TEXT NOT NULL);
"""
_UPSERT = "ON CONFLICT (id) DO UPDATE SET data = excluded.data"
_PUT_SESSION = (
    "INSERT INTO session (id, project_id, parent_id, updated, data) VALUES (?, ?, ?, ?, ?)"
    f" {_UPSERT}, updated = excluded.updated"
)
_PUT_MESSAGE = f"INSERT INTO message (id, session_id, data) VALUES (?, ?, ?) {_UPSERT}"
_PUT_PART = f"INSERT INTO part (id, message_id, session_id, data) VALUES (?, ?, ?, ?) {_UPSERT}"
_PUT_TODO = (
    "INSERT INTO todo (session_id, data) VALUES (?, ?) ON CONFLICT (session_id) DO UPDATE SET data = excluded.data"
)
_PUT_OWNER = "INSERT OR REPLACE INTO owner (session_id, pid, born) VALUES (?, ?, ?)"


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
    _reader: sqlite3.Connection | None = None

    @classmethod
    def open(cls, path: Path) -> "Storage":
        """The database at a path, made if there is none."""
        path.parent.mkdir(parents=True, exist_ok=True)
        storage = cls(path)
        connection = _connect(path)
        connection.executescript(_SCHEMA)
        storage._writer = threading.Thread(
            target=storage._write_all, args=(connection,), name="toolwright-storage", daemon=True
        )
        storage._writer.start()
        return storage

    # Writing.

    def put_session(self, info: SessionInfo) -> None:
        updated = info.time.updated or info.time.created
        self._put(_PUT_SESSION, info.id, info.project_id, info.parent_id, updated, _text(info))

    def put_message(self, info: Info) -> None:
        self._put(_PUT_MESSAGE, info.id, info.session_id, _text(info))

    def put_part(self, part: Part) -> None:
        self._put(_PUT_PART, part.id, part.message_id, part.session_id, _text(part))

    def put_todos(self, session_id: str, todos: Sequence[Json]) -> None:
        self._put(_PUT_TODO, session_id, _text(list(todos)))

    def remove_message(self, message_id: str) -> None:
        self._put("DELETE FROM part WHERE message_id = ?", message_id)
        self._put("DELETE FROM message WHERE id = ?", message_id)

    def remove_part(self, part_id: str) -> None:
        self._put("DELETE FROM part WHERE id = ?", part_id)

    def delete_session(self, session_id: str) -> None:
        for table in ("part", "message", "todo", "owner"):
            self._put(f"DELETE FROM {table} WHERE session_id = ?", session_id)
        self._put("DELETE FROM session WHERE id = ?", session_id)

    def take(self, session_id: str, owner: Owner) -> None:
        """Say that a process works on a session, so that another can tell whether it has died."""
        self._put(_PUT_OWNER, session_id, owner.pid, owner.born)

    def let_go(self, session_id: str) -> None:
        self._put("DELETE FROM owner WHERE session_id = ?", session_id)

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
        if self._reader is not None:
            self._reader.close()

    def _put(self, statement: str, *values: Any) -> None:
        self._queue.put(_Write(statement, values))

    # Reading. A row that cannot be read is passed over: one damaged record never hides the others.

    def session(self, session_id: str) -> SessionInfo:
        found = self._select("SELECT data FROM session WHERE id = ?", session_id)
        infos: list[SessionInfo] = _records(SessionInfo, found)
        if not infos:
            raise UsageError(f"There is no session {session_id!r}. tw session list shows those there are.")
        return infos[0]

    def sessions(self, project_id: str, limit: int = 1000) -> list[SessionInfo]:
        """The sessions of a project, the last used first."""
        query = "SELECT data FROM session WHERE project_id = ? ORDER BY updated DESC, seq DESC LIMIT ?"
        return _records(SessionInfo, self._select(query, project_id, limit))

    def children(self, session_id: str) -> list[SessionInfo]:
        return _records(
            SessionInfo, self._select("SELECT data FROM session WHERE parent_id = ? ORDER BY seq", session_id)
        )

    def messages(self, session_id: str, last: int = 0) -> list[Message]:
        """The messages of a session with their parts, in order; only the last so many if a number is given."""
        limit = f"LIMIT {last}" if last else ""
        query = f"SELECT data FROM message WHERE session_id = ? ORDER BY seq DESC {limit}"
        infos: list[Info] = _records(Info, self._select(query, session_id))[::-1]
        found = {info.id: Message(info) for info in infos}
        if last and len(found) < 200:
            marks = ", ".join("?" * len(found))
            rows = self._select(f"SELECT data FROM part WHERE message_id IN ({marks}) ORDER BY seq", *found)
        else:
            rows = self._select("SELECT data FROM part WHERE session_id = ? ORDER BY seq", session_id)
        parts: list[Part] = _records(AnyPart, rows)
        for part in parts:
            if part.message_id in found:
                found[part.message_id].parts[part.id] = part
        return list(found.values())

    def todos(self, session_id: str) -> list[Json]:
        [text] = [*self._select("SELECT data FROM todo WHERE session_id = ?", session_id), "[]"][:1]
        value = _readable(text)
        return value if isinstance(value, list) else []

    def owners(self) -> list[tuple[str, Owner]]:
        rows = self._connection().execute("SELECT session_id, pid, born FROM owner").fetchall()
        return [(session_id, Owner(pid=pid, born=born)) for session_id, pid, born in rows]

    def _select(self, query: str, *values: Any) -> list[str]:
        return [text for (text,) in self._connection().execute(query, values)]

    def _connection(self) -> sqlite3.Connection:
        if self._reader is None:
            self._reader = _connect(self.path)
        return self._reader

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


def _text(record: Any) -> str:
    return json.dumps(to_json(record), ensure_ascii=False, separators=(",", ":"))


def _readable(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


def _records(kind: Any, rows: Sequence[str]) -> list[Any]:
    found = []
    for text in rows:
        try:
            found.append(from_json(kind, json.loads(text)))
        except (ValueError, TypeError):
            continue
    return found
