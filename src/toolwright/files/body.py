"""Bodies under a name: a file's content, a symbolic link, or nothing; and by what name they are known again."""

import errno
import os
import stat
from pathlib import Path

from toolwright.files.disk import LOADABLE, digest_of, special_kind
from toolwright.files.held import HeldFolder, hold
from toolwright.record import record

_LINK, _FOLDER, _WHOLE = "link:", "folder:", "whole folder:"


@record(frozen=True, slots=True)
class Link:
    """A symbolic link: where it leads, as it is written."""

    target: str


@record(frozen=True, slots=True)
class Folder:
    """A folder, with what is in it only if it is a `whole` one."""

    mode: int
    whole: bool = False


Body = bytes | Link | None
Thing = Body | Folder
"""The kinds of thing that undo looks at: folders too."""


class NotABody(OSError):
    """Something else is there: a folder, a pipe, a device, or a file too large to be held."""


def name_of(body: Thing) -> str | None:
    """The hash of a content; a link or a folder is its own name."""
    if isinstance(body, Link):
        return _LINK + body.target
    if isinstance(body, Folder):
        return f"{_WHOLE if body.whole else _FOLDER}{body.mode:o}"
    return None if body is None else digest_of(body)


def link_named(name: str) -> Link | None:
    return Link(name.removeprefix(_LINK)) if name.startswith(_LINK) else None


def folder_named(name: str) -> Folder | None:
    for begin in (_FOLDER, _WHOLE):
        if name.startswith(begin):
            return Folder(int(name.removeprefix(begin), 8), whole=begin is _WHOLE)
    return None


def thing_at(path: Path) -> Thing:
    """The same as `body_at`, and folders."""
    try:
        return body_at(path)
    except NotABody:
        with hold(path.parent) as folder:
            status = folder.status(path.name)
        if not stat.S_ISDIR(status.st_mode):
            raise
        return Folder(stat.S_IMODE(status.st_mode))


def body_at(path: Path) -> Body:
    """Return the body at a canonical path now; OSError if it cannot be said, or is nothing that could be put back."""
    try:
        with hold(path.parent) as folder:
            return body_in(folder, path.name)
    except (FileNotFoundError, NotADirectoryError):
        return None


def body_in(folder: HeldFolder, name: str, room: int = LOADABLE) -> Body:
    status = folder.status(name)
    if stat.S_ISLNK(status.st_mode):
        return Link(folder.target(name))
    if not stat.S_ISREG(status.st_mode):
        raise NotABody(errno.EINVAL, f"it is {special_kind(status.st_mode)}")
    if status.st_size > room:
        raise NotABody(errno.EFBIG, f"it has {status.st_size:,} bytes, too many to be held")
    with os.fdopen(folder.open(name, os.O_RDONLY), "rb", buffering=0) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise NotABody(errno.EINVAL, "it is no regular file")
        return file.read() or b""
