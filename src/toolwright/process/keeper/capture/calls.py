"""The system calls that change files or their names, on each machine: what they do, and where their arguments are."""

import os
from typing import NamedTuple

WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
"""Any of these in the flags of an open file means that it may change."""
HERE = -100
"""In the place of a folder's descriptor: the folder that the program is in."""


class SystemCall(NamedTuple):
    """One system call. The numbers say which argument holds what; -1 for none."""

    kind: str
    path: int
    folder: int = -1
    """The descriptor of a folder, which the path begins in."""
    flags: int = -1
    other: int = -1
    """A second path, and the folder of that."""
    other_folder: int = -1
    value: int = -1
    """The value it gives: a mode, a length, times, the first of user and group, the text of a link."""
    link: bool = False
    """True if it is about a link itself."""


def is_reading(call: SystemCall, flags: int) -> bool:
    """Tell whether a call only opens something to read it."""
    return call.kind == "open" and not flags & WRITING


_AT = {
    "openat": SystemCall("open", 1, 0, 2, value=3),
    "unlinkat": SystemCall("remove", 1, 0, 2),
    "mkdirat": SystemCall("folder", 1, 0, value=2),
    "mknodat": SystemCall("make", 1, 0, value=2),
    "symlinkat": SystemCall("symlink", 2, 1, value=0),
    "linkat": SystemCall("link", 1, 0, 4, 3, 2),
    "renameat": SystemCall("rename", 1, 0, -1, 3, 2),
    "renameat2": SystemCall("rename", 1, 0, 4, 3, 2),
    "truncate": SystemCall("write", 0, value=1),
    "fchmodat": SystemCall("mode", 1, 0, value=2),
    "fchmodat2": SystemCall("mode", 1, 0, 3, value=2),
    "fchownat": SystemCall("owner", 1, 0, 4, value=2),
    "setxattr": SystemCall("attribute", 0),
    "lsetxattr": SystemCall("attribute", 0, link=True),
    "removexattr": SystemCall("attribute", 0),
    "lremovexattr": SystemCall("attribute", 0, link=True),
    "utimensat": SystemCall("times", 1, 0, 3, value=2),
    "fchmod": SystemCall("mode", -1, 0, value=1),
    "fchown": SystemCall("owner", -1, 0, value=1),
}
"""Those that every machine has."""
_OLD = {
    "open": SystemCall("open", 0, -1, 1, value=2),
    "creat": SystemCall("create", 0, value=1),
    "unlink": SystemCall("remove", 0),
    "rmdir": SystemCall("remove folder", 0),
    "mkdir": SystemCall("folder", 0, value=1),
    "mknod": SystemCall("make", 0, value=1),
    "symlink": SystemCall("symlink", 1, value=0),
    "link": SystemCall("link", 0, -1, -1, 1),
    "rename": SystemCall("rename", 0, -1, -1, 1),
    "chmod": SystemCall("mode", 0, value=1),
    "chown": SystemCall("owner", 0, value=1),
    "lchown": SystemCall("owner", 0, value=1, link=True),
}
"""The same without a folder, which newer machines do not have."""
_NUMBERS = {
    "x86_64": {
        "openat": 257, "unlinkat": 263, "mkdirat": 258, "mknodat": 259, "symlinkat": 266, "linkat": 265,
        "renameat": 264, "renameat2": 316, "truncate": 76, "fchmodat": 268, "fchmodat2": 452, "fchownat": 260,
        "setxattr": 188, "lsetxattr": 189, "removexattr": 197, "lremovexattr": 198, "open": 2, "creat": 85,
        "unlink": 87, "rmdir": 84, "mkdir": 83, "mknod": 133, "symlink": 88, "link": 86, "rename": 82, "chmod": 90,
        "chown": 92, "lchown": 94, "utimensat": 280, "fchmod": 91, "fchown": 93,
    },
    "aarch64": {
        "openat": 56, "unlinkat": 35, "mkdirat": 34, "mknodat": 33, "symlinkat": 36, "linkat": 37, "renameat": 38,
        "renameat2": 276, "truncate": 45, "fchmodat": 53, "fchmodat2": 452, "fchownat": 54, "setxattr": 5,
        "lsetxattr": 6, "removexattr": 14, "lremovexattr": 15, "utimensat": 88, "fchmod": 52,
        "fchown": 55,
    },
}  # fmt: skip
CALLS = {
    machine: {number: (_AT | _OLD)[name] for name, number in numbers.items()} for machine, numbers in _NUMBERS.items()
}
BROKERED = ("utimensat", "fchmod", "fchown")
"""Only of interest where changes are made for programs: by themselves they change nothing that undo gives back."""
BROKERED_NUMBERS = {machine: {numbers[name] for name in BROKERED} for machine, numbers in _NUMBERS.items()}
UNSEEN = {"x86_64": (425, 437, 304), "aarch64": (425, 437, 265)}
"""io_uring_setup, openat2 and open_by_handle_at change files in ways that cannot be seen. Programs do without them."""
SECCOMP = {"x86_64": 317, "aarch64": 277}
ARCHITECTURE = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
