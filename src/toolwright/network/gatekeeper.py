"""The gatekeeper decides for a session what its door lets pass; the protocol by which the door asks it."""

import socket
from typing import Protocol

from toolwright.network.destination import Destination
from toolwright.network.relay import Traffic
from toolwright.process.keeper.order import GateOrder
from toolwright.record import record


@record(frozen=True, slots=True, kw_only=True)
class Permit:
    """An answer whether a connection may be made, and if not why."""

    allowed: bool
    named: bool = False
    """True if the user means this host wherever it lies."""
    limited: bool = False
    """True if nobody has allowed this very host, so that no more is sent than fetching takes."""
    reason: str = ""


class Gatekeeper(Protocol):
    """The one who decides for one session, in the loop of the workspace."""

    @property
    def gate(self) -> GateOrder | None:
        """Return what its leaders say first, where there are no namespaces."""
        ...

    async def permit(self, destination: Destination) -> Permit: ...
    async def permit_more(self, destination: Destination) -> Permit:
        """Decide on more than is sent unasked."""
        ...

    async def permit_here(self, port: int) -> Permit: ...
    def exists(self, name: str) -> bool:
        """Tell whether a name is to have an address: not one that a rule denies."""
        ...

    def note(self, destination: Destination, reason: str) -> None:
        """Take note of what came to nothing."""
        ...

    def note_crowd(self, most: int) -> None:
        """Take note of more connections than there may be at once."""
        ...

    def key_for(self, host: str) -> bytes | None:
        """Return the header that is put in for a host, if one is. ToolError if it cannot be."""
        ...

    async def inside(self) -> socket.socket:
        """Return a socket of the session's network that is not connected yet."""
        ...

    def traffic_to(self, destination: Destination) -> Traffic: ...
