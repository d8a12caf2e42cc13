"""The secret of a server: made or given, left where its owner's other programs find it, and compared."""

import base64
import errno
import hashlib
import hmac
import json
import os
import secrets
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from toolwright.errors import UsageError
from toolwright.machine.folders import Folders
from toolwright.machine.private_files import make_folder
from toolwright.protocols.json_text import read_json
from toolwright.protocols.json_types import Json
from toolwright.record import record

USER = "opencode"
LARGEST = 64 * 1024
"""Bytes of a note."""
_OF_PAGE = b"the key of the page"


@record(frozen=True, slots=True, kw_only=True)
class Secret:
    """Secret that a client has to bring, in any of its forms."""

    value: str
    user: str = USER
    generated: bool = True
    """True if it is a random one of ours, which nobody can guess, and not a person's password."""

    @classmethod
    def of(cls, environment: Mapping[str, str], file: Path | None = None) -> "Secret":
        """The person's own, from a file or the environment; else a new one."""
        user = environment.get("TOOLWRIGHT_SERVER_USERNAME") or environment.get("OPENCODE_SERVER_USERNAME") or USER
        try:
            secret = file.read_text().strip() if file else ""
        except (OSError, ValueError) as error:
            raise UsageError(f"{file} cannot be read: {error}.") from error
        secret = secret or environment.get("TOOLWRIGHT_SERVER_PASSWORD", "")
        secret = secret or environment.get("OPENCODE_SERVER_PASSWORD", "")
        return cls(value=secret or secrets.token_urlsafe(32), user=user, generated=not secret)

    def page_key(self) -> str:
        """Derive what the page keeps in its place: the same after a restart where the secret is, with no way back."""
        if self.generated:
            return hashlib.sha256(_OF_PAGE + self.value.encode()).hexdigest()
        return hashlib.scrypt(self.value.encode(), salt=_OF_PAGE, n=2**14, r=8, p=1, dklen=32).hex()

    def reuse_after_crash(self, environment: Mapping[str, str], port: int) -> "Secret":
        """The secret of a server that was killed on the same port, so that its clients come back by themselves.

        One that ends in order takes its note away, and the next has a secret of its own.
        """
        if not self.generated:
            return self
        note = _note_of_killed(environment, port)
        return replace(self, value=str(note["token"])) if note.get("made") and note.get("token") else self

    def matches(self, text: str) -> bool:
        return hmac.compare_digest(text.encode("utf-8", "replace"), self.value.encode())

    def is_header(self, header: str) -> bool:
        """Tell whether an `Authorization` header has it, as a password or as a bearer's token."""
        if (token := bearer_of(header)) is not None:
            return hmac.compare_digest(token, self.value.encode())
        scheme, _, rest = header.partition(" ")
        return scheme.lower() == "basic" and self.is_pair(rest.strip())

    def is_pair(self, encoded: str) -> bool:
        """`user:password` in base64."""
        try:
            user, _, password = base64.b64decode(encoded, validate=True).decode().partition(":")
        except ValueError:
            return False
        right_user = hmac.compare_digest(user.encode(), self.user.encode())
        return self.matches(password) and right_user


def bearer_of(header: str) -> bytes | None:
    """The token of an `Authorization` header, byte for byte; None if it is of another kind."""
    scheme, _, rest = header.partition(" ")
    return rest.strip().encode("latin-1", "replace") if scheme.lower() == "bearer" else None


def notes_folder(environment: Mapping[str, str]) -> Path:
    """Name the folder in which servers leave word of themselves."""
    return Folders.of(environment).state / "server"


def write_server_file(environment: Mapping[str, str], port: int, url: str, secret: Secret | None) -> Path:
    """Write down where the server is and what it wants, for its owner alone. OSError if that cannot be done."""
    folder = notes_folder(environment)
    make_folder(folder)
    value = {
        "url": url,
        "token": secret.value if secret else "",
        "user": secret.user if secret else "",
        "made": secret is not None and secret.generated,
        "pid": os.getpid(),
    }
    with _own_folder(folder) as held:
        name = f"{port}.json"
        with suppress(FileNotFoundError):
            os.unlink(name, dir_fd=held)
        # A file that comes between is not written to, wherever it leads.
        note = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600, dir_fd=held)
        try:
            with os.fdopen(note, "wb") as stream:
                stream.write(json.dumps(value).encode())
        except OSError:
            os.unlink(name, dir_fd=held)
            raise
    return folder / f"{port}.json"


@contextmanager
def _own_folder(folder: Path) -> Iterator[int]:
    """Hold a folder that is the user's own and nobody else's. OSError if it is not."""
    held = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        status = os.fstat(held)
        if status.st_uid != os.geteuid():
            raise OSError(errno.EPERM, "it belongs to somebody else")
        if stat.S_IMODE(status.st_mode) & 0o077:
            os.fchmod(held, 0o700)
        yield held
    finally:
        os.close(held)


def find_token(environment: Mapping[str, str], port: int) -> tuple[str, str]:
    """User and token of a server of the same person's on this machine; empty if there is none.

    Whatever listens where one was killed may be anybody's, and the next server takes that secret up again.
    """
    note = _note(environment, port)
    pid = note.get("pid")
    if not isinstance(pid, int) or not _is_alive(pid):
        return "", ""
    return str(note.get("user", "")), str(note.get("token", ""))


def is_anybody_s(environment: Mapping[str, str], port: int) -> bool:
    """Tell whether a server of ours on this port was killed, and none of ours has taken its place."""
    pid = _note(environment, port).get("pid")
    return isinstance(pid, int) and not _is_alive(pid)


def was_killed(environment: Mapping[str, str], port: int) -> bool:
    """Tell whether a server on this port did not end in order: it has left its note."""
    return bool(_note_of_killed(environment, port))


def _note_of_killed(environment: Mapping[str, str], port: int) -> Json:
    """Return what a server that is gone has left; a server with the same port may be alive at another address."""
    note = _note(environment, port)
    pid = note.get("pid")
    return note if isinstance(pid, int) and (pid == os.getpid() or not _is_alive(pid)) else {}


def _is_alive(pid: int) -> bool:
    with suppress(PermissionError):
        try:
            os.kill(pid, 0)
        except (ProcessLookupError, OverflowError):
            return False
    return True


def _note(environment: Mapping[str, str], port: int) -> Json:
    """Read a note, if it is one that its owner has left."""
    try:
        with _own_folder(notes_folder(environment)) as held:
            flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
            with os.fdopen(os.open(f"{port}.json", flags, dir_fd=held), "rb") as stream:
                status = os.fstat(stream.fileno())
                if not stat.S_ISREG(status.st_mode) or status.st_uid != os.geteuid():
                    return {}
                note: Any = read_json(stream.read(LARGEST).decode("utf-8"))
    except (OSError, ValueError):
        return {}
    return note if isinstance(note, dict) else {}
