"""Everything about a box that takes mounts: what is opened, kept, hidden and put in the place of something else."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TypedDict

from toolwright.process.access import Access, Opened
from toolwright.process.box import Rung, Shown
from toolwright.process.caches import CacheFolders
from toolwright.process.decoys import SETTINGS, Decoys
from toolwright.process.gitfolders import Placeholder
from toolwright.process.guarding import Guarded, Guarding
from toolwright.process.hiding import Hidden, Hiding
from toolwright.process.own_places import OwnPlaces
from toolwright.process.sight import folders_between, is_in
from toolwright.record import record


class Mounted(TypedDict, total=False):
    """The fields of a box that take mounts."""

    granted: tuple[Path, ...]
    given: tuple[Path, ...]
    named: tuple[Path, ...]
    replaceable: tuple[Path, ...]
    absent: tuple[Path, ...]
    beside: tuple[Path, ...]
    closed: tuple[Path, ...]
    nothing: Path
    kept: tuple[Path, ...]
    hidden: tuple[Path, ...]
    covered: tuple[Path, ...]
    replaced: tuple[Shown, ...]
    settings: tuple[tuple[str, str], ...]
    private: tuple[Shown, ...]
    protected: tuple[Path, ...]
    installed: tuple[Path, ...]
    placeholders: tuple[Placeholder, ...]
    ruled: tuple[Path, ...]
    pinned: tuple[Path, ...]


@record(frozen=True, slots=True, kw_only=True)
class Mounting:
    """One for each opened project."""

    own: OwnPlaces
    guarding: Guarding
    hiding: Hiding

    def look(
        self,
        rung: Rung,
        access: Access,
        opened: Opened,
        *,
        writable: Sequence[Path],
        caches: CacheFolders,
        decoys: Decoys,
        brokered: bool,
    ) -> Mounted:
        """Return what the mounts of one box say. `opened` and `writable` are what it may write."""
        changing = not access.read_only
        own = self.own.keep(writable, by_name=rung == "seatbelt")
        hidden = self.hiding.look(access, own.closed, decoys, shared=caches.places, mounts=rung != "seatbelt")
        named = self.guarding.of_git((*access.changes, *access.deletes))
        guarded = self.guarding.look(access.repositories, settings=not brokered) if changing else Guarded()
        guarded = guarded.without(named)
        views = list(self._git_views(access, hidden, guarded, decoys))
        unchanged = tuple(view for view in views if not is_in(view.target, named))
        elsewhere = tuple(place for place in access.locked_elsewhere if is_in(place, writable))
        restricted = [place for place in (*hidden.hidden, *elsewhere) if is_in(place, opened.folders)]
        on_the_way = (folder for place in restricted for folder in folders_between(place, opened.folders))
        return {
            **_granted(opened, caches),
            **self._given(access, opened, brokered=brokered),
            "replaceable": access.replaceable,
            "closed": hidden.closed,
            "nothing": decoys.nothing(),
            "kept": hidden.kept,
            "hidden": hidden.hidden,
            "covered": access.covered,
            "replaced": (*hidden.replaced, *unchanged),
            "settings": SETTINGS if any(view.target in named for view in views) else (),
            "private": caches.private,
            "protected": (*guarded.protected, *caches.protected, *own.protected),
            "installed": own.protected,
            "placeholders": (*guarded.placeholders, *own.placeholders, *map(_folder, caches.missing)),
            "ruled": (*(access.locked if changing else ()), *elsewhere),
            "pinned": (*guarded.pinned, *(access.pinned if changing else ()), *own.pinned, *on_the_way),
        }

    def _given(self, access: Access, opened: Opened, *, brokered: bool) -> Mounted:
        """Return what the keeper is to change, and what it is not to make."""
        if not brokered:
            return {}
        named = (*access.changes, *access.deletes)
        absent = tuple(place for place in self.guarding.absent() if not is_in(place, named))
        return {"given": tuple(opened.given), "named": tuple(opened.folders), "absent": absent}

    def look_without(
        self, access: Access, opened: Opened, writable: Sequence[Path], decoys: Decoys, *, brokered: bool
    ) -> Mounted:
        """Return what Landlock alone can say: which places are not among those that may be read. In a folder that may
        be written nothing can be left out."""
        own = self.own.keep((), by_name=False)
        hidden = self.hiding.look(access, own.closed, decoys, shared=(), mounts=False)
        closed, out_of_sight = (
            tuple(place for place in places if not is_in(place, writable)) for places in (hidden.closed, hidden.hidden)
        )
        given = self._given(access, opened, brokered=brokered)
        return {**given, "closed": closed, "hidden": out_of_sight, "kept": hidden.kept}

    def _git_views(self, access: Access, hidden: Hidden, guarded: Guarded, decoys: Decoys) -> Iterator[Shown]:
        ours = [one.path for one in guarded.placeholders if one.content is None]
        for git in self.guarding.repositories(access.repositories):
            yield from decoys.git_view(*git, hidden.masked, access.veiled, ours)


def _folder(place: Path) -> Placeholder:
    return Placeholder(path=place)


def _granted(opened: Opened, caches: CacheFolders) -> Mounted:
    """Return the files that are opened one by one; caches are open as they are."""
    files = (place for place in opened.files if not is_in(place, caches.places))
    return {"granted": tuple(files), "beside": tuple(opened.kept)}
