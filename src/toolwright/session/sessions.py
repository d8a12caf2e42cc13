"""All sessions of a workspace: made, opened, listed, copied, deleted; and kept apart from other processes."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from toolwright.clock import now
from toolwright.errors import UsageError
from toolwright.events import Bus
from toolwright.ids import is_id, new_id
from toolwright.messages import Message, Moment, SessionInfo
from toolwright.permission.rules import Rule
from toolwright.session.conversation import Conversation
from toolwright.session.copies import exported, read_export, write_copy
from toolwright.session.events import SessionCreated, SessionDeleted
from toolwright.session.history import History
from toolwright.session.owner import Owner
from toolwright.session.repair import repair
from toolwright.session.slug import new_slug
from toolwright.session.storage import Storage
from toolwright.session.store import Nowhere
from toolwright.session.turns import Turns
from toolwright.version import VERSION

Json = dict[str, Any]
Begin = Callable[[Conversation, Turns | None], Turns]
"""Makes the working form of a session, wired to the workspace and under its parent, if it has one."""


@dataclass(slots=True, kw_only=True)
class Sessions:
    """The sessions of one project."""

    storage: Storage
    bus: Bus
    project_id: str
    directory: str
    begin: Begin
    on_deleted: list[Callable[[str], None]] = field(default_factory=list[Callable[[str], None]])
    """Told of every session that is gone, for whoever keeps something else about it."""
    _open: dict[str, Turns] = field(default_factory=dict[str, Turns])
    _me: Owner = field(default_factory=Owner.new)

    def create(self, *, title: str = "", parent: Turns | None = None, permission: tuple[Json, ...] = ()) -> Turns:
        session_rules(permission)
        info = SessionInfo(
            id=new_id("ses"),
            slug=new_slug(),
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
        parent = self.open(info.parent_id) if info.parent_id else None
        conversation = Conversation(info, self.storage, self.bus, self.storage.messages(session_id))
        repair(conversation)
        turns = self._begin(conversation, parent)
        for child in self.children(session_id):
            turns.changes.follow(child.id)
        return turns

    def info(self, session_id: str) -> SessionInfo:
        if not is_id(session_id, "ses"):
            raise UsageError(f"{session_id!r} is not the id of a session; they look like ses_… . See tw session list.")
        return self.storage.session(session_id)

    def listed(self, limit: int = 1000, *, roots: bool = False) -> list[SessionInfo]:
        """The last used first; without those of subagents if only roots are wanted."""
        return self.storage.sessions(self.project_id, limit, roots=roots)

    def latest(self) -> SessionInfo:
        """The session of this project that a person last worked in."""
        for info in self.listed(1, roots=True):
            return info
        raise UsageError("There is no session to go on with in this project yet.")

    def messages(self, session_id: str, last: int = 0) -> list[Message]:
        self.info(session_id)
        return self.storage.messages(session_id, last)

    def children(self, session_id: str) -> list[SessionInfo]:
        return self.storage.children(session_id)

    def permit(self, session_id: str, permission: tuple[Json, ...]) -> SessionInfo:
        """Give a session rules of its own, in place of those it has; they hold from its next turn on."""
        turns = self.open(session_id)
        turns.rules[:] = session_rules(permission)
        turns.conversation.change(replace(turns.conversation.info, permission=permission or None))
        return turns.conversation.info

    async def delete(self, session_id: str) -> None:
        """Remove a session and all sessions below it, and everything that was kept about them."""
        info = self.info(session_id)
        self._refuse_if_taken(session_id)
        if session_id in self._open:
            turns = self._open.pop(session_id)
            await turns.abort("the session was deleted")
            # What is still on its way, such as a title, must not bring the session back.
            turns.conversation.store = Nowhere()
        for child in self.children(session_id):
            await self.delete(child.id)
        self.storage.delete_session(session_id)
        await self.storage.settled()
        for listener in self.on_deleted:
            listener(session_id)
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
            slug=new_slug(),
            title=f"{info.title} (fork #{copies + 1})",
            parent_id=None,
            revert=None,
            summary=None,
            time=Moment(created=now(), updated=now()),
        )
        write_copy(self.storage, fresh, messages, keep_ids=False)
        self.bus.publish(SessionCreated(info=fresh))
        return fresh

    def exported(self, session_id: str) -> Json:
        """A session as one JSON value."""
        return exported(self.info(session_id), self.messages(session_id))

    def imported(self, value: Any) -> SessionInfo:
        """A session from such a value, into this project, under its own ids; one of the same id is replaced."""
        info, messages = read_export(value)
        self._refuse_if_taken(info.id)
        if info.id in self._open:
            self._open[info.id].require_rest()
            del self._open[info.id]
        self.storage.delete_session(info.id)
        clash = any(self.storage.has_message(message.info.id) for message in messages)
        # A file from elsewhere brings words, not rights.
        info = replace(
            info, project_id=self.project_id, directory=self.directory, parent_id=None, permission=None, revert=None
        )
        write_copy(self.storage, info, messages, keep_ids=not clash)
        return info

    async def close(self) -> None:
        for turns in list(self._open.values()):
            await turns.abort("the workspace was closed")
        if self.storage.passing:
            await self.storage.close()

    def repair_abandoned(self) -> int:
        """Close what processes that have died left open; the number of sessions that had something."""
        repaired = 0
        for session_id, owner in self.storage.owners():
            if owner.alive:
                continue
            if self.storage.knows(session_id):
                info, messages = self.info(session_id), self.storage.messages(session_id)
                repaired += repair(Conversation(info, self.storage, self.bus, messages))
            self.storage.let_go(session_id, owner)
        return repaired

    def _begin(self, conversation: Conversation, parent: Turns | None) -> Turns:
        turns = self.begin(conversation, parent)
        turns.take = lambda: self._take(turns)
        turns.let_go = lambda: self.storage.let_go(conversation.id, self._me)
        turns.is_taken = self.storage.has_message
        turns.changes.follow(conversation.id)
        self._open[conversation.id] = turns
        return turns

    async def _take(self, turns: Turns) -> None:
        """Keep other processes away, and catch up with what one of them has written since we last looked."""
        conversation = turns.conversation
        await self.storage.take(conversation.id, self._me)
        stored = self.storage.session(conversation.id)
        if (stored.time.updated or 0) > (conversation.info.time.updated or 0):
            conversation.reload(stored)
            repair(conversation)
            turns.history = History()

    def _refuse_if_taken(self, session_id: str) -> None:
        owner = dict(self.storage.owners()).get(session_id)
        if owner is not None and owner != self._me and owner.alive:
            raise UsageError(f"Process {owner.pid} is working on {session_id}. Wait for it, or fork the session.")


def default_title() -> str:
    return f"New session - {time.strftime('%Y-%m-%dT%H:%M:%S')}"


def session_rules(permission: Sequence[Json]) -> list[Rule]:
    """Rules as the API brings them; a wrong one is a UsageError."""
    for rule in permission:
        if not {"permission", "pattern", "action"} <= rule.keys() or rule["action"] not in ("allow", "ask", "deny"):
            raise UsageError(f"{rule} is no rule: it needs permission, pattern and an action of allow, ask or deny.")
    return [Rule(rule["permission"], rule["pattern"], rule["action"], "session") for rule in permission]
