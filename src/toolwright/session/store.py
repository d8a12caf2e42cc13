"""Where records go: a protocol of two verbs, and the store that keeps nothing."""

from typing import Protocol

from toolwright.messages import ToolPart


class Store(Protocol):
    """Takes records as they change. What was put before `settled` returns survives the end of the process."""

    def put_part(self, part: ToolPart) -> None: ...
    async def settled(self) -> None: ...
    async def close(self) -> None: ...


class Nowhere:
    """For calls that belong to no conversation, such as one from the command line."""

    def put_part(self, part: ToolPart) -> None:
        pass

    async def settled(self) -> None:
        pass

    async def close(self) -> None:
        pass
