"""The copies there are: made, found, looked at and removed; each a folder with a repository and a note beside it."""

import asyncio
import fcntl
import json
import os
import shutil
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import field, replace
from pathlib import Path
from types import MappingProxyType

from toolwright.copies.duplicate import duplicate
from toolwright.copies.git import Repository
from toolwright.errors import UsageError
from toolwright.machine.copy_facts import NOTE, variables_of
from toolwright.machine.folders import Folders
from toolwright.machine.private_files import is_locked, make_folder, update
from toolwright.protocols.json_text import read_json
from toolwright.record import record
from toolwright.session.slug import new_slug
from toolwright.text.ids import now

TRIAL = "a merge that is being tried"
"""The purpose of copies in which merges are tried, which go with the program that tries them."""
_EXCLUDED = ".git/info/exclude"
_LOCK = "lock"
NO_VARIABLES: Mapping[str, str] = MappingProxyType({})


@record(frozen=True, slots=True, kw_only=True)
class Copy:
    """A copy of a project, and what git of ours knows of how it began."""

    name: str
    project: Path
    place: Path
    """The folder that holds the copy, its repository and the note."""
    created: int = 0
    """Milliseconds since 1970."""
    number: int = 1
    """A small number that no other copy of the user has, for ports and names."""
    purpose: str = ""
    """The prompt that it was made for."""
    merged: str = ""
    """The tree that was merged into the project last."""
    variables: Mapping[str, str] = field(default_factory=dict[str, str])
    """Variables that its commands get beside those of the user."""

    @property
    def state(self) -> str:
        """Return what has become of it, in a word."""
        return "merged" if self.merged else ""

    async def has_unmerged_work(self) -> bool:
        """Tell whether it holds anything that neither the project nor an earlier merge has."""
        base = (await self.repository.git("rev-parse", "HEAD^{tree}")).strip()
        return await self.tree() not in (base, self.merged)

    @property
    def folder(self) -> Path:
        """Return the folder to work in; it has the name of the project."""
        return self.place / "work" / (self.project.name or "project")

    @property
    def repository(self) -> Repository:
        return Repository(base=self.place / "base.git", folder=self.folder)

    async def tree(self) -> str:
        """Keep what the copy holds now, and return it as a tree of its repository."""
        return await self.repository.snapshot(self.folder)

    async def changed(self) -> list[str]:
        """Return the files that have changed in the copy since it was made."""
        listed = await self.repository.git("diff", "--name-only", "-z", "--no-renames", "HEAD", await self.tree())
        return [path for path in listed.split("\0") if path]

    async def diff(self, *, summary: bool = False) -> str:
        """Return what has changed in the copy since it was made, for people or for `git apply`."""
        how = ("--stat=100",) if summary else ("--binary",)
        tree = await self.tree()
        return await self.repository.git("diff", "--no-color", "--no-ext-diff", "--find-renames", *how, "HEAD", tree)


@record(frozen=True, slots=True)
class Copies:
    """All copies of one user."""

    root: Path

    @classmethod
    def of(cls, folders: Folders) -> "Copies":
        return cls(folders.copies)

    async def create(
        self,
        project: Path,
        *,
        purpose: str = "",
        leave_out: Sequence[str] = (),
        variables: Mapping[str, str] = NO_VARIABLES,
        held: ExitStack | None = None,
    ) -> Copy:
        """Copy a project as it is now; what cannot be copied leaves nothing behind.

        While `held` is open, others can tell that it is in use, until it is whole in any case.
        """
        project = project.resolve()
        if project == self.root or project.is_relative_to(self.root):
            raise UsageError(f"{project} is a copy itself. Make another one of the project that it comes from.")
        if self.root.is_relative_to(project):
            raise UsageError(f"{project} holds the folder of all copies, {self.root}, so it cannot be copied.")
        for place in self._left_half_made():
            shutil.rmtree(place, onerror=_make_writable)
        copy = self._claim(project, purpose)
        own = variables_of(copy.name, copy.number, copy.folder, variables)
        copy = replace(copy, variables=own)
        with ExitStack() as making:
            (held or making).callback(os.close, _locked(copy.place / _LOCK))
            try:
                copy.folder.parent.mkdir(mode=0o700)
                await asyncio.to_thread(duplicate, project, copy.folder, leave_out)
                await copy.repository.begin(_excluded(project))
                self._note(copy)
            except OSError as error:
                self._remove(copy)
                raise UsageError(f"{error.filename or project} cannot be copied: {error.strerror}.") from error
            except BaseException:
                self._remove(copy)
                raise
        return copy

    def left_trials(self, project: Path) -> list[Copy]:
        """Return the copies of a project in which killed programs have tried merges."""
        trials = [one for one in self.found(project) if one.purpose == TRIAL]
        return [one for one in trials if not is_locked(one.place / _LOCK)]

    def _left_half_made(self) -> list[Path]:
        """Return what killed programs have left of copies that they made."""
        locks = self.root.glob(f"*/{_LOCK}") if self.root.is_dir() else ()
        return [one.parent for one in locks if not (one.parent / NOTE).exists() and not is_locked(one)]

    def found(self, project: Path | None = None) -> list[Copy]:
        """Return the copies, oldest first; those of one project, or all."""
        places = sorted(self.root.glob(f"*/{NOTE}")) if self.root.is_dir() else []
        copies = [copy for place in places if (copy := _read(place)) is not None]
        wanted = project.resolve() if project else None
        return sorted((one for one in copies if wanted in (None, one.project)), key=lambda one: one.created)

    def named(self, name: str, project: Path | None = None) -> Copy:
        """Return the copy that a person means by its name or its beginning; UsageError if there is none, or several."""
        copies = self.found(project)
        exact = [one for one in copies if one.name == name]
        fitting = exact or [one for one in copies if name and one.name.startswith(name)]
        if len(fitting) == 1:
            return fitting[0]
        known = ", ".join(one.name for one in fitting or copies)
        if fitting:
            raise UsageError(f"{name!r} may be any of these copies: {known}. Write the whole name.")
        hint = f"There are: {known}." if known else "There are none; tw copy create makes one."
        raise UsageError(f"There is no copy {name!r}. {hint}")

    async def note_merged(self, copy: Copy, *, whole: bool) -> None:
        """Remember that what a copy holds now is in its project."""
        if whole:
            self._note(replace(copy, merged=await copy.tree()))

    async def keep(self, copy: Copy, target: Path) -> None:
        """Make a folder of its own out of a copy: no copy any more, and nobody else's to remove."""
        try:
            await asyncio.to_thread(shutil.move, copy.folder, target)
        except OSError as error:
            raise UsageError(f"{target} cannot be made: {error.strerror or error}.") from error
        self._remove(copy)

    def drop(self, copy: Copy) -> None:
        """Remove a copy and all that it holds."""
        self._remove(copy)

    def _claim(self, project: Path, purpose: str) -> Copy:
        make_folder(self.root)
        taken = {one.number for one in self.found()}
        number = next(one for one in range(1, len(taken) + 2) if one not in taken)
        while True:
            name = new_slug()
            place = self.root / name
            try:
                place.mkdir(mode=0o700)
            except FileExistsError:
                continue
            return Copy(name=name, project=project, place=place, created=now(), number=number, purpose=purpose)

    def _note(self, copy: Copy) -> None:
        known = {"name": copy.name, "project": str(copy.project), "made": copy.created, "number": copy.number}
        known |= {"purpose": copy.purpose, "merged": copy.merged}
        known |= {"variables": dict(copy.variables)}
        update(copy.place / NOTE, lambda _: json.dumps(known))

    def _remove(self, copy: Copy) -> None:
        # The note goes first: what is half removed is no copy any more.
        (copy.place / NOTE).unlink(missing_ok=True)
        shutil.rmtree(copy.place, onerror=_make_writable)


def _locked(file: Path) -> int:
    """Make a file and lock it, until it is closed, however this process ends."""
    handle = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    fcntl.flock(handle, fcntl.LOCK_EX)
    return handle


def _read(note: Path) -> Copy | None:
    """Return the copy that a note tells of; None for one that is damaged."""
    try:
        note_fields = read_json(note.read_text("utf-8"))
        return Copy(
            name=note.parent.name,
            project=Path(note_fields["project"]),
            place=note.parent,
            created=int(note_fields["made"]),
            number=int(note_fields["number"]),
            purpose=str(note_fields["purpose"]),
            merged=str(note_fields["merged"]),
            variables={str(key): str(value) for key, value in note_fields.get("variables", {}).items()},
        )
    except (OSError, ValueError, TypeError, KeyError):
        return None


def _excluded(project: Path) -> str:
    """Return what the project's own git leaves out here beside its ignore files."""
    try:
        return (project / _EXCLUDED).read_text("utf-8", "surrogateescape")
    except OSError:
        return ""


def _make_writable(_: object, path: str, __: object) -> None:
    """Remove what a folder that may not be written holds on to."""
    entry = Path(path)
    for place in (entry.parent, entry):
        if place.is_dir() and not place.is_symlink():
            place.chmod(0o700)
    if entry.is_dir() and not entry.is_symlink():
        shutil.rmtree(entry, ignore_errors=True)
    else:
        entry.unlink(missing_ok=True)
