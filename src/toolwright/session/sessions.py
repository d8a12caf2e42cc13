"""All sessions of a workspace: made, opened, listed, copied, deleted; and kept apart from other processes."""

import asyncio
import logging
import time
from collections.abc import Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any, Protocol

from toolwright.agents import CLIENT
from toolwright.errors import UsageError
from toolwright.events import Bus
from toolwright.messages import Message, Moment, SessionInfo
from toolwright.permission.rules import Rule
from toolwright.protocols.client_json import to_json
from toolwright.protocols.json_types import Json
from toolwright.record import record
from toolwright.session.events import SessionCreated, SessionDeleted
from toolwright.session.records.conversation import Conversation
from toolwright.session.session import Session, SessionOwner
from toolwright.session.slug import new_slug
from toolwright.session.storage.copies import (
    exported,
    ids_of,
    read_export,
    without_choices,
    without_sessions,
    write_copy,
)
from toolwright.session.storage.in_memory import MemoryStore
from toolwright.session.storage.owner import Owner, taken
from toolwright.session.store import Store
from toolwright.session.subagents.background import missed
from toolwright.session.turns.repair import repair
from toolwright.text.ids import is_id, new_id, now
from toolwright.version import VERSION

if TYPE_CHECKING:
    from toolwright.session.storage.search import Hit

log = logging.getLogger(__name__)

SEARCHED = 100_000
"""Sessions that are looked through for words."""


class SessionHome(SessionOwner, Protocol):
    """The workspace, as all its sessions together need it."""

    sessions_open: dict[str, Session]

    def session(
        self,
        agent: str = "",
        id: str = "",  # noqa: A002 - the word the whole program uses
        *,
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
    _repaired: bool = False
    _repairing: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Lock while what is open is closed: whoever asks meanwhile waits, so that nobody reads it."""

    def create(
        self,
        *,
        title: str = "",
        agent: str = "",
        parent: Session | None = None,
        permission: tuple[Json, ...] = (),
    ) -> Session:
        session = self.home.session(agent, parent=parent)
        session.rules = session_rules(permission)
        session.attach(self.begin(session, title))
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

    def opened(self, session_id: str) -> Session:
        """A session that is open here."""
        if session_id not in self.home.sessions_open:
            raise UsageError(f"The session {session_id} is not open here.")
        return self.home.sessions_open[session_id]

    async def open(self, session_id: str) -> Session:
        """A session to work on. One of another project, or that another process works on, is refused."""
        if session_id in self.home.sessions_open:
            return self.home.sessions_open[session_id]
        line = await self._line(session_id)
        session: Session | None = None
        for info in line:
            session = self.home.sessions_open.get(info.id) or await self._opened_below(session, info)
        return session or self.opened(session_id)

    async def _line(self, session_id: str) -> list[SessionInfo]:
        """A session of this project and those above it, the topmost first."""
        line = [await self.own(session_id)]
        while (above := line[0].parent_id) is not None:
            if above in {info.id for info in line}:
                raise UsageError(f"The session {session_id} is damaged: it stands above itself. Export it to read it.")
            line.insert(0, await self.own(above))
        return line

    async def _opened_below(self, parent: Session | None, info: SessionInfo) -> Session:
        session = self.home.session(id=info.id, parent=parent)
        session.rules = session_rules(info.permission or ())
        await self.home.load_session(session)
        return session

    async def load(self, session: Session) -> None:
        """Read an earlier session from the store: its messages, its rules, who worked in it last."""
        info = await self.own(session.id)
        await self._refuse_if_taken(session.id)
        conversation = Conversation(info, self.store, self.bus, await self.store.messages(session.id))
        repair(conversation)
        session.attach(conversation)
        session.turns.pending.notices += await missed(conversation.messages, self.store)
        for below in await self._tree(info):
            session.turns.changes.follow(below)

    async def info(self, session_id: str) -> SessionInfo:
        """Return what is known of a session, of whichever project."""
        if not is_id(session_id, "ses"):
            raise UsageError(f"{session_id!r} is not the id of a session; they look like ses_… . See tw session list.")
        return await self.store.session(session_id)

    async def listed(self, limit: int = 1000, *, roots: bool = False) -> list[SessionInfo]:
        """The last used first; without those of subagents if only roots are wanted."""
        await self.repair_abandoned()
        return await self.store.sessions(self.project_id, limit, roots=roots)

    async def search(self, text: str, *, everywhere: bool = False) -> "list[Hit]":
        """Return the sessions in which words were said or called, the best first; of all projects if wanted."""
        from toolwright.session.storage.search import SearchableStore, hits_of, passages_in, words_of

        words = words_of(text)
        infos = {one.id: one for one in await self.listed(SEARCHED, roots=True)}
        if isinstance(self.store, SearchableStore):
            passages = await self.store.passages(words, "" if everywhere else self.project_id)
        else:
            passages = [one for name in infos for one in passages_in(await self.store.messages(name), words)]
        for name in {one.session_id for one in passages if everywhere} - infos.keys():
            infos[name] = await self.store.session(name)
        return hits_of(passages, infos, words)

    async def latest(self) -> SessionInfo:
        """The session of this project that a person last worked in."""
        for info in await self.listed(1, roots=True):
            return info
        raise UsageError("There is no session to go on with in this project yet.")

    async def messages(self, session_id: str, last: int = 0) -> list[Message]:
        await self.info(session_id)
        await self.repair_abandoned()
        return await self.store.messages(session_id, last)

    async def children(self, session_id: str) -> list[SessionInfo]:
        return await self.store.children(session_id)

    async def permit(self, session_id: str, permission: tuple[Json, ...]) -> SessionInfo:
        """Give a session rules of its own, in place of those it has; they hold from the next call on."""
        session = await self.open(session_id)
        session.take_rules(session_rules(permission))
        return session.info

    async def delete(self, session_id: str) -> None:
        """Remove a session and all sessions below it, and everything that was kept about them."""
        tree = await self._tree(await self.own(session_id))
        # Nobody else begins to work on them from here on.
        for session in tree:
            await self.store.take(session, self.owner)
        for session in tree:
            await self._end(session, "the session was deleted")
        for session, info in reversed(tree.items()):
            self._remove(session)
            self.bus.publish(SessionDeleted(info=info))
        await self.store.settled()

    async def _tree(self, top: SessionInfo) -> dict[str, SessionInfo]:
        """A session and all those below it, by id."""
        tree, waiting = {top.id: top}, [top.id]
        while waiting:
            below = [child for child in await self.store.children(waiting.pop()) if child.id not in tree]
            tree |= {child.id: child for child in below}
            waiting += [child.id for child in below]
        return tree

    async def collect(self, milliseconds: int) -> list[str]:
        """Remove the sessions of all projects that nobody has used since that moment; the ids that are gone."""
        unused = [one for one in await self.store.unused_since(milliseconds) if one not in self.home.sessions_open]
        for session_id in unused:
            await self.home.end_session(session_id)
            self._remove(session_id)
        if unused:
            self.store.shrink()
        await self.store.settled()
        return unused

    def _remove(self, session_id: str) -> None:
        self.store.delete_session(session_id)
        self.home.forget_changes(session_id)

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

    async def fork(self, session_id: str, before: str = "") -> SessionInfo:
        """A copy under new ids, of all messages or of those before one."""
        info = await self.own(session_id)
        messages = await self.messages(session_id)
        if before:
            position = next((index for index, one in enumerate(messages) if one.info.id == before), None)
            if position is None:
                raise UsageError(f"There is no message {before!r} in {session_id}.")
            messages = messages[:position]
        copies = sum(one.title.startswith(f"{info.title} (fork #") for one in await self.listed())
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
        await self.store.settled()
        self.bus.publish(SessionCreated(info=fresh))
        return fresh

    async def exported(self, session_id: str) -> Json:
        """A session as one JSON value."""
        return exported(await self.info(session_id), await self.messages(session_id))

    async def imported(self, value: Any) -> SessionInfo:
        """A session from such a value, into this project.

        It keeps its ids if none of them is in use here; otherwise all are new, and nothing is overwritten.
        """
        info, messages = read_export(value)
        ids = ids_of(info, messages)
        keep_ids = ids is not None and not await self.store.knows(*ids)
        # A file from elsewhere brings words, not rights, and says nothing about the time here.
        info = replace(
            info,
            id=info.id if keep_ids else new_id("ses"),
            slug=new_slug(),
            project_id=self.project_id,
            directory=self.directory,
            parent_id=None,
            permission=None,
            revert=None,
            time=Moment(created=min(info.time.created, now()), updated=now()),
        )
        write_copy(self.store, info, without_choices(without_sessions(messages)), keep_ids=keep_ids)
        await self.store.settled()
        self.bus.publish(SessionCreated(info=info))
        return info

    async def repair_abandoned(self) -> int:
        """Close what processes that have died left open, once; the number of sessions that had something."""
        async with self._repairing:
            if self._repaired:
                return 0
            repaired = 0
            for lease in await self.store.leases():
                if lease.state == "dead":
                    repaired += await self._repair(lease.session_id)
            self._repaired = True
            return repaired

    async def _repair(self, session_id: str) -> bool:
        """Take the session over, so that nobody works on it meanwhile, and close what is open in it."""
        repaired = False
        try:
            await self.store.take(session_id, self.owner)
            info, messages = await self.store.session(session_id), await self.store.messages(session_id)
            repaired = repair(Conversation(info, self.store, self.bus, messages))
        except UsageError:
            log.info("%s is gone, or another process has it by now", session_id)
        self.store.let_go(session_id, self.owner)
        return repaired

    async def _refuse_if_taken(self, session_id: str) -> None:
        """UsageError if another works on a session. What one that has ended left in it is closed."""
        for lease in await self.store.leases():
            if lease.session_id != session_id or lease.owner == self.owner:
                continue
            if lease.state == "held":
                raise UsageError(taken(lease))
            await self.store.take(session_id, self.owner)
            await self._repair(session_id)

    async def own(self, session_id: str) -> SessionInfo:
        """A session of this project. Those of others are not to be changed from here."""
        info = await self.info(session_id)
        if info.project_id != self.project_id:
            raise UsageError(
                f"The session {session_id} belongs to another project. Go to {info.directory},"
                " or name that folder with --directory."
            )
        return info


def default_title() -> str:
    return f"New session - {time.strftime('%Y-%m-%dT%H:%M:%S')}"


def session_rules(permission: Sequence[Json]) -> tuple[Rule, ...]:
    """Rules as the API brings them; a wrong one is a UsageError."""
    for rule in permission:
        if not {"permission", "pattern", "action"} <= rule.keys() or rule["action"] not in ("allow", "ask", "deny"):
            raise UsageError(f"{rule} is no rule: it needs permission, pattern and an action of allow, ask or deny.")
    return tuple(
        Rule(rule["permission"], rule["pattern"], rule["action"], CLIENT if rule.get("source") == CLIENT else "session")
        for rule in permission
    )
