"""Sessions in memory: the store of a workspace that keeps nothing."""

from collections.abc import Sequence
from dataclasses import field
from typing import Any

from toolwright.errors import UsageError
from toolwright.messages import Info, Message, SessionInfo
from toolwright.parts import Part
from toolwright.record import record
from toolwright.session.owner import Owner

Json = dict[str, Any]


@record(slots=True)
class MemoryStore:
    """Implements Store for one process."""

    _sessions: dict[str, SessionInfo] = field(default_factory=dict[str, SessionInfo])
    _messages: dict[str, dict[str, Message]] = field(default_factory=dict[str, dict[str, Message]])
    """The messages of each session, by id."""
    _session_of: dict[str, str] = field(default_factory=dict[str, str])
    _message_of: dict[str, str] = field(default_factory=dict[str, str])
    """Which message a part belongs to."""
    _todos: dict[str, list[Json]] = field(default_factory=dict[str, list[Json]])

    def put_session(self, info: SessionInfo) -> None:
        self._sessions[info.id] = info
        self._messages.setdefault(info.id, {})

    def put_message(self, info: Info) -> None:
        messages = self._messages.setdefault(info.session_id, {})
        known = messages.get(info.id)
        messages[info.id] = Message(info, known.parts if known else {})
        self._session_of[info.id] = info.session_id

    def put_part(self, part: Part) -> None:
        message = self._messages.get(part.session_id, {}).get(part.message_id)
        if message is not None:
            message.parts[part.id] = part
            self._message_of[part.id] = part.message_id

    def put_todos(self, session_id: str, todos: Sequence[Json]) -> None:
        self._todos[session_id] = list(todos)

    def remove_message(self, message_id: str) -> None:
        session_id = self._session_of.pop(message_id, "")
        message = self._messages.get(session_id, {}).pop(message_id, None)
        for part_id in message.parts if message else ():
            self._message_of.pop(part_id, None)

    def remove_part(self, part_id: str) -> None:
        message_id = self._message_of.pop(part_id, "")
        message = self._messages.get(self._session_of.get(message_id, ""), {}).get(message_id)
        if message is not None:
            message.parts.pop(part_id, None)

    def delete_session(self, session_id: str) -> None:
        for message_id in list(self._messages.get(session_id, ())):
            self.remove_message(message_id)
        for kept in (self._sessions, self._messages, self._todos):
            kept.pop(session_id, None)

    def session(self, session_id: str) -> SessionInfo:
        if session_id not in self._sessions:
            raise UsageError(f"There is no session {session_id!r}. tw session list shows those there are.")
        return self._sessions[session_id]

    def knows(self, session_id: str) -> bool:
        return session_id in self._sessions

    def sessions(self, project_id: str, limit: int = 1000, *, roots: bool = False) -> list[SessionInfo]:
        found = [one for one in self._sessions.values() if one.project_id == project_id]
        found = [one for one in found if not roots or one.parent_id is None]
        newest_first = found[::-1]
        newest_first.sort(key=lambda one: one.time.updated or one.time.created, reverse=True)
        return newest_first[:limit]

    def children(self, session_id: str) -> list[SessionInfo]:
        return [one for one in self._sessions.values() if one.parent_id == session_id]

    def has_message(self, message_id: str) -> bool:
        return message_id in self._session_of

    def messages(self, session_id: str, last: int = 0) -> list[Message]:
        found = [Message(one.info, dict(one.parts)) for one in self._messages.get(session_id, {}).values()]
        return found[-last:] if last > 0 else found

    def todos(self, session_id: str) -> list[Json]:
        return list(self._todos.get(session_id, ()))

    async def take(self, session_id: str, owner: Owner) -> None:
        """Nobody else can reach it."""

    def let_go(self, session_id: str, owner: Owner) -> None:
        """Nobody else can reach it."""

    def owners(self) -> list[tuple[str, Owner]]:
        return []

    def size(self) -> int:
        return 0

    async def delete_older_than(self, milliseconds: int) -> list[str]:
        """They all go with the process."""
        return []

    async def settled(self) -> None:
        """It is as safe as it can be."""

    async def close(self) -> None:
        """It goes with the process."""
