"""The records of all sessions on disk, as rows of JSON in the order they came."""

import asyncio
import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import field
from functools import partial
from pathlib import Path
from typing import Any, Literal

from toolwright.calls.parts import Part
from toolwright.errors import UsageError
from toolwright.messages import AnyPart, Info, Message, SessionInfo
from toolwright.protocols.client_json import from_json, json_text, to_json
from toolwright.protocols.json_types import Json
from toolwright.record import record
from toolwright.session.storage.chain import SCHEMA as CHAIN
from toolwright.session.storage.chain import ChainLink, Log, StoredRecord, keep_chain
from toolwright.session.storage.database import Database
from toolwright.session.storage.owner import Lease, Owner, OwnerLocks, host, taken
from toolwright.session.storage.search import Passage, look_up, take_in
from toolwright.session.store import roots_of
from toolwright.text.ids import now

VERSION = 2
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
CREATE TABLE IF NOT EXISTS lease (
    session_id TEXT PRIMARY KEY, host TEXT NOT NULL, pid INTEGER NOT NULL, workspace TEXT NOT NULL,
    locked INTEGER NOT NULL, beats INTEGER NOT NULL, beat INTEGER NOT NULL
);
DROP TABLE IF EXISTS owner;
"""
_SCHEMA += CHAIN
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
_PUT_LEASE = (
    "INSERT OR REPLACE INTO lease (session_id, host, pid, workspace, locked, beats, beat) VALUES (?, ?, ?, ?, ?, 0, ?)"
)
_LEASE = "SELECT session_id, host, pid, workspace, locked, beats, beat FROM lease"
MISSED = 3
"""Beats without which a lease of another host is doubted, and then watched for as long before it is taken over."""


@record(slots=True)
class Storage:
    """Implements Store with one SQLite file, which any number of processes on any number of hosts may share."""

    database: Database
    locks: OwnerLocks
    _workspaces: set[str] = field(default_factory=set[str])
    """Those that have taken sessions through here."""

    @classmethod
    def open(cls, path: Path, *, beat_seconds: float = 3.0) -> "Storage":
        """The database at a path, made if there is none; what is wrong with it is told to the first who waits."""
        database = Database.open(path, _SCHEMA, VERSION, beat_seconds=beat_seconds, begin=keep_chain)
        return cls(database, OwnerLocks(path.parent / "owners"))

    # Writing.

    def put_session(self, info: SessionInfo) -> None:
        updated = info.time.updated or info.time.created
        self.database.write(_PUT_SESSION, info.id, info.project_id, info.parent_id, updated, _as_stored_text(info))

    def put_message(self, info: Info) -> None:
        self.database.put(info.id, _PUT_MESSAGE, lambda: (info.id, info.session_id, _as_stored_text(info)))

    def put_part(self, part: Part) -> None:
        self.database.put(
            part.id, _PUT_PART, lambda: (part.id, part.message_id, part.session_id, _as_stored_text(part))
        )

    def put_todos(self, session_id: str, todos: Sequence[Json]) -> None:
        self.database.write(_PUT_TODO, session_id, _as_stored_text(list(todos)))

    def remove_message(self, message_id: str) -> None:
        self.database.write("DELETE FROM part WHERE message_id = ?", message_id)
        self.database.write("DELETE FROM message WHERE id = ?", message_id)

    def remove_part(self, part_id: str) -> None:
        self.database.write("DELETE FROM part WHERE id = ?", part_id)

    def delete_session(self, session_id: str) -> None:
        for table in ("part", "message", "todo", "lease"):
            self.database.write(f"DELETE FROM {table} WHERE session_id = ?", session_id)
        self.database.write("DELETE FROM session WHERE id = ?", session_id)
        for table in ("chain", "chain_key"):
            self.database.write(f"DELETE FROM {table} WHERE session_id = ?", session_id)

    async def settled(self) -> None:
        """Return when everything put so far is committed."""
        await self.database.settled()

    async def close(self) -> None:
        try:
            await self.database.close()
        finally:
            self.locks.release()

    # Who works on what.

    async def take(self, session_id: str, owner: Owner) -> None:
        """Make a session the owner's to work on. UsageError if another has it that is not known to be dead.

        A host that was silent for long may only have a wrong clock, so it is watched for a while first.
        """
        watched: int | None = None
        while True:
            taken_by = await self.database.run(partial(self._claim, session_id, owner, watched))
            if taken_by is None:
                return
            lease, beats = taken_by
            if lease.state == "held" or watched is not None:
                raise UsageError(taken(lease))
            watched = beats
            await asyncio.sleep(self.database.writer.beat_seconds * MISSED)

    def let_go(self, session_id: str, owner: Owner) -> None:
        self.database.write("DELETE FROM lease WHERE session_id = ? AND workspace = ?", session_id, owner.workspace)

    async def leases(self) -> list[Lease]:
        rows = await self._rows(_LEASE)
        return [self._lease(row) for row in rows]

    def _claim(
        self, session_id: str, owner: Owner, watched: int | None, connection: sqlite3.Connection
    ) -> tuple[Lease, int] | None:
        """Take the lease, or return who has it and how often that was confirmed."""
        row = connection.execute(f"{_LEASE} WHERE session_id = ?", (session_id,)).fetchone()
        lease = self._lease(row) if row else None
        if lease is not None and lease.owner != owner:
            beats: int = row[5]
            if lease.state == "held" or (lease.state == "silent" and beats != watched):
                return lease, beats
            self.locks.sweep(lease.owner)
        locked = self.locks.hold(owner)
        connection.execute(_PUT_LEASE, (session_id, owner.host, owner.pid, owner.workspace, locked, now()))
        self._workspaces.add(owner.workspace)
        self.database.writer.beat = self._beat
        return None

    def _beat(self, connection: sqlite3.Connection) -> None:
        """Confirm our leases; with none left there is nothing to confirm until the next is taken."""
        marks = ", ".join("?" * len(self._workspaces))
        beat = f"UPDATE lease SET beats = beats + 1, beat = ? WHERE workspace IN ({marks})"
        if not connection.execute(beat, (now(), *self._workspaces)).rowcount:
            self.database.writer.beat = None

    def _lease(self, row: tuple[Any, ...]) -> Lease:
        """A lease and its state: by the lock where that reaches, by the beats where it does not."""
        session_id, its_host, pid, workspace, locked, _, beat = row
        owner = Owner(host=its_host, pid=pid, workspace=str(workspace))
        fresh = isinstance(beat, int) and 0 <= now() - beat < self.database.writer.beat_seconds * MISSED * 1000
        if self.locks.is_held(owner):
            state: Literal["held", "silent", "dead"] = "held"
        elif locked and its_host == host():
            state = "dead"
        else:
            state = "held" if fresh else "silent"
        return Lease(session_id=session_id, owner=owner, state=state)

    # Reading. A row that cannot be read is passed over: one damaged record never hides the others.

    async def session(self, session_id: str) -> SessionInfo:
        infos = await self._infos("SELECT data FROM session WHERE id = ?", session_id)
        if not infos:
            raise UsageError(f"There is no session {session_id!r}. tw session list shows those there are.")
        return infos[0]

    async def knows(self, *ids: str) -> bool:
        def find(connection: sqlite3.Connection) -> bool:
            for table in ("session", "message", "part"):
                for some in _chunks(ids):
                    query = f"SELECT 1 FROM {table} WHERE id IN ({_marks(some)}) LIMIT 1"
                    if connection.execute(query, some).fetchone():
                        return True
            return False

        return await self.database.read(find)

    async def sessions(self, project_id: str, limit: int = 1000, *, roots: bool = False) -> list[SessionInfo]:
        only = "AND parent_id IS NULL" if roots else ""
        query = f"SELECT data FROM session WHERE project_id = ? {only} ORDER BY updated DESC, seq DESC LIMIT ?"
        return await self._infos(query, project_id, limit)

    async def children(self, session_id: str) -> list[SessionInfo]:
        return await self._infos("SELECT data FROM session WHERE parent_id = ? ORDER BY seq", session_id)

    async def messages(self, session_id: str, last: int = 0) -> list[Message]:
        return await self.database.read(partial(_messages, session_id, last))

    async def log(self, session_id: str) -> Log:
        """Return a session's records as they are stored, with their chain."""
        return await self.database.read(partial(_log, session_id))

    async def passages(self, words: Sequence[str], project_id: str) -> list[Passage]:
        """Return what holds all words, after taking in what was written since the last search."""
        while await self.database.run(take_in):
            pass
        return await self.database.read(partial(look_up, words, project_id))

    async def todos(self, session_id: str) -> list[Json]:
        rows = await self._rows("SELECT data FROM todo WHERE session_id = ?", session_id)
        value = _readable(rows[0][0]) if rows else None
        return value if isinstance(value, list) else []

    async def _rows(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        return await self.database.read(lambda connection: connection.execute(query, values).fetchall())

    async def _infos(self, query: str, *values: Any) -> list[SessionInfo]:
        return await self.database.read(
            lambda connection: list(_records(SessionInfo, connection.execute(query, values)))
        )

    # Room.

    async def size(self) -> int:
        """Bytes the records take on disk, with what is not yet given back after deleting."""
        path = self.database.path
        files = (path, path.with_name(f"{path.name}-wal"))
        return await self.database.read(lambda _: sum(file.stat().st_size for file in files if file.exists()))

    async def unused_since(self, milliseconds: int) -> list[str]:
        rows = await self._rows("SELECT id, parent_id, updated FROM session")
        roots = roots_of({name: parent for name, parent, _ in rows})
        busy = [lease.session_id for lease in await self.leases() if lease.state != "dead"]
        # A moment that cannot be read is no reason to delete anything.
        used = [name for name, _, updated in rows if not isinstance(updated, int) or updated >= milliseconds]
        kept = {roots.get(name, name) for name in (*used, *busy)}
        # Calls without a conversation; their ids begin with the time they were made.
        query = "SELECT session_id FROM part GROUP BY session_id HAVING max(id) < ? AND session_id NOT IN"
        lone = await self._rows(f"{query} (SELECT id FROM session)", f"prt_{milliseconds:012x}")
        return [name for name, _, _ in rows if roots[name] not in kept] + [name for (name,) in lone]

    def shrink(self) -> None:
        self.database.shrink()


def _messages(session_id: str, last: int, connection: sqlite3.Connection) -> list[Message]:
    limit = f"LIMIT {int(last)}" if last > 0 else ""
    query = f"SELECT data FROM message WHERE session_id = ? ORDER BY seq DESC {limit}"
    infos: list[Info] = list(_records(Info, connection.execute(query, (session_id,))))[::-1]
    by_id = {info.id: Message(info) for info in infos}
    for part in _parts(session_id, list(by_id) if limit else None, connection):
        if part.message_id in by_id:
            by_id[part.message_id].parts[part.id] = part
    return list(by_id.values())


def _parts(session_id: str, messages: list[str] | None, connection: sqlite3.Connection) -> Iterator[AnyPart]:
    if messages is None:
        query = "SELECT data FROM part WHERE session_id = ? ORDER BY seq"
        yield from _records(AnyPart, connection.execute(query, (session_id,)))
        return
    for some in _chunks(messages):
        query = f"SELECT data FROM part WHERE message_id IN ({_marks(some)}) ORDER BY seq"
        yield from _records(AnyPart, connection.execute(query, some))


def _log(session_id: str, connection: sqlite3.Connection) -> Log:
    links = connection.execute(
        "SELECT record_id, digest, hash FROM chain WHERE session_id = ? ORDER BY seq", (session_id,)
    )
    key = connection.execute("SELECT key FROM chain_key WHERE session_id = ?", (session_id,)).fetchone()
    rows = [
        ("session", *row)
        for row in connection.execute("SELECT id, CAST(data AS BLOB) FROM session WHERE id = ?", (session_id,))
    ]
    for table in ("message", "part"):
        query = f"SELECT id, CAST(data AS BLOB) FROM {table} WHERE session_id = ? ORDER BY seq"
        rows += [(table, *row) for row in connection.execute(query, (session_id,))]
    return Log(
        key=key[0] if key else "",
        links=tuple(ChainLink(*row) for row in links),
        records=tuple(StoredRecord(kind, name, data) for kind, name, data in rows),
    )


_AT_ONCE = 500
"""Values in one query; SQLite has a limit."""


def _chunks(values: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(values), _AT_ONCE):
        yield values[start : start + _AT_ONCE]


def _marks(values: Sequence[str]) -> str:
    return ", ".join("?" * len(values))


def _as_stored_text(record: Any) -> str:
    text = json_text(record)
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            # Half a character, as models send now and then, can be kept only as an escape.
            return json.dumps(to_json(record), separators=(",", ":"))
    return text


def _readable(text: Any) -> Any:
    try:
        return json.loads(text)
    except (ValueError, TypeError, RecursionError):
        return None


def _records(kind: Any, rows: Iterable[tuple[Any, ...]]) -> Iterator[Any]:
    for text, *_ in rows:
        with suppress(ValueError, TypeError, RecursionError):
            yield from_json(kind, json.loads(text))
