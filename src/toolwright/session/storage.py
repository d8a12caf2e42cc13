"""The records of all sessions on disk, as rows of JSON in the order they came."""

import json
import shutil
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from toolwright.errors import UsageError
from toolwright.messages import AnyPart, Info, Message, SessionInfo
from toolwright.parts import Part
from toolwright.record import record
from toolwright.session.database import Database
from toolwright.session.owner import Owner
from toolwright.wire import from_json, json_text, to_json

Json = dict[str, Any]

VERSION = 1
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


@record(frozen=True, slots=True, kw_only=True)
class SessionSize:
    """What a session takes on disk."""

    id: str
    parent_id: str | None
    updated: int
    """When it was last used, in milliseconds since the epoch."""
    bytes: int


@record(slots=True)
class Storage:
    """The records of all sessions. Writing never waits; `settled` does. Reading sees all that was put before."""

    database: Database
    passing: bool = False
    """Whether the file and its folder go when it is closed."""

    @classmethod
    def open(cls, path: Path, *, passing: bool = False) -> "Storage":
        """The database at a path, made if there is none."""
        return cls(Database.open(path, _SCHEMA, VERSION), passing)

    # Writing.

    def put_session(self, info: SessionInfo) -> None:
        updated = info.time.updated or info.time.created
        self.database.write(_PUT_SESSION, info.id, info.project_id, info.parent_id, updated, _text(info))

    def put_message(self, info: Info) -> None:
        self.database.put(info.id, _PUT_MESSAGE, lambda: (info.id, info.session_id, _text(info)))

    def put_part(self, part: Part) -> None:
        self.database.put(part.id, _PUT_PART, lambda: (part.id, part.message_id, part.session_id, _text(part)))

    def put_todos(self, session_id: str, todos: Sequence[Json]) -> None:
        self.database.write(_PUT_TODO, session_id, _text(list(todos)))

    def remove_message(self, message_id: str) -> None:
        self.database.write("DELETE FROM part WHERE message_id = ?", message_id)
        self.database.write("DELETE FROM message WHERE id = ?", message_id)

    def remove_part(self, part_id: str) -> None:
        self.database.write("DELETE FROM part WHERE id = ?", part_id)

    def delete_session(self, session_id: str) -> None:
        for table in ("part", "message", "todo", "owner"):
            self.database.write(f"DELETE FROM {table} WHERE session_id = ?", session_id)
        self.database.write("DELETE FROM session WHERE id = ?", session_id)

    async def settled(self) -> None:
        """Return when everything put so far is committed."""
        await self.database.settled()

    async def close(self) -> None:
        await self.database.close()
        if self.passing:
            shutil.rmtree(self.database.path.parent, ignore_errors=True)

    # Who works on what.

    async def take(self, session_id: str, owner: Owner) -> None:
        """Make a session the owner's to work on. UsageError if another that is alive has it."""

        def claim(connection: sqlite3.Connection) -> Owner | None:
            query = "SELECT pid, born FROM owner WHERE session_id = ?"
            row = connection.execute(query, (session_id,)).fetchone()
            holder = Owner(pid=row[0], born=row[1]) if row else None
            if holder is not None and holder != owner and holder.alive:
                return holder
            connection.execute(_PUT_OWNER, (session_id, owner.pid, owner.born))
            return None

        holder = await self.database.run(claim)
        if holder is not None:
            raise UsageError(f"Process {holder.pid} is working on {session_id}. Wait for it, or fork the session.")

    def let_go(self, session_id: str, owner: Owner) -> None:
        self.database.write(
            "DELETE FROM owner WHERE session_id = ? AND pid = ? AND born = ?", session_id, owner.pid, owner.born
        )

    def owners(self) -> list[tuple[str, Owner]]:
        rows = self.database.rows("SELECT session_id, pid, born FROM owner")
        return [(session_id, Owner(pid=pid, born=born)) for session_id, pid, born in rows]

    # Reading. A row that cannot be read is passed over: one damaged record never hides the others.

    def session(self, session_id: str) -> SessionInfo:
        infos: list[SessionInfo] = _records(
            SessionInfo, self.database.rows("SELECT data FROM session WHERE id = ?", session_id)
        )
        if not infos:
            raise UsageError(f"There is no session {session_id!r}. tw session list shows those there are.")
        return infos[0]

    def knows(self, session_id: str) -> bool:
        return bool(self.database.rows("SELECT 1 FROM session WHERE id = ?", session_id))

    def sessions(self, project_id: str, limit: int = 1000, *, roots: bool = False) -> list[SessionInfo]:
        """The sessions of a project, the last used first; without those of subagents if only roots are wanted."""
        only = "AND parent_id IS NULL" if roots else ""
        query = f"SELECT data FROM session WHERE project_id = ? {only} ORDER BY updated DESC, seq DESC LIMIT ?"
        return _records(SessionInfo, self.database.rows(query, project_id, limit))

    def children(self, session_id: str) -> list[SessionInfo]:
        rows = self.database.rows("SELECT data FROM session WHERE parent_id = ? ORDER BY seq", session_id)
        return _records(SessionInfo, rows)

    def has_message(self, message_id: str) -> bool:
        return bool(self.database.rows("SELECT 1 FROM message WHERE id = ?", message_id))

    def messages(self, session_id: str, last: int = 0) -> list[Message]:
        """The messages of a session with their parts, in order; only the last so many if a number is given."""
        limit = f"LIMIT {int(last)}" if last > 0 else ""
        query = f"SELECT data FROM message WHERE session_id = ? ORDER BY seq DESC {limit}"
        infos: list[Info] = _records(Info, self.database.rows(query, session_id))[::-1]
        found = {info.id: Message(info) for info in infos}
        for part in self._parts(session_id, list(found) if limit else None):
            if part.message_id in found:
                found[part.message_id].parts[part.id] = part
        return list(found.values())

    def todos(self, session_id: str) -> list[Json]:
        rows = self.database.rows("SELECT data FROM todo WHERE session_id = ?", session_id)
        value = _readable(rows[0][0]) if rows else None
        return value if isinstance(value, list) else []

    # Room.

    def size(self) -> int:
        """Bytes the records take on disk, with what is not yet given back after deleting."""
        path = self.database.path
        files = (path, path.with_name(f"{path.name}-wal"))
        return sum(file.stat().st_size for file in files if file.exists())

    def sizes(self) -> list[SessionSize]:
        """What each session takes, of all projects, the longest unused first."""
        query = (
            "SELECT id, parent_id, updated, length(data) + (SELECT coalesce(sum(length(data)), 0) FROM part"
            " WHERE session_id = session.id) + (SELECT coalesce(sum(length(data)), 0) FROM message"
            " WHERE session_id = session.id) FROM session ORDER BY updated, seq"
        )
        return [
            SessionSize(id=name, parent_id=parent, updated=updated, bytes=size)
            for name, parent, updated, size in self.database.rows(query)
        ]

    async def delete_older_than(self, milliseconds: int) -> list[str]:
        """Delete the sessions nobody has used since that moment, with their subagents; the ids that are gone.

        A session that is being worked on stays, and so does one with a subagent that was used later.
        """
        busy = {session_id for session_id, owner in self.owners() if owner.alive}
        rows = self.database.rows("SELECT id, parent_id, updated FROM session")
        parents = {name: parent for name, parent, _ in rows}
        kept: set[str] = set()
        for name, _, updated in rows:
            if updated >= milliseconds or name in busy:
                kept.add(_root(name, parents))
        gone = [name for name in parents if _root(name, parents) not in kept]
        for name in gone:
            self.delete_session(name)
        if gone:
            self.database.shrink()
        await self.settled()
        return gone

    def _parts(self, session_id: str, messages: list[str] | None) -> list[AnyPart]:
        if messages is None:
            return _records(
                AnyPart, self.database.rows("SELECT data FROM part WHERE session_id = ? ORDER BY seq", session_id)
            )
        rows: list[tuple[Any, ...]] = []
        for start in range(0, len(messages), _AT_ONCE):
            some = messages[start : start + _AT_ONCE]
            marks = ", ".join("?" * len(some))
            rows += self.database.rows(f"SELECT data FROM part WHERE message_id IN ({marks}) ORDER BY seq", *some)
        return _records(AnyPart, rows)


_AT_ONCE = 500
"""Values in one query; SQLite has a limit."""


def _root(name: str, parents: dict[str, str | None]) -> str:
    """The session at the top of a tree."""
    while (above := parents.get(name)) is not None and above in parents:
        name = above
    return name


def _text(record: Any) -> str:
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
    except (ValueError, TypeError):
        return None


def _records(kind: Any, rows: Sequence[tuple[Any, ...]]) -> list[Any]:
    found = []
    for text, *_ in rows:
        try:
            found.append(from_json(kind, json.loads(text)))
        except (ValueError, TypeError):
            continue
    return found
