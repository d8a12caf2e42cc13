"""Changes under way, written down so that the next start can clean up after a process that was killed."""

import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path

from toolwright.files.disk import digest_of
from toolwright.files.images import Images, common_start
from toolwright.files.lock import Locks, take_now
from toolwright.files.replace import TEMPORARY, write_in_place
from toolwright.private import make_folder
from toolwright.record import record


@record(frozen=True, slots=True, kw_only=True)
class Pending:
    """One file of a change under way. Contents are named by their hash in the journal.

    Without contents nothing but the temporary file can be there to clean up.
    """

    path: str
    temporary: str
    before: str | None = None
    after: str | None = None
    mode: int | None = None
    in_place: bool = False


Note = Callable[[Sequence[Pending]], None]


class Register:
    """One small file per change under way, locked by the process that makes it."""

    def __init__(self, folder: Path, images: Images, locks: Locks) -> None:
        self._folder = folder
        self._images = images
        self._locks = locks

    @contextmanager
    def entry(self) -> Iterator[Note]:
        """Gives a function that writes down what is about to happen; it stays written while the block runs."""
        path, handle = self._create()

        def note(pending: Sequence[Pending]) -> None:
            os.write(handle, json.dumps([asdict(item) for item in pending]).encode() + b"\n")

        try:
            yield note
        finally:
            path.unlink(missing_ok=True)
            os.close(handle)

    def recover(self) -> None:
        """Finish off what dead processes left: their temporary files go, half of a change is taken back.

        What the system does not let us finish now is left for the next start, and holds nobody up.
        """
        try:
            paths = sorted(self._folder.iterdir())
        except OSError:
            return
        for path in paths:
            with suppress(OSError):
                self._recover(path)

    def _create(self) -> tuple[Path, int]:
        make_folder(self._folder)
        while True:
            path = self._folder / f"{os.getpid()}-{os.urandom(4).hex()}.json"
            handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            # A starting process may have found the file before it was locked, and removed it.
            if take_now(handle) and os.fstat(handle).st_nlink:
                return path, handle
            os.close(handle)

    def _recover(self, path: Path) -> None:
        handle = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        try:
            if take_now(handle) and self._settle(_read(handle)):
                path.unlink(missing_ok=True)
        finally:
            os.close(handle)

    def _settle(self, pending: Sequence[Pending]) -> bool:
        """Whether the change needs no more care; not so while another process is writing one of its files."""
        with self._locks.try_hold(Path(item.path) for item in pending) as held:
            if not held:
                return False
            for item in pending:
                _remove_temporary(Path(item.temporary))
            states = [self._state(item) for item in pending]
            if all(state == "after" for state in states):
                return True
            for item, state in zip(pending, states, strict=True):
                if state in ("after", "mix"):
                    self._restore(item)
        return True

    def _state(self, item: Pending) -> str:
        try:
            data = Path(item.path).read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return "before" if item.before is None else "after" if item.after is None else "other"
        digest = digest_of(data)
        if digest in (item.before, item.after):
            return "before" if digest == item.before else "after"
        return "mix" if item.in_place and self._is_mix(item, data) else "other"

    def _is_mix(self, item: Pending, data: bytes) -> bool:
        """Whether the content is what an overwriting cut short leaves: new up to a point, old from there."""
        before, after = (self._images.get(digest or "") for digest in (item.before, item.after))
        if before is None or after is None:
            return False
        new = common_start(data, after)
        return data[new:] == before[new:]

    def _restore(self, item: Pending) -> None:
        path = Path(item.path)
        if item.before is None:
            path.unlink(missing_ok=True)
            return
        before = self._images.get(item.before)
        if before is None:
            return
        if item.in_place:
            write_in_place(path, before)
            return
        temporary = Path(item.temporary)
        temporary.write_bytes(before)
        if item.mode is not None:
            temporary.chmod(item.mode)
        temporary.replace(path)


def _read(handle: int) -> list[Pending]:
    """What was written down last. A line cut short does not count: what it tells of had not begun."""
    lines = os.read(handle, os.fstat(handle).st_size).splitlines(keepends=True)
    whole = [line for line in lines if line.endswith(b"\n")]
    try:
        return [Pending(**item) for item in json.loads(whole[-1])] if whole else []
    except (ValueError, TypeError):
        return []


def _remove_temporary(path: Path) -> None:
    if path.name.startswith(TEMPORARY):
        with suppress(FileNotFoundError, NotADirectoryError):
            path.unlink()
