"""Where records go: a protocol of a few verbs, and the store that keeps nothing."""

from typing import TYPE_CHECKING, Protocol

from toolwright.parts import Part

if TYPE_CHECKING:
    from toolwright.messages import Info, Message, SessionInfo


class PartStore(Protocol):
    """Takes parts as they change. What was put before `settled` returns survives the end of the process."""

    def put_part(self, part: Part) -> None: ...
    async def settled(self) -> None: ...


class Store(PartStore, Protocol):
    """Takes all records of sessions."""

    def put_session(self, info: "SessionInfo") -> None: ...
    def put_message(self, info: "Info") -> None: ...
    def remove_message(self, message_id: str) -> None: ...
    def remove_part(self, part_id: str) -> None: ...
    def messages(self, session_id: str) -> "list[Message]": ...
    async def close(self) -> None: ...


class Nowhere:
    """For calls and conversations that nobody will come back to."""

    def put_session(self, info: "SessionInfo") -> None:
        pass

    def put_message(self, info: "Info") -> None:
        pass

    def put_part(self, part: Part) -> None:
        pass

    def remove_message(self, message_id: str) -> None:
        pass

    def remove_part(self, part_id: str) -> None:
        pass

    def messages(self, session_id: str) -> "list[Message]":
        return []

    async def settled(self) -> None:
        pass

    async def close(self) -> None:
        pass
