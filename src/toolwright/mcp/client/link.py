"""A link: the way to a server and back, whatever carries it."""

import asyncio
import shlex
from typing import Protocol, TypeVar

from toolwright.errors import ToolError
from toolwright.protocols.jsonrpc import Answer, Notified, Peer
from toolwright.record import record

T = TypeVar("T")

LARGEST = 32 * 1024 * 1024
"""Bytes that one message of a server may have."""


@record(frozen=True, slots=True, kw_only=True)
class Handlers:
    """Takers of what a server sends by itself."""

    answer: Answer
    notified: Notified


class McpLink(Protocol):
    """The other side, and what only its carrier knows."""

    peer: Peer
    stateless: bool
    """True if the newer family is spoken; set once that is known."""
    version: str
    """The version that was agreed on; empty before."""

    def stderr_tail(self) -> str:
        """Return the end of the server's stderr, as far as it was read."""
        ...

    async def listen(self) -> None:
        """Begin to hear what the server says by itself, where that takes a stream of its own."""
        ...

    async def close(self) -> None: ...


class NeedsAuth(ToolError):
    """The server wants to know who we are."""

    def __init__(self, server: str, scope: str = "") -> None:
        self.scope = scope
        needs = f"a login with the scope {scope!r}" if scope else "you to log in"
        option = f" --scope {shlex.quote(scope)}" if scope else ""
        super().__init__(f"The MCP server {server} needs {needs}. Run tw mcp auth {server}{option}.", "denied")


def keep(task: "asyncio.Task[T]", tasks: "set[asyncio.Task[T]]") -> None:
    """Hold on to a task until it is done, which the event loop does not."""
    tasks.add(task)
    task.add_done_callback(tasks.discard)
