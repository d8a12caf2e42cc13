"""Sessions in memory: the store of a workspace that keeps nothing on disk."""

from collections.abc import Sequence
from dataclasses import field

from toolwright.calls.parts import Part
from toolwright.errors import UsageError
from toolwright.messages import Info, Message, SessionInfo
from toolwright.protocols.json_types import Json
from toolwright.record import record
from toolwright.session.storage.owner import Lease, Owner
from toolwright.session.store import roots_of


@record(slots=True)
class MemoryStore:
    """Implements Store for one process; any number of its workspaces may share it."""

    _sessions: dict[str, SessionInfo] = field(default_factory=dict[str, SessionInfo])
    _messages: dict[str, dict[str, Message]] = field(default_factory=dict[str, dict[str, Message]])
    """The messages of each session, by id."""
    _session_of: dict[str, str] = field(default_factory=dict[str, str])
    _message_of: dict[str, str] = field(default_factory=dict[str, str])
    """Message that each part belongs to."""
    _todos: dict[str, list[Json]] = field(default_factory=dict[str, list[Json]])
    _owners: dict[str, Owner] = field(default_factory=dict[str, Owner])

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
        for kept in (self._sessions, self._messages, self._todos, self._owners):
            kept.pop(session_id, None)

    async def session(self, session_id: str) -> SessionInfo:
        if session_id not in self._sessions:
            raise UsageError(
                f"There is no session {session_id!r} in this workspace, which keeps them in memory alone."
                " Open it with keep=True to go on with one of another run."
            )
        return self._sessions[session_id]

    async def knows(self, *ids: str) -> bool:
        return any(one in self._sessions or one in self._session_of or one in self._message_of for one in ids)

    async def sessions(self, project_id: str, limit: int = 1000, *, roots: bool = False) -> list[SessionInfo]:
        of_project = [one for one in self._sessions.values() if one.project_id == project_id]
        newest_first = [one for one in of_project[::-1] if not roots or one.parent_id is None]
        newest_first.sort(key=_last_used, reverse=True)
        return newest_first[:limit]

    async def children(self, session_id: str) -> list[SessionInfo]:
        return [one for one in self._sessions.values() if one.parent_id == session_id]

    async def messages(self, session_id: str, last: int = 0) -> list[Message]:
        messages = [Message(one.info, dict(one.parts)) for one in self._messages.get(session_id, {}).values()]
        return messages[-last:] if last > 0 else messages

    async def todos(self, session_id: str) -> list[Json]:
        return list(self._todos.get(session_id, ()))

    async def unused_since(self, milliseconds: int) -> list[str]:
        roots = roots_of({name: info.parent_id for name, info in self._sessions.items()})
        used = (name for name, info in self._sessions.items() if _last_used(info) >= milliseconds)
        kept = {roots.get(name, name) for name in (*used, *self._owners)}
        return [name for name in self._sessions if roots[name] not in kept]

    async def take(self, session_id: str, owner: Owner) -> None:
        if self._owners.setdefault(session_id, owner) != owner:
            raise UsageError(f"Another workspace is working on {session_id}. Wait for it, or fork the session.")

    def let_go(self, session_id: str, owner: Owner) -> None:
        if self._owners.get(session_id) == owner:
            del self._owners[session_id]

    async def leases(self) -> list[Lease]:
        return [Lease(session_id=name, owner=owner, state="held") for name, owner in self._owners.items()]

    async def size(self) -> int:
        return 0

    def shrink(self) -> None:
        """Do nothing: what was deleted takes no room."""

    async def settled(self) -> None:
        """It is as safe as it can be."""

    async def close(self) -> None:
        """It goes with the process."""


def _last_used(info: SessionInfo) -> int:
    return info.time.updated or info.time.created
