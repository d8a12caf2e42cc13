"""Protocol of the stores that sessions put their records into."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from toolwright.calls.parts import Part
from toolwright.errors import ToolwrightError
from toolwright.protocols.json_types import Json

if TYPE_CHECKING:
    from toolwright.messages import Info, Message, SessionInfo
    from toolwright.session.storage.owner import Lease, Owner


class StorageError(ToolwrightError):
    """Records cannot be read or written: the store is locked or damaged, the disk is full, read-only or gone."""


class PartStore(Protocol):
    """Takes parts as they change. What was put before `settled` returns survives the end of the process."""

    def put_part(self, part: Part) -> None: ...
    async def settled(self) -> None: ...


class Store(PartStore, Protocol):
    """All records of sessions. Writing never waits; `settled` does. Reading sees all that was put before.

    Messages and parts stay in the order in which they first came. A store that cannot be used raises StorageError.
    """

    def put_session(self, info: "SessionInfo") -> None: ...
    def put_message(self, info: "Info") -> None: ...
    def put_todos(self, session_id: str, todos: Sequence[Json]) -> None: ...
    def remove_message(self, message_id: str) -> None: ...
    def remove_part(self, part_id: str) -> None: ...
    def delete_session(self, session_id: str) -> None: ...

    async def session(self, session_id: str) -> "SessionInfo":
        """UsageError if there is none."""
        ...

    async def knows(self, *ids: str) -> bool:
        """Tell whether any of these is the id of a session, a message or a part."""
        ...

    async def sessions(self, project_id: str, limit: int = 1000, *, roots: bool = False) -> "list[SessionInfo]":
        """The sessions of a project, the last used first; without those of subagents if only roots are wanted."""
        ...

    async def children(self, session_id: str) -> "list[SessionInfo]": ...

    async def messages(self, session_id: str, last: int = 0) -> "list[Message]":
        """The messages of a session with their parts, in order; only the last so many if a number is given."""
        ...

    async def todos(self, session_id: str) -> list[Json]: ...

    async def unused_since(self, milliseconds: int) -> list[str]:
        """The sessions of all projects that nobody has used since that moment.

        Not among them: one that is worked on, and one of the same tree as a session that was used later.
        """
        ...

    async def take(self, session_id: str, owner: "Owner") -> None:
        """Make a session the owner's to work on. UsageError if another has it that is not known to be dead."""
        ...

    def let_go(self, session_id: str, owner: "Owner") -> None: ...
    async def leases(self) -> "list[Lease]": ...

    async def size(self) -> int:
        """Bytes the records take."""
        ...

    def shrink(self) -> None:
        """Give back the room of what was deleted."""
        ...

    async def close(self) -> None: ...


def roots_of(parents: "dict[str, str | None]") -> dict[str, str]:
    """The session at the top of each session's tree; of those that are above themselves, one of them."""
    roots: dict[str, str] = {}
    for name in parents:
        path = {name: None}
        top, above = name, parents[name]
        while above is not None and above in parents and above not in path:
            path[above] = None
            top, above = above, parents[above]
            if top in roots:
                top, above = roots[top], None
        roots |= dict.fromkeys(path, top)
    return roots
