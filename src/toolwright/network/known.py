"""A destination that one of the user's own clients is set up with."""

from typing import Literal

from toolwright.network.destination import Destination
from toolwright.record import record

Level = Literal["user", "project"]


@record(frozen=True, slots=True, kw_only=True)
class KnownDestination:
    """A destination that a client is set up with."""

    destination: Destination
    client: str
    setting: str
    level: Level = "user"
    """The user's setting or the project's, whose word is not taken for addresses that are not public."""
