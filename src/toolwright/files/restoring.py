"""Files and folders put back: what is there against what is known of it, and all of it changed."""

import errno
import os
import shutil
import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from toolwright.files.attributes import Attributes
from toolwright.files.body import Folder, Thing, name_of, thing_at
from toolwright.files.held import hold
from toolwright.files.journal import JournalEntry
from toolwright.files.replace import Change
from toolwright.files.store import Files

WHOLE = "whole folder:"


class Restoration(Protocol):
    """One place on its way back."""

    @property
    def path(self) -> str: ...
    @property
    def present(self) -> Thing: ...
    @property
    def restored(self) -> Thing: ...
    @property
    def attributes(self) -> Attributes | None: ...
    @property
    def emptied(self) -> tuple[str, ...]: ...
    @property
    def apart(self) -> bool: ...
    @property
    def calls(self) -> tuple[str, ...]: ...


def present_as(path: str, last: JournalEntry, known: Collection[str] = ()) -> Thing:
    """Return what is at a path now. A folder that was new as a whole is so still if nobody has changed anything in it.

    `known` are the places of all changes there is a record of.
    """
    try:
        thing = thing_at(Path(path))
    except OSError as problem:
        if problem.errno != errno.ELOOP:
            raise
        # A link leads elsewhere on the way: nothing is at this path itself.
        return None
    if not isinstance(thing, Folder) or not (last.after or "").startswith(WHOLE):
        return thing
    since = int(last.time * 1e9)
    changed = any(changed > since and place not in known for place, changed in _changes_below(path))
    return thing if changed else replace(thing, whole=True)


async def carry_out(files: Files, plans: Sequence[Restoration], *, session_id: str, call_id: str) -> None:
    """Put everything back: missing folders first, then all files at once, and last what is too much.

    Where a folder has taken the place of a file, or the other way round, that goes before anything else.
    """
    folders = _Folders(files, call_id)
    contents = [plan for plan in plans if not _has_folder(plan)]
    deeper = sorted((plan for plan in plans if _has_folder(plan)), key=lambda plan: plan.path, reverse=True)
    swapped = [plan for plan in deeper if not (plan.restored is None or isinstance(plan.restored, Folder))]
    if swapped or any(not (plan.present is None or isinstance(plan.present, Folder)) for plan in deeper):
        going = [plan for plan in contents if plan.restored is None]
        await files.commit(_changes(files, going), session_id=session_id, call_id=call_id, undoes=True)
        contents = [plan for plan in contents if plan.restored is not None]
        folders.take_away(deeper)
        folders.record(session_id)
    folders.make(deeper)
    changes = [*_changes(files, contents), *_changes(files, swapped)]
    await files.commit(changes, session_id=session_id, call_id=call_id, undoes=True)
    folders.take_away(deeper)
    folders.give_modes(deeper)
    folders.record(session_id)


def _has_folder(plan: Restoration) -> bool:
    return isinstance(plan.present, Folder) or isinstance(plan.restored, Folder)


def _changes(files: Files, plans: Iterable[Restoration]) -> list[Change]:
    return [
        Change(
            place=files.tree.exactly(Path(plan.path)),
            before=None if isinstance(plan.present, Folder) else plan.present,
            after=None if isinstance(plan.restored, Folder) else plan.restored,
            like=plan.attributes,
            emptied=tuple(map(Path, plan.emptied)),
            apart=plan.apart,
        )
        for plan in plans
    ]


class _Folders:
    """The folders of one undo, and what the journal is to know of them."""

    def __init__(self, files: Files, call_id: str) -> None:
        self._entries = list[JournalEntry]()
        self._files = files
        self._call_id = call_id
        self._gone = set[str]()

    def record(self, session_id: str) -> None:
        """Write down what was done so far."""
        entries, self._entries = self._entries, []
        if entries:
            self._files.journal.record(session_id, entries)

    def take_away(self, plans: Iterable[Restoration]) -> None:
        """Remove what is no longer to be there, the innermost first. A folder in which something is left stays."""
        for plan in plans:
            place = Path(plan.path)
            if plan.path in self._gone or isinstance(plan.restored, Folder) == isinstance(plan.present, Folder):
                continue
            if plan.present is None:
                continue
            with suppress(OSError), hold(place.parent) as around:
                if not isinstance(plan.present, Folder):
                    self._files.journal.images.keep(plan.present) if isinstance(plan.present, bytes) else None
                    around.remove(place.name)
                elif plan.present.whole:
                    self._put_aside(place)
                else:
                    around.remove_folder(place.name)
                self._gone.add(plan.path)
                if isinstance(plan.present, Folder):
                    # What comes in its place is written down when it does.
                    self._note(plan, None)

    def make(self, plans: Sequence[Restoration]) -> None:
        """Make what is to be there again, the outermost first."""
        for plan in reversed(plans):
            if not isinstance(plan.restored, Folder) or isinstance(plan.present, Folder):
                continue
            place = Path(plan.path)
            place.parent.mkdir(parents=True, exist_ok=True)
            kept = self._files.journal.folder_kept(f"{plan.calls[-1]}:{plan.path}")
            with suppress(FileExistsError), hold(place.parent) as around:
                if plan.restored.whole and kept.is_dir():
                    shutil.move(kept, place)
                else:
                    around.make_folder(place.name)
                self._note(plan, plan.restored)

    def give_modes(self, plans: Iterable[Restoration]) -> None:
        """In the end: a folder may be one that nothing can be put into."""
        for plan in plans:
            restored = plan.restored
            if not isinstance(restored, Folder) or restored.whole:
                continue
            with suppress(OSError), hold(Path(plan.path)) as folder:
                # A folder that is only held cannot be changed by its descriptor itself.
                Path(f"/proc/self/fd/{folder.handle}").chmod(restored.mode)
                if isinstance(plan.present, Folder):
                    self._note(plan, plan.restored)

    def _put_aside(self, place: Path) -> None:
        """Keep a whole folder, so that it can be made again."""
        kept = self._files.journal.folder_kept(f"{self._call_id}:{place}")
        shutil.rmtree(kept, ignore_errors=True)
        shutil.move(place, kept)

    def _note(self, plan: Restoration, restored: Thing) -> None:
        before, after = name_of(plan.present), name_of(restored)
        self._entries.append(
            JournalEntry(
                call_id=self._call_id,
                path=plan.path,
                before=before,
                after=after,
                undoes=True,
                aside=True,
                time=time.time(),
            )
        )


def _changes_below(folder: str) -> Iterator[tuple[str, int]]:
    """Yield everything below a folder, and when the system last saw a change of it."""
    waiting = [folder]
    while waiting:
        with suppress(OSError), os.scandir(waiting.pop()) as entries:
            for entry in entries:
                with suppress(OSError):
                    yield entry.path, entry.stat(follow_symlinks=False).st_ctime_ns
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
