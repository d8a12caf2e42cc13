"""All sessions of a workspace: made, opened, listed, copied, deleted; and kept apart from other processes."""

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Protocol

from toolwright.agents import CLIENT
from toolwright.clock import now
from toolwright.errors import UsageError
from toolwright.events import Bus
from toolwright.ids import is_id, new_id
from toolwright.messages import Message, Moment, SessionInfo
from toolwright.permission.rules import Rule
from toolwright.record import record
from toolwright.session.conversation import Conversation
from toolwright.session.copies import exported, read_export, write_copy
from toolwright.session.events import SessionCreated, SessionDeleted
from toolwright.session.memory import MemoryStore
from toolwright.session.owner import Owner
from toolwright.session.repair import repair
from toolwright.session.session import Home, Session
from toolwright.session.slug import new_slug
from toolwright.session.store import Store
from toolwright.version import VERSION
from toolwright.wire import to_json

Json = dict[str, Any]


class SessionHome(Home, Protocol):
    """The workspace, as all its sessions together need it."""

    sessions_open: dict[str, Session]

    def session(
        self,
        agent: str = "",
        id: str = "",  # noqa: A002 - the word the whole program uses
        *,
        rules: Sequence[Rule] = (),
        parent: Session | None = None,
    ) -> Session: ...
    def forget_changes(self, session_id: str) -> None: ...


@record(slots=True, kw_only=True)
class Sessions:
    """The sessions of one project."""

    home: SessionHome
    store: Store
    bus: Bus
    project_id: str
    directory: str
    owner: Owner

    def create(
        self,
        *,
        title: str = "",
        agent: str = "",
        parent: Session | None = None,
        permission: tuple[Json, ...] = (),
    ) -> Session:
        rules = session_rules(permission)
        session = self.home.session(agent, rules=rules, parent=parent)
        session.hold(self.begin(session, title))
        return session

    def begin(self, session: Session, title: str = "") -> Conversation:
        """The records of a session that is new, from now on in the store."""
        info = SessionInfo(
            id=session.id,
            slug=new_slug(),
            project_id=self.project_id,
            directory=self.directory,
            title=title or default_title(),
            version=VERSION,
            time=Moment(created=now(), updated=now()),
            parent_id=session.parent.id if session.parent else None,
            permission=tuple(to_json(rule) for rule in session.rules) or None,
        )
        self.store.put_session(info)
        self.bus.publish(SessionCreated(info=info))
        return Conversation(info, self.store, self.bus)

    def open(self, session_id: str) -> Session:
        """A session to work on. One that another living process works on is refused."""
        if session_id in self.home.sessions_open:
            return self.home.sessions_open[session_id]
        info = self.info(session_id)
        parent = self.open(info.parent_id) if info.parent_id else None
        session = self.home.session(id=session_id, rules=session_rules(info.permission or ()), parent=parent)
        self.load(session)
        return session

    def load(self, session: Session) -> None:
        """Read an earlier session from the store: its messages, its rules, who worked in it last."""
        info = self.info(session.id)
        self._refuse_if_taken(session.id)
        conversation = Conversation(info, self.store, self.bus, self.store.messages(session.id))
        repair(conversation)
        session.hold(conversation)
        for child in self.children(session.id):
            session.turns.changes.follow(child.id)

    def info(self, session_id: str) -> SessionInfo:
        if not is_id(session_id, "ses"):
            raise UsageError(f"{session_id!r} is not the id of a session; they look like ses_… . See tw session list.")
        return self.store.session(session_id)

    def listed(self, limit: int = 1000, *, roots: bool = False) -> list[SessionInfo]:
        """The last used first; without those of subagents if only roots are wanted."""
        return self.store.sessions(self.project_id, limit, roots=roots)

    def latest(self) -> SessionInfo:
        """The session of this project that a person last worked in."""
        for info in self.listed(1, roots=True):
            return info
        raise UsageError("There is no session to go on with in this project yet.")

    def messages(self, session_id: str, last: int = 0) -> list[Message]:
        self.info(session_id)
        return self.store.messages(session_id, last)

    def children(self, session_id: str) -> list[SessionInfo]:
        return self.store.children(session_id)

    def permit(self, session_id: str, permission: tuple[Json, ...]) -> SessionInfo:
        """Give a session rules of its own, in place of those it has; they hold from the next call on."""
        session = self.open(session_id)
        session.permit(session_rules(permission))
        return session.info

    async def delete(self, session_id: str) -> None:
        """Remove a session and all sessions below it, and everything that was kept about them."""
        info = self.info(session_id)
        self._refuse_if_taken(session_id)
        await self._end(session_id, "the session was deleted")
        for child in self.children(session_id):
            await self.delete(child.id)
        self.store.delete_session(session_id)
        await self.store.settled()
        self.home.forget_changes(session_id)
        self.bus.publish(SessionDeleted(info=info))

    async def _end(self, session_id: str, reason: str) -> None:
        """Stop a session that is open here, and let go of what was kept for it."""
        session = self.home.sessions_open.get(session_id)
        if session is not None:
            await session.abort(reason)
            # What is still on its way, such as a title, must not bring the session back.
            session.conversation.store = MemoryStore()
            await session.close()
        else:
            await self.home.end_session(session_id)

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
        write_copy(self.store, fresh, messages, keep_ids=False)
        self.bus.publish(SessionCreated(info=fresh))
        return fresh

    def exported(self, session_id: str) -> Json:
        """A session as one JSON value."""
        return exported(self.info(session_id), self.messages(session_id))

    async def imported(self, value: Any) -> SessionInfo:
        """A session from such a value, into this project, under its own ids; one of the same id is replaced."""
        info, messages = read_export(value)
        self._refuse_if_taken(info.id)
        if info.id in self.home.sessions_open:
            self.home.sessions_open[info.id].turns.require_rest()
        await self._end(info.id, "another took its place")
        self.store.delete_session(info.id)
        clash = any(self.store.has_message(message.info.id) for message in messages)
        # A file from elsewhere brings words, not rights.
        info = replace(
            info, project_id=self.project_id, directory=self.directory, parent_id=None, permission=None, revert=None
        )
        write_copy(self.store, info, messages, keep_ids=not clash)
        return info

    def repair_abandoned(self) -> int:
        """Close what processes that have died left open; the number of sessions that had something."""
        repaired = 0
        for session_id, owner in self.store.owners():
            if owner.alive:
                continue
            if self.store.knows(session_id):
                info, messages = self.info(session_id), self.store.messages(session_id)
                repaired += repair(Conversation(info, self.store, self.bus, messages))
            self.store.let_go(session_id, owner)
        return repaired

    def _refuse_if_taken(self, session_id: str) -> None:
        owner = dict(self.store.owners()).get(session_id)
        if owner is not None and owner != self.owner and owner.alive:
            raise UsageError(f"Process {owner.pid} is working on {session_id}. Wait for it, or fork the session.")


def default_title() -> str:
    return f"New session - {time.strftime('%Y-%m-%dT%H:%M:%S')}"


def session_rules(permission: Sequence[Json]) -> list[Rule]:
    """Rules as the API brings them; a wrong one is a UsageError."""
    for rule in permission:
        if not {"permission", "pattern", "action"} <= rule.keys() or rule["action"] not in ("allow", "ask", "deny"):
            raise UsageError(f"{rule} is no rule: it needs permission, pattern and an action of allow, ask or deny.")
    return [
        Rule(rule["permission"], rule["pattern"], rule["action"], CLIENT if rule.get("source") == CLIENT else "session")
        for rule in permission
    ]
