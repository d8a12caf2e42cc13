"""The walls of a box: what is opened, kept, hidden and put in the place of something else."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TypedDict

from toolwright.process.box.access import Access
from toolwright.process.box.box import HIDDEN, Rung, Wall, walls
from toolwright.process.box.caches import CacheFolders
from toolwright.process.box.decoys import SETTINGS, Decoys
from toolwright.process.box.hidden_paths import Hiding
from toolwright.process.box.own_paths import OwnPlaces
from toolwright.process.box.read_only_paths import Guarding
from toolwright.process.paths.git_folders import Placeholder
from toolwright.process.paths.safe_stat import folders_between, is_in
from toolwright.record import record


class Mounted(TypedDict, total=False):
    """The fields of a box that say what is where."""

    walls: tuple[Wall, ...]
    nothing: Path
    settings: tuple[tuple[str, str], ...]
    placeholders: tuple[Placeholder, ...]


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
        granted: Sequence[Wall],
        *,
        writable: Sequence[Wall],
        caches: CacheFolders,
        decoys: Decoys,
        brokered: bool,
    ) -> Mounted:
        """Return the walls of one box. `granted` is what was allowed, and `writable` all the folders it may write."""
        changing = not access.read_only
        open_ = [wall.path for wall in writable]
        own, needed = self.own.keep(open_, by_name=rung == "seatbelt")
        closed = [wall.path for wall in own if wall.effect == "empty"]
        hidden = self.hiding.look(access, closed, decoys, shared=caches.places, mounts=rung != "seatbelt")
        named = self.guarding.of_git((*access.changes, *access.deletes))
        guarded, missing = list[Wall](), list[Placeholder]()
        if changing:
            guarded, missing = self.guarding.look(access.repositories, settings=not brokered, named=named)
        views = list(self._git_views(access, hidden, missing, decoys))
        elsewhere = [place for place in access.locked_elsewhere if is_in(place, open_)]
        restricted = [*(wall.path for wall in hidden if wall.why in HIDDEN), *elsewhere]
        folders = [wall.path for wall in granted if wall.effect == "write"]
        inside = (place for place in restricted if is_in(place, folders))
        on_the_way = (folder for place in inside for folder in folders_between(place, folders))
        around = (
            *writable,
            *guarded,
            *walls(access.pinned if changing else (), "stay"),
            *walls(on_the_way, "stay"),
            *(wall for wall in caches.walls if wall.effect != "write"),
            *own,
            *walls((*(access.locked if changing else ()), *elsewhere), "read", "rule"),
            *hidden,
            *(wall for wall in granted if wall.effect in ("read", "give")),
            *(wall for wall in granted if wall.effect == "open" and not is_in(wall.path, caches.places)),
            *(view for view in views if not is_in(view.path, named)),
            *(self._absent(access) if brokered else ()),
        )
        return {
            "walls": tuple(dict.fromkeys(around)),
            "nothing": decoys.nothing(),
            "settings": SETTINGS if any(view.path in named for view in views) else (),
            "placeholders": (*missing, *needed, *(Placeholder(path=place) for place in caches.missing)),
        }

    def look_without(
        self, access: Access, granted: Sequence[Wall], writable: Sequence[Wall], decoys: Decoys, *, brokered: bool
    ) -> Mounted:
        """Return what Landlock alone can say: which places are not among those that may be read. In a folder that may
        be written nothing can be left out."""
        own, _ = self.own.keep((), by_name=False)
        closed = [wall.path for wall in own if wall.effect == "empty"]
        hidden = self.hiding.look(access, closed, decoys, shared=(), mounts=False)
        open_ = [wall.path for wall in writable]
        unseen = (wall for wall in (*own, *hidden) if wall.effect == "empty" or wall.why in HIDDEN)
        around = (
            *writable,
            *(wall._replace(source=None) for wall in unseen if not is_in(wall.path, open_)),
            *(wall for wall in hidden if wall.effect == "show"),
            *(wall for wall in granted if wall.effect == "give"),
            *(self._absent(access) if brokered else ()),
        )
        return {"walls": tuple(around)}

    def _absent(self, access: Access) -> Iterator[Wall]:
        """Yield what the keeper is not to make."""
        named = (*access.changes, *access.deletes)
        return walls((place for place in self.guarding.absent() if not is_in(place, named)), "absent", "ours")

    def _git_views(
        self, access: Access, hidden: Sequence[Wall], missing: Sequence[Placeholder], decoys: Decoys
    ) -> Iterator[Wall]:
        masked = [wall.path for wall in hidden if wall.effect == "replace" and wall.why in HIDDEN]
        ours = [one.path for one in missing if one.content is None]
        for git in self.guarding.repositories(access.repositories):
            yield from decoys.git_view(*git, masked, access.veiled, ours)
