"""A folder of our own for as long as we live: temporary files of commands, masks, and what else nobody else needs."""

import fcntl
import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

from toolwright.errors import ToolError


class Scratch:
    """Held by a lock, which tells across all namespaces whether somebody still lives here."""

    def __init__(self, wanted: Path) -> None:
        """Below `wanted` if that can be written; otherwise in the system's temporary folder."""
        self.base = wanted
        self.path = Path()
        self._lock = -1
        with suppress(OSError):
            self._settle(wanted)
            return
        with suppress(OSError):
            self._settle(Path(tempfile.gettempdir()) / f"toolwright-{os.getuid()}")
            return
        raise ToolError(
            f"No temporary folder for commands could be made, neither in {wanted} nor in the system's."
            " Set TMPDIR to a folder that can be written.",
        )

    @property
    def temp(self) -> Path:
        """The folder that commands have in the place of the system's temporary folder."""
        return self.path / "tmp"

    @property
    def masks(self) -> Path:
        return self.path / "masks"

    def close(self) -> None:
        shutil.rmtree(self.path, ignore_errors=True)
        self.path.with_suffix(".lock").unlink(missing_ok=True)
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1

    def _settle(self, base: Path) -> None:
        base.mkdir(parents=True, exist_ok=True, mode=0o700)
        if base.stat().st_uid != os.getuid():
            raise PermissionError(f"{base} belongs to somebody else")
        _remove_abandoned(base)
        name = os.urandom(6).hex()
        lock = os.open(base / f"{name}.lock", os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        fcntl.flock(lock, fcntl.LOCK_EX)
        self.base, self.path, self._lock = base, base / name, lock
        for folder in (self.path, self.temp, self.masks):
            folder.mkdir(mode=0o700)


def _remove_abandoned(base: Path) -> None:
    """Remove the folders of processes that were killed, each with a lock that nobody holds."""
    for entry in list(base.iterdir()):
        if entry.suffix == ".lock":
            continue
        with suppress(OSError):
            if not _is_held(entry.with_suffix(".lock")):
                shutil.rmtree(entry, ignore_errors=True)
                entry.with_suffix(".lock").unlink(missing_ok=True)


def _is_held(lock: Path) -> bool:
    try:
        descriptor = os.open(lock, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False
