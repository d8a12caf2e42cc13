"""The secret of a server: made or given, left where its owner's other programs find it, and compared."""

import base64
import hashlib
import hmac
import json
import os
import secrets
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from toolwright.errors import UsageError
from toolwright.folders import Folders
from toolwright.jsontypes import Json
from toolwright.private import make_folder, open_private
from toolwright.record import record

USER = "opencode"


@record(frozen=True, slots=True, kw_only=True)
class Secret:
    """What a client has to bring, in any of its forms."""

    value: str
    user: str = USER
    made: bool = True
    """Whether it is a random one of ours, which nobody can guess, and not a person's password."""

    @classmethod
    def of(cls, environment: Mapping[str, str], file: Path | None = None) -> "Secret":
        """The person's own, from a file or the environment; else a new one."""
        user = environment.get("TOOLWRIGHT_SERVER_USERNAME") or environment.get("OPENCODE_SERVER_USERNAME") or USER
        try:
            given = file.read_text().strip() if file else ""
        except (OSError, ValueError) as error:
            raise UsageError(f"{file} cannot be read: {error}.") from error
        given = given or environment.get("TOOLWRIGHT_SERVER_PASSWORD", "")
        given = given or environment.get("OPENCODE_SERVER_PASSWORD", "")
        return cls(value=given or secrets.token_urlsafe(32), user=user, made=not given)

    def cookie(self) -> str:
        """What the page brings in its place. The same after a restart where the secret is, and no way back to it."""
        if self.made:
            return hashlib.sha256(b"the cookie of the page" + self.value.encode()).hexdigest()
        return hashlib.scrypt(self.value.encode(), salt=b"the cookie of the page", n=2**14, r=8, p=1, dklen=32).hex()

    def or_of_killed(self, environment: Mapping[str, str], port: int) -> "Secret":
        """The secret of a server that was killed on the same port, so that its clients come back by themselves.

        One that ends in order takes its note away, and the next has a secret of its own.
        """
        if not self.made:
            return self
        note = _note_of_killed(environment, port)
        return replace(self, value=str(note["token"])) if note.get("made") and note.get("token") else self

    def is_it(self, given: str) -> bool:
        return hmac.compare_digest(given.encode("utf-8", "replace"), self.value.encode())

    def is_header(self, header: str) -> bool:
        """Whether an `Authorization` header has it, as a password or as a bearer's token."""
        scheme, _, rest = header.partition(" ")
        if scheme.lower() == "bearer":
            return self.is_it(rest.strip())
        if scheme.lower() != "basic":
            return False
        return self.is_pair(rest.strip())

    def is_pair(self, encoded: str) -> bool:
        """`user:password` in base64."""
        try:
            user, _, password = base64.b64decode(encoded, validate=True).decode().partition(":")
        except ValueError:
            return False
        right_user = hmac.compare_digest(user.encode(), self.user.encode())
        return self.is_it(password) and right_user


def state_folder(environment: Mapping[str, str]) -> Path:
    state = environment.get("XDG_STATE_HOME") or ""
    base = Path(state) if Path(state).is_absolute() else Folders.of(environment).home / ".local" / "state"
    return base / "toolwright" / "server"


def leave_note(environment: Mapping[str, str], port: int, url: str, secret: Secret | None) -> Path:
    """Write down where the server is and what it wants, for its owner alone."""
    folder = state_folder(environment)
    make_folder(folder)
    note = folder / f"{port}.json"
    note.unlink(missing_ok=True)
    value = {
        "url": url,
        "token": secret.value if secret else "",
        "user": secret.user if secret else "",
        "made": secret is not None and secret.made,
        "pid": os.getpid(),
    }
    try:
        with open_private(note) as stream:
            stream.write(json.dumps(value).encode())
    except OSError:
        note.unlink(missing_ok=True)
        raise
    return note


def find_token(environment: Mapping[str, str], port: int) -> tuple[str, str]:
    """User and token of a server of the same person's on this machine; empty if there is none."""
    note = _note(environment, port)
    return str(note.get("user", "")), str(note.get("token", ""))


def was_killed(environment: Mapping[str, str], port: int) -> bool:
    """Whether a server on this port did not end in order: it has left its note."""
    return bool(_note_of_killed(environment, port))


def _note_of_killed(environment: Mapping[str, str], port: int) -> Json:
    """What a server that is gone has left; a server with the same port may be alive at another address."""
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
    try:
        note = json.loads((state_folder(environment) / f"{port}.json").read_text())
    except (OSError, ValueError):
        return {}
    return note if isinstance(note, dict) else {}
