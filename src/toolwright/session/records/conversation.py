"""The records of one session while it is open: kept in memory, written through to the store, told to the bus."""

import asyncio
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import field, replace

from toolwright.calls.parts import Part, ToolPart
from toolwright.events import Bus, Event, PartUpdated
from toolwright.messages import Assistant, Info, Message, SessionInfo, User
from toolwright.record import record
from toolwright.session.events import MessageRemoved, MessageUpdated, PartRemoved, SessionUpdated
from toolwright.session.store import PartStore, Store
from toolwright.text.ids import follow_id, now


@record(slots=True)
class Conversation:
    """A session's info and messages. What the model is no longer sent need not stay in memory."""

    info: SessionInfo
    store: Store
    bus: Bus
    messages: list[Message] = field(default_factory=list[Message])
    """The newest messages, oldest first; `all_messages` has those that were put away too."""
    outbox: "Outbox" = field(init=False)
    _by_id: dict[str, Message] = field(default_factory=dict[str, Message])
    _call_ids: set[str] = field(default_factory=set[str])
    _last_user: User | None = None
    _summary: str = ""
    """The id of the last finished summary."""
    _put_away: bool = False

    def __post_init__(self) -> None:
        self.outbox = Outbox(self.store, self.bus)
        self._hold(self.messages)

    @property
    def id(self) -> str:
        return self.info.id

    def message(self, message_id: str) -> Message | None:
        return self._by_id.get(message_id)

    def knows_call(self, call_id: str) -> bool:
        return call_id in self._call_ids

    async def all_messages(self) -> list[Message]:
        """Every message of the session, from the store if some were put away."""
        return await self.store.messages(self.id) if self._put_away else self.messages

    async def recall(self, message_id: str) -> None:
        """Have a message in memory again that was put away."""
        if self._put_away and message_id not in self._by_id:
            self._hold(await self.all_messages())
            self._put_away = False

    def put_away(self, count: int) -> list[Message]:
        """Let go of the oldest messages; they stay in the store. Returns those that went."""
        removed = self.messages[:count]
        del self.messages[:count]
        for message in removed:
            del self._by_id[message.info.id]
        self._put_away = self._put_away or bool(removed)
        return removed

    async def reload(self, info: SessionInfo) -> None:
        """Another process has worked on the session: take over what it wrote."""
        self.info = info
        self._hold(await self.store.messages(self.id))
        self._put_away = False

    def add(self, info: Info, parts: Sequence[Part] = ()) -> Message:
        message = Message(info)
        self.messages.append(message)
        self._by_id[info.id] = message
        if isinstance(info, User):
            self._last_user = info
            follow_id(info.id)
        self.update(info)
        for part in parts:
            self.put(part)
        return message

    def update(self, info: Info) -> None:
        """A message's info has changed."""
        self.put_message(info)
        self.tell(MessageUpdated(info=info))

    def put_message(self, info: Info) -> None:
        """Keep and store a message's info without telling."""
        self._by_id[info.id].info = info
        if is_summary(info):
            self._summary = info.id
        self.store.put_message(info)

    def put(self, part: Part) -> None:
        """A part is new or has changed: kept, stored and told."""
        self.put_part(part)
        self.tell(PartUpdated(part=part))

    def put_part(self, part: Part) -> None:
        """Keep and store a part without telling; the door tells when it is safe on disk."""
        message = self._by_id.get(part.message_id)
        if message is not None:
            message.parts[part.id] = part
        if isinstance(part, ToolPart):
            self._call_ids.add(part.call_id)
        self.store.put_part(part)

    def remove_part(self, part: Part) -> None:
        message = self._by_id.get(part.message_id)
        if message is not None:
            message.parts.pop(part.id, None)
        if isinstance(part, ToolPart):
            self._call_ids.discard(part.call_id)
        self.store.remove_part(part.id)
        self.tell(PartRemoved(session_id=self.id, message_id=part.message_id, part_id=part.id))

    def remove_from(self, message_id: str) -> None:
        """Drop a message that is in memory, and all that came after it."""
        position = next((index for index, one in enumerate(self.messages) if one.info.id == message_id), None)
        if position is None:
            return
        self._keep_spent(self.messages[position:])
        for message in self.messages[position:]:
            self.store.remove_message(message.info.id)
            self.tell(MessageRemoved(session_id=self.id, message_id=message.info.id))
        self._hold(self.messages[:position])

    def _keep_spent(self, messages: Sequence[Message]) -> None:
        """Keep what the replies took that are removed now: it is spent all the same."""
        earlier = self.info.spent or {}
        cost: dict[str, float] = dict(earlier.get("cost", {}))
        tokens = int(earlier.get("tokens", 0))
        for message in messages:
            if isinstance(info := message.info, Assistant):
                cost[info.agent] = cost.get(info.agent, 0.0) + info.cost
                tokens += info.tokens.total
        if tokens or any(cost.values()):
            self.change(replace(self.info, spent={"cost": cost, "tokens": tokens}))

    def change(self, info: SessionInfo) -> None:
        """The session itself has changed."""
        self.info = replace(info, time=replace(info.time, updated=now()))
        self.store.put_session(self.info)
        self.tell(SessionUpdated(info=self.info))

    def last_user(self) -> User | None:
        return self._last_user

    def summary_position(self) -> int | None:
        """Return where the last finished summary is; near the beginning, since what came before it is put away."""
        if not self._summary:
            return None
        return next((index for index, one in enumerate(self.messages) if one.info.id == self._summary), None)

    def tell(self, event: Event) -> None:
        """Tell the bus, after whatever waits to be told."""
        self.outbox.tell(event)

    async def settled(self) -> None:
        """Return when all records are on disk and everything is told."""
        await self.outbox.settled()

    def _hold(self, messages: list[Message]) -> None:
        self.messages = messages
        self._by_id = {message.info.id: message for message in messages}
        self._call_ids |= {
            part.call_id for one in messages for part in one.parts.values() if isinstance(part, ToolPart)
        }
        self._summary = next((one.info.id for one in reversed(messages) if is_summary(one.info)), "")
        self._last_user = next((one.info for one in reversed(messages) if isinstance(one.info, User)), None)
        # Clients keep messages sorted by id, so those to come must be greater than those they made.
        follow_id(max((one.info.id for one in messages), default=""))


def is_summary(info: Info) -> bool:
    """Tell whether a message is a summary that stands for what came before it."""
    return isinstance(info, Assistant) and bool(info.summary) and info.finish is not None and info.error is None


class _Mark:
    """Stands where the events after it wait for the disk, until it is passed."""

    passed = False


@record(slots=True)
class Outbox:
    """Tells the bus. What must not be told yet holds back what comes after it, but nobody has to wait for it."""

    store: PartStore
    bus: Bus
    _held: "deque[Event | _Mark]" = field(default_factory=deque)
    _open: _Mark | None = None
    """The last mark, while the store has not been asked about it yet: what follows is asked about with it."""
    _releasing: "set[asyncio.Task[None]]" = field(default_factory=set)

    def tell(self, event: Event) -> None:
        if self._held:
            self._held.append(event)
        else:
            self.bus.publish(event)

    def tell_when_safe(self, *events: Event) -> None:
        """Tell as soon as everything that was put into the store before is on disk."""
        if self._open is None:
            self._open = _Mark()
            self._held.append(self._open)
            task = asyncio.get_running_loop().create_task(self._release_after(self._open))
            self._releasing.add(task)
            task.add_done_callback(self._releasing.discard)
        self._held.extend(events)

    async def settled(self) -> None:
        """Return when everything that was put into the store is on disk and all of it is told."""
        end, self._open = _Mark(), None
        end.passed = not self._held
        if self._held:
            self._held.append(end)
        try:
            await self.store.settled()
        finally:
            self._release(end)

    async def _release_after(self, mark: _Mark) -> None:
        if self._open is mark:
            self._open = None
        # Whoever waits next hears of a failure, whatever kind; and who follows a call must see it end all the same.
        with suppress(Exception):
            await self.store.settled()
        self._release(mark)

    def _release(self, mark: _Mark) -> None:
        """Tell what stands before a mark, and behind it up to the next. The store answers in the order it is asked."""
        while self._held and not (mark.passed and isinstance(self._held[0], _Mark)):
            entry = self._held.popleft()
            if isinstance(entry, _Mark):
                entry.passed = True
            else:
                self.bus.publish(entry)
