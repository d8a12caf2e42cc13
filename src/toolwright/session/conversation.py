"""The records of one session while it is open: kept in memory, written through to the store, told to the bus."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from toolwright.clock import now
from toolwright.events import Bus, PartUpdated
from toolwright.messages import Info, Message, SessionInfo, User
from toolwright.parts import Part
from toolwright.session.events import MessageRemoved, MessageUpdated, PartRemoved, SessionUpdated
from toolwright.session.store import Store


@dataclass(slots=True)
class Conversation:
    """A session's info and messages. Nothing is read back from disk while it is open."""

    info: SessionInfo
    store: Store
    bus: Bus
    messages: list[Message] = field(default_factory=list[Message])
    _by_id: dict[str, Message] = field(default_factory=dict[str, Message])

    def __post_init__(self) -> None:
        self._by_id = {message.info.id: message for message in self.messages}

    @property
    def id(self) -> str:
        return self.info.id

    def message(self, message_id: str) -> Message | None:
        return self._by_id.get(message_id)

    def add(self, info: Info, parts: Sequence[Part] = ()) -> Message:
        message = Message(info)
        self.messages.append(message)
        self._by_id[info.id] = message
        self.update(info)
        for part in parts:
            self.put(part)
        return message

    def update(self, info: Info) -> None:
        """A message's info has changed."""
        self._by_id[info.id].info = info
        self.store.put_message(info)
        self.bus.publish(MessageUpdated(info=info))

    def put(self, part: Part) -> None:
        """A part is new or has changed: kept, stored and told."""
        self.put_part(part)
        self.bus.publish(PartUpdated(part=part))

    def put_part(self, part: Part) -> None:
        """Keep and store a part without telling; the door tells when it is safe on disk."""
        message = self._by_id.get(part.message_id)
        if message is not None:
            message.parts[part.id] = part
        self.store.put_part(part)

    def remove_part(self, part: Part) -> None:
        message = self._by_id.get(part.message_id)
        if message is not None:
            message.parts.pop(part.id, None)
        self.store.remove_part(part.id)
        self.bus.publish(PartRemoved(session_id=self.id, message_id=part.message_id, part_id=part.id))

    def remove_from(self, message_id: str) -> None:
        """Drop a message and all that came after it."""
        position = next((index for index, one in enumerate(self.messages) if one.info.id == message_id), None)
        if position is None:
            return
        for message in self.messages[position:]:
            del self._by_id[message.info.id]
            self.store.remove_message(message.info.id)
            self.bus.publish(MessageRemoved(session_id=self.id, message_id=message.info.id))
        del self.messages[position:]

    def change(self, info: SessionInfo) -> None:
        """The session itself has changed."""
        self.info = replace(info, time=replace(info.time, updated=now()))
        self.store.put_session(self.info)
        self.bus.publish(SessionUpdated(info=self.info))

    def last_user(self) -> User | None:
        return next((one.info for one in reversed(self.messages) if isinstance(one.info, User)), None)

    async def settled(self) -> None:
        await self.store.settled()
