"""The records of one session while it is open: kept in memory, written through to the store, told to the bus."""

from collections.abc import Sequence
from dataclasses import field, replace

from toolwright.events import Bus, PartUpdated
from toolwright.ids import follow_id, now
from toolwright.messages import Assistant, Info, Message, SessionInfo, User
from toolwright.parts import Part, ToolPart
from toolwright.record import record
from toolwright.session.events import MessageRemoved, MessageUpdated, PartRemoved, SessionUpdated
from toolwright.session.store import Store


@record(slots=True)
class Conversation:
    """A session's info and messages. What the model is no longer sent need not stay in memory."""

    info: SessionInfo
    store: Store
    bus: Bus
    messages: list[Message] = field(default_factory=list[Message])
    """The newest messages, oldest first; `all_messages` has those that were put away too."""
    _by_id: dict[str, Message] = field(default_factory=dict[str, Message])
    _call_ids: set[str] = field(default_factory=set[str])
    _last_user: User | None = None
    _summary: str = ""
    """The id of the last finished summary."""
    _put_away: bool = False

    def __post_init__(self) -> None:
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
        gone = self.messages[:count]
        del self.messages[:count]
        for message in gone:
            del self._by_id[message.info.id]
        self._put_away = self._put_away or bool(gone)
        return gone

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
        self.bus.publish(MessageUpdated(info=info))

    def put_message(self, info: Info) -> None:
        """Keep and store a message's info without telling."""
        self._by_id[info.id].info = info
        if is_summary(info):
            self._summary = info.id
        self.store.put_message(info)

    def put(self, part: Part) -> None:
        """A part is new or has changed: kept, stored and told."""
        self.put_part(part)
        self.bus.publish(PartUpdated(part=part))

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
        self.bus.publish(PartRemoved(session_id=self.id, message_id=part.message_id, part_id=part.id))

    def remove_from(self, message_id: str) -> None:
        """Drop a message that is in memory, and all that came after it."""
        position = next((index for index, one in enumerate(self.messages) if one.info.id == message_id), None)
        if position is None:
            return
        for message in self.messages[position:]:
            self.store.remove_message(message.info.id)
            self.bus.publish(MessageRemoved(session_id=self.id, message_id=message.info.id))
        self._hold(self.messages[:position])

    def change(self, info: SessionInfo) -> None:
        """The session itself has changed."""
        self.info = replace(info, time=replace(info.time, updated=now()))
        self.store.put_session(self.info)
        self.bus.publish(SessionUpdated(info=self.info))

    def last_user(self) -> User | None:
        return self._last_user

    def summary_position(self) -> int | None:
        """Where the last finished summary stands; near the beginning, since what came before it is put away."""
        if not self._summary:
            return None
        return next((index for index, one in enumerate(self.messages) if one.info.id == self._summary), None)

    async def settled(self) -> None:
        await self.store.settled()

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
    """Whether a message is a summary that stands for what came before it."""
    return isinstance(info, Assistant) and bool(info.summary) and info.finish is not None and info.error is None
