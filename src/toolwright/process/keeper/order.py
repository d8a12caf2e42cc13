"""What the keeper is asked to start: the record both sides write and read."""

from typing import TypedDict


class Mount(TypedDict):
    """One change to what a confined program sees of its files.

    `bind` puts the source into the target's place, which can then be written and not be moved; `read-only` does so
    for reading; `empty` covers the target with an empty folder, which `seal` makes read-only. Whatever is not bound is
    read-only.
    """

    kind: str
    target: str
    source: str


class Confinement(TypedDict):
    """Limits that the kernel puts on a program and all it starts, without the help of another program."""

    mounts: list[Mount]
    """Made in a mount namespace of its own; none is entered for an empty list."""
    exact: list[str]
    """Places among them that must be themselves when they are mounted, and no links."""
    own_processes: bool
    """Whether it sees no processes but its own, having been started in a namespace for them."""
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
    memory: int
    """How many bytes of memory it may take before its leader ends it; 0 where the system sees to that."""
    scoped: bool
    """Whether it may reach no process and no nameless socket outside, where the kernel can see to that."""
    disk: list[str]
    """Folders on whose disks it must leave some room."""
    temp: str
    """The folder that its temporary files are in, if that is its own; empty otherwise."""
    temp_bytes: int
    """How many bytes may be in there before its leader ends it."""
    exact: list[str]
    """Places in bubblewrap's box that must be themselves and no links, seen to before the program is started."""
    confinement: Confinement | None


STATUS = "{status}"
"""A word of `argv` that stands for a descriptor on which bubblewrap tells whether it came as far as the program."""
READY = "{ready}"
"""The same for a descriptor that bubblewrap reads when everything is mounted, and until it is closed."""
FILTER, OFFLINE = "{filter}", "{offline}"
"""The same for a descriptor from which bubblewrap reads the system calls it is to refuse, with and without network."""
