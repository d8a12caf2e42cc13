"""All sessions of a workspace: made, opened, listed, copied, deleted; and kept apart from other processes."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from toolwright.clock import now
from toolwright.errors import UsageError
from toolwright.events import Bus
from toolwright.ids import is_id, new_id
from toolwright.messages import AnyPart, Assistant, Info, Message, Moment, SessionInfo, User
from toolwright.session.conversation import Conversation
from toolwright.session.events import SessionCreated, SessionDeleted
from toolwright.session.owner import Owner
from toolwright.session.storage import Storage
from toolwright.session.turns import Turns, close_open_calls
from toolwright.version import VERSION
from toolwright.wire import from_json, to_json

Json = dict[str, Any]
Begin = Callable[[Conversation, Turns | None], Turns]
"""Makes the working form of a session, wired to the workspace and under its parent, if it has one."""

INTERRUPTED = "the program ended in the middle of it"


@dataclass(slots=True, kw_only=True)
class Sessions:
    """The sessions of one project."""

    storage: Storage
    bus: Bus
    project_id: str
    directory: str
    begin: Begin
    _open: dict[str, Turns] = field(default_factory=dict[str, Turns])
    _me: Owner = field(default_factory=Owner.this_process)

    def create(self, *, title: str = "", parent: Turns | None = None, permission: tuple[Json, ...] = ()) -> Turns:
        info = SessionInfo(
            id=new_id("ses"),
            project_id=self.project_id,
            directory=self.directory,
            title=title or default_title(),
            version=VERSION,
            time=Moment(created=now(), updated=now()),
            parent_id=parent.session.id if parent else None,
            permission=permission or None,
        )
        self.storage.put_session(info)
        self.bus.publish(SessionCreated(info=info))
        return self._begin(Conversation(info, self.storage, self.bus), parent)

    def open(self, session_id: str) -> Turns:
        """A session to work on. One that another living process works on is refused."""
        if session_id in self._open:
            return self._open[session_id]
        info = self.info(session_id)
        self._refuse_if_taken(session_id)
        conversation = Conversation(info, self.storage, self.bus, self.storage.messages(session_id))
        repair(conversation)
        parent = self.open(info.parent_id) if info.parent_id else None
        return self._begin(conversation, parent)

    def info(self, session_id: str) -> SessionInfo:
        if not is_id(session_id, "ses"):
            raise UsageError(f"{session_id!r} is not the id of a session; they look like ses_… . See tw session list.")
        return self.storage.session(session_id)

    def listed(self, limit: int = 1000) -> list[SessionInfo]:
        """The last used first."""
        return self.storage.sessions(self.project_id, limit)

    def latest(self) -> SessionInfo:
        """The session of this project that a person last worked in."""
        for info in self.listed(100):
            if info.parent_id is None:
                return info
        raise UsageError("There is no session to go on with in this project yet.")

    def messages(self, session_id: str, last: int = 0) -> list[Message]:
        self.info(session_id)
        return self.storage.messages(session_id, last)

    def children(self, session_id: str) -> list[SessionInfo]:
        return self.storage.children(session_id)

    async def delete(self, session_id: str) -> None:
        """Remove a session and all sessions below it."""
        info = self.info(session_id)
        for child in self.children(session_id):
            await self.delete(child.id)
        if session_id in self._open:
            await self._open.pop(session_id).abort("the session was deleted")
        self.storage.delete_session(session_id)
        await self.storage.settled()
        self.bus.publish(SessionDeleted(info=info))

    def fork(self, session_id: str, before: str = "") -> SessionInfo:
        """A copy under new ids, of all messages or of those before one."""
        info = self.info(session_id)
        messages = self.messages(session_id)
        if before:
            position = next((index for index, one in enumerate(messages) if one.info.id == before), None)
            if position is None:
                raise UsageError(f"There is no message {before!r} in {session_id}.")
            messages = messages[:position]
        copies = sum(one.title.startswith(f"{info.title} (fork #") for one in self.listed())
        fresh = replace(
            info,
            id=new_id("ses"),
            title=f"{info.title} (fork #{copies + 1})",
            parent_id=None,
            revert=None,
            time=Moment(created=now(), updated=now()),
        )
        self._write(fresh, messages)
        self.bus.publish(SessionCreated(info=fresh))
        return fresh

    def exported(self, session_id: str) -> Json:
        """A session as one JSON value."""
        messages = [
            {"info": to_json(message.info), "parts": to_json(list(message.parts.values()))}
            for message in self.messages(session_id)
        ]
        return {"info": to_json(self.info(session_id)), "messages": messages}

    def imported(self, value: Any) -> SessionInfo:
        """A session from such a value, into this project, under its own ids."""
        try:
            info: SessionInfo = from_json(SessionInfo, value["info"])
            messages = [_message(entry) for entry in value["messages"]]
        except (KeyError, TypeError, ValueError) as error:
            raise UsageError(f"This is not an exported session: {error}. It needs `info` and `messages`.") from error
        if not is_id(info.id, "ses"):
            raise UsageError(f"{info.id!r} is not the id of a session.")
        info = replace(info, project_id=self.project_id, directory=self.directory, parent_id=None)
        self.storage.delete_session(info.id)
        self._write(info, messages, keep_ids=True)
        return info

    async def close(self) -> None:
        for turns in list(self._open.values()):
            await turns.abort("the workspace was closed")

    def repair_abandoned(self) -> int:
        """Close what processes that have died left open; the number of sessions that had something."""
        repaired = 0
        for session_id, owner in self.storage.owners():
            if not owner.alive:
                conversation = Conversation(
                    self.info(session_id), self.storage, self.bus, self.storage.messages(session_id)
                )
                repaired += repair(conversation)
                self.storage.let_go(session_id)
        return repaired

    def _begin(self, conversation: Conversation, parent: Turns | None) -> Turns:
        turns = self.begin(conversation, parent)
        turns.take = lambda: self.storage.take(conversation.id, self._me)
        turns.let_go = lambda: self.storage.let_go(conversation.id)
        self._open[conversation.id] = turns
        return turns

    def _refuse_if_taken(self, session_id: str) -> None:
        owner = dict(self.storage.owners()).get(session_id)
        if owner is not None and owner != self._me and owner.alive:
            raise UsageError(f"Process {owner.pid} is working on {session_id}. Wait for it, or fork the session.")

    def _write(self, info: SessionInfo, messages: list[Message], *, keep_ids: bool = False) -> None:
        """Store a copy of messages under a session, with ids of their own unless they are to keep them."""
        names: dict[str, str] = {} if keep_ids else {message.info.id: new_id("msg") for message in messages}
        self.storage.put_session(info)
        for message in messages:
            copied = _renamed(message.info, info.id, names)
            self.storage.put_message(copied)
            for part in message.parts.values():
                part_id = part.id if keep_ids else new_id("prt")
                self.storage.put_part(replace(part, id=part_id, session_id=info.id, message_id=copied.id))


def default_title() -> str:
    import time

    return f"New session - {time.strftime('%Y-%m-%dT%H:%M:%S')}"


def repair(conversation: Conversation) -> bool:
    """Close every call and reply that was under way when its process ended."""
    found = False
    for message in conversation.messages:
        info = message.info
        if any(part.state.status in ("pending", "running") for part in message.calls):
            close_open_calls(conversation, message, INTERRUPTED)
            found = True
        if isinstance(info, Assistant) and info.time.completed is None:
            conversation.update(replace(info, time=replace(info.time, completed=now())))
            found = True
    return found


def _renamed(info: Info, session_id: str, names: Mapping[str, str]) -> Info:
    name = names.get(info.id, info.id)
    if isinstance(info, User):
        return replace(info, id=name, session_id=session_id)
    return replace(info, id=name, session_id=session_id, parent_id=names.get(info.parent_id, info.parent_id))


def _message(value: Any) -> Message:
    info: Info = from_json(Info, value["info"])
    parts: list[AnyPart] = [from_json(AnyPart, part) for part in value["parts"]]
    return Message(info, {part.id: part for part in parts})
