"""Orders to the keeper to start something: the record both sides write and read."""

from typing import TypedDict

DECOY = b"# Hidden from commands by a rule.\n"
"""The line that programs see of a file hidden from them, followed by empty lines; of a short file only those."""


def is_decoy(content: bytes) -> bool:
    """Tell whether a content comes from what programs see of hidden files."""
    return content.startswith(DECOY.rstrip()) or (0 < len(content) < len(DECOY) and not content.strip(b"\n"))


class Mount(TypedDict):
    """One change to what a confined program sees of its files.

    `bind` puts the source into the target's place, which can then be written and not be moved; `read-only` does so
    for reading; `empty` covers the target with an empty folder, which `seal` makes read-only. Whatever is not bound is
    read-only.
    """

    kind: str
    target: str
    source: str


class KernelConfinement(TypedDict):
    """Limits that the kernel puts on a program and all it starts, without the help of another program."""

    mounts: list[Mount]
    """Made in a mount namespace of its own; none is entered for an empty list."""
    exact: list[str]
    """Places among them that must be themselves when they are mounted, and no links."""
    own_processes: bool
    """True if it sees no processes but its own, having been started in a namespace for them."""
    listed: list[str]
    """Folders in which all names may be seen, and no more."""
    readable: list[str]
    writable: list[str]
    network: bool
    own_space: bool
    """True if it is in a network namespace with no way out but our own door."""


class SpaceOrder(TypedDict):
    """Sockets to be made in a network namespace and handed out. A new one is made if none travels beside this."""

    ports: list[int]
    """Ports of its loopback to listen on."""
    plain: int
    """The number of sockets that can be connected to what listens in there."""


class GateOrder(TypedDict):
    """Our door on the loopback, by which alone a program that has no network of its own reaches others."""

    port: int
    secret: str


class Powers(TypedDict):
    """Changes that the leader may make for programs that cannot make them themselves."""

    brokered: bool
    """True if the leader makes changes for programs that they cannot make in their box."""
    reads: bool
    """True if they cannot even read what is new outside of it, so that it is opened for them."""
    granted: list[str]
    """Places approved outside of the box: all changes there, and below, are made for them."""
    hidden: list[str]
    """Files that they see something else of, and may take away or replace all the same."""
    open: list[str]
    """Places they may change by themselves."""
    pinned: list[str]
    """Folders among that whose own names they cannot change."""
    shut: list[str]
    """Places that neither they nor the leader changes, whatever they lie in. Of two places the deeper one decides."""
    absent: list[str]
    """Places that are not there and are not to be made."""


class Capture(Powers):
    """An order to note what a program changes, with what was there before."""

    store: str
    """A folder that is made when there is something to keep; in one that is private."""
    roots: list[str]
    """Folders and files, as they are outside of the box, that are of interest."""
    room: int
    """The most bytes of copies that are kept."""
    asks: list[str]
    """Parts of paths, in small letters: a change of a file whose path has one of them is asked about before it is made.
    Only where changes are brokered."""


class StartOrder(TypedDict):
    """One program to start. The descriptors for its input, output and errors travel beside it, and the network
    namespace that it is to be in, if it is to be in one."""

    path: str
    argv: list[str]
    env: dict[str, str]
    cwd: str
    linger: float
    """Seconds to wait, once the program has ended, for the rest of its scope to end too."""
    watch: int
    """The most processes of the scope before its leader ends it; 0 where the system sees to that."""
    memory: int
    """The most bytes of memory it may take before its leader ends it; 0 where the system sees to that."""
    boxed: bool
    """True if it is in a box, by which our own ports know it."""
    scoped: bool
    """True if it may reach no process and no nameless socket outside, where the kernel can see to that."""
    disk: list[str]
    """Folders on whose disks it must leave some room."""
    temp: str
    """The folder that its temporary files are in, if that is its own; empty otherwise."""
    temp_bytes: int
    """The most bytes in there before its leader ends it."""
    exact: list[str]
    """Places in bubblewrap's box that must be themselves and no links, seen to before the program is started."""
    confinement: KernelConfinement | None
    capture: Capture | None
    gate: GateOrder | None


STATUS = "{status}"
"""A word of `argv` that stands for a descriptor on which bubblewrap tells whether it came as far as the program."""
READY = "{ready}"
"""The same for a descriptor that bubblewrap reads when everything is mounted, and until it is closed."""
FILTER, OFFLINE = "{filter}", "{offline}"
"""The same for a descriptor from which bubblewrap reads the system calls it is to refuse, with and without network."""
