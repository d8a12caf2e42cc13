"""Attributes of a file beside its content: mode, owner, extended attributes (access lists are among them)."""

import base64
import errno
import os
import stat
from contextlib import suppress
from dataclasses import field

from toolwright.record import record

_INHERITED = "system.posix_acl_access"
"""The attribute that a new file gets from its folder, whether the file it stands for had it or not."""


@record(frozen=True, slots=True, kw_only=True)
class Attributes:
    """Taken from one open file and given to another. Its fields are plain enough to be stored as JSON."""

    mode: int
    owner: int
    group: int
    extended: dict[str, str] = field(default_factory=dict[str, str])
    """Values in base64."""

    @classmethod
    def of(cls, handle: int) -> "Attributes":
        status = os.fstat(handle)
        return cls(
            mode=stat.S_IMODE(status.st_mode),
            owner=status.st_uid,
            group=status.st_gid,
            extended={name: base64.b64encode(os.getxattr(handle, name)).decode() for name in _names(handle)},
        )

    def give(self, handle: int, *, strict: bool = True) -> int:
        """Give them to an open file: all, or PermissionError; if not `strict`, as many as the system lets us.

        Returns the mode given: the first byte written may take the bits from it that make a program run as its owner.
        """
        owned = self._give_owner(handle, strict=strict)
        for name in _names(handle):
            if name == _INHERITED and name not in self.extended:
                os.removexattr(handle, name)
        for name, value in self.extended.items():
            try:
                os.setxattr(handle, name, base64.b64decode(value))
            except (OSError, AttributeError) as error:
                if strict:
                    raise PermissionError(errno.EPERM, f"The attribute {name} cannot be copied") from error
        # Who runs it as its owner must not run it as somebody else.
        mode = self.mode if owned else self.mode & 0o777
        os.fchmod(handle, mode)
        return mode

    def _give_owner(self, handle: int, *, strict: bool) -> bool:
        status = os.fstat(handle)
        if (status.st_uid, status.st_gid) == (self.owner, self.group):
            return True
        try:
            os.fchown(handle, self.owner, self.group)
        except OSError:
            if strict:
                raise
            return False
        return True


def _names(handle: int) -> list[str]:
    with suppress(OSError, AttributeError):
        return os.listxattr(handle)
    return []
