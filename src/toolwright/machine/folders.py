"""The user's folders, by the XDG rules, and what lies in them."""

import functools
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from toolwright.errors import ConfigError
from toolwright.machine.private_files import keep_private
from toolwright.record import record

NAME = "toolwright"
MEMORY = "/dev/shm"  # noqa: S108 - only for folders with names nobody can foresee
"""A file system in memory, which containers with a read-only root have too."""


@record(frozen=True, slots=True, kw_only=True)
class Folders:
    """The folders of one user."""

    home: Path
    config: Path
    reference_config: Path
    """The folder of the reference's configuration, which is read as well."""
    data: Path
    reference_data: Path
    cache: Path
    state: Path
    """State of running programs of ours: where servers are and what they want."""

    @classmethod
    def of(cls, environment: Mapping[str, str] = os.environ) -> "Folders":
        home = _folder(environment, "HOME") or _home()
        config = _folder(environment, "XDG_CONFIG_HOME") or home / ".config"
        data = _folder(environment, "XDG_DATA_HOME") or home / ".local" / "share"
        cache = _folder(environment, "XDG_CACHE_HOME") or home / ".cache"
        state = _folder(environment, "XDG_STATE_HOME") or home / ".local" / "state"
        return cls(
            home=home,
            config=config / NAME,
            reference_config=config / "opencode",
            data=data / NAME,
            reference_data=data / "opencode",
            cache=cache / NAME,
            state=state / NAME,
        )

    def ready(self) -> "Folders":
        """The same, with what is in the data folder corrected to be the user's alone. Nothing is made yet; but where
        nothing could be, there is a data folder that lasts as long as this process."""
        if problem := _problem(self.data):
            return replace(self, data=_passing(self.data, problem))
        keep_private(self.data)
        return self

    @property
    def copies(self) -> Path:
        """Return the folder of copies of projects: beside the data, for commands work in them."""
        return self.data.with_name(f"{NAME}-copies")

    @property
    def written(self) -> tuple[Path, ...]:
        """Those in parts of which commands write: their temporary files, caches of their own, copies of projects."""
        return (self.data, self.cache, self.copies)

    @property
    def tool_output(self) -> Path:
        return self.data / "tool-output"

    def outputs_of(self, root: Path) -> Path:
        """Return where the long outputs of one project are kept: they are for nobody who works in another."""
        import hashlib

        return self.tool_output / hashlib.sha256(os.fsencode(root)).hexdigest()[:16]

    @property
    def plans(self) -> Path:
        return self.data / "plans"

    @property
    def approvals(self) -> Path:
        return self.data / "approvals.json"

    @property
    def trust(self) -> Path:
        return self.data / "trust.json"

    @property
    def auth(self) -> Path:
        return self.data / "auth.json"

    @property
    def models(self) -> Path:
        """The list of models that the user has fetched."""
        return self.cache / "models.json"

    @property
    def database(self) -> Path:
        return self.data / "toolwright.db"


def make_temporary(prefix: str) -> Path:
    """A new private folder in the system's temporary one, or in memory where the whole file system is read-only."""
    import tempfile

    try:
        return Path(tempfile.mkdtemp(prefix=prefix)).resolve()
    except OSError:
        with suppress(OSError):
            return Path(tempfile.mkdtemp(prefix=prefix, dir=MEMORY))
    raise ConfigError("No temporary folder can be written. Set TMPDIR to one that can.")


def _folder(environment: Mapping[str, str], name: str) -> Path | None:
    """A folder that a variable names. A relative one would be another in every place, and lie in the project."""
    value = environment.get(name)
    if not value:
        return None
    if not Path(value).is_absolute() or "\0" in value:
        raise ConfigError(f"{name} is {value!r}, which is not an absolute path. Correct it, or unset it.")
    return Path(value)


def _home() -> Path:
    try:
        return Path.home()
    except RuntimeError:
        return Path("/nonexistent")


def _problem(folder: Path) -> str:
    """Why nothing can be kept in a folder, which may still have to be made; empty if it can."""
    try:
        there = next(one for one in (folder, *folder.parents) if one.exists())
    except OSError as error:
        return error.strerror or str(error)
    if not there.is_dir():
        return f"{there} is not a folder"
    if not os.access(there, os.W_OK | os.X_OK):
        return f"{there} cannot be written"
    return "" if there == folder else _cannot_be_made_in(there)


def _cannot_be_made_in(folder: Path) -> str:
    """Some places look writable and are not; only trying tells."""
    import tempfile

    try:
        Path(tempfile.mkdtemp(prefix=f".{NAME}-", dir=folder)).rmdir()
    except OSError as error:
        return f"{folder}: {error.strerror}"
    return ""


@functools.cache
def _passing(data: Path, reason: str) -> Path:
    """A private folder in the place of one that cannot be used, said once and removed at the end."""
    import atexit
    import shutil
    import sys

    folder = make_temporary("toolwright-data-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    sys.stderr.write(f"{data} cannot be used ({reason}); what would be kept there goes when this command ends\n")
    return folder
