"""What the keeper is asked to start: the record both sides write and read."""

from typing import TypedDict


class Mount(TypedDict):
    """One change to what a confined program sees of its files.

    `bind` makes the target a mount of its own, which can be written and not be moved; `read-only` and `hide` say
    what they do; `replace` puts the source in the target's place, except for what is to be kept of it. Whatever is
    not bound or put in place is read-only.
    """

    kind: str
    target: str
    source: str
    keep: list[str]


class Confinement(TypedDict):
    """Limits that the kernel puts on a program and all it starts, without the help of another program."""

    mounts: list[Mount]
    """Made in a mount namespace of its own; none is entered for an empty list."""
    readable: list[str]
    writable: list[str]
    network: bool


class Order(TypedDict):
    """One program to start. The descriptors for its input, output and errors travel beside it."""

    path: str
    argv: list[str]
    env: dict[str, str]
    cwd: str
    linger: float
    """Seconds to wait, once the program has ended, for the rest of its scope to end too."""
    watch: int
    """How many processes the scope may be before its leader ends it; 0 where the system sees to that."""
    confinement: Confinement | None


STATUS = "{status}"
"""A word of `argv` that stands for a descriptor on which bubblewrap tells whether it came as far as the program."""
