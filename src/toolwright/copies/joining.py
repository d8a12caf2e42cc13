"""The changes of a copy carried over to another state of the same project: file by file, never by a guess."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field

from toolwright.copies.git import Repository
from toolwright.copies.trees import LINK, NESTED, RUN, Difference, Entry, contents, differences, entries
from toolwright.errors import ToolwrightError
from toolwright.merge.blocks import Conflict
from toolwright.merge.texts import merge_texts
from toolwright.record import record


@record(frozen=True, slots=True)
class File:
    """Content that a file is to have: its bytes, or where a link leads."""

    data: bytes
    mode: str

    @property
    def link(self) -> bool:
        return self.mode == LINK

    @property
    def executable(self) -> bool:
        return self.mode == RUN


@record(frozen=True, slots=True)
class Clash:
    """A file whose changes contradict each other, and how."""

    path: str
    reason: str
    ours: str = ""
    """Diff of what the project, and what was merged before, has made of it."""
    theirs: str = ""
    """Diff of what the copy has made of it."""


@record(slots=True)
class JoinedTrees:
    """Result of a merge: what becomes of files, and what could not be put together."""

    files: dict[str, File | None] = field(default_factory=dict[str, File | None])
    """By path; None for a file that goes."""
    clashes: list[Clash] = field(default_factory=list[Clash])
    sources: dict[str, str] = field(default_factory=dict[str, str])
    """For a file that was moved: the path that it had."""


async def joined(repository: Repository, base: str, ours: str, theirs: str) -> JoinedTrees:
    """Put what the trees `ours` and `theirs` made of the tree `base` together, as changes of `ours`."""
    mine = await differences(repository, base, ours)
    other = await differences(repository, base, theirs)
    there = await entries(repository, ours)
    moves = {one.source: one for one in mine if one.kind == "moved"}
    changed = {one.source: one for one in mine if one.kind in ("changed", "moved", "removed")}
    blobs = [
        entry.blob for one in (*mine, *other) for entry in (one.before, one.after) if entry and entry.mode != NESTED
    ]
    held = await contents(repository, blobs)
    result = JoinedTrees()
    folders = {above for path in there for above in _above(path)}
    for difference in other:
        try:
            _carry_over(difference, _Side(there, moves, changed, folders), held, result)
        except Conflict as conflict:
            result.clashes.append(Clash(difference.path, str(conflict)))
    return result


@record(frozen=True, slots=True)
class _Side:
    """State of the other side: its files, what it has moved and changed, and its folders."""

    files: Mapping[str, Entry]
    moves: Mapping[str, Difference]
    changed: Mapping[str, Difference]
    folders: set[str]


def _carry_over(difference: Difference, side: _Side, held: Mapping[str, bytes], result: JoinedTrees) -> None:
    """Carry one change over to the other side; raise Conflict where both cannot be had."""
    if NESTED in {entry.mode for entry in (difference.before, difference.after) if entry}:
        raise Conflict("it is a repository within the project, which is merged by itself")
    if difference.kind == "made":
        _require_room(difference.path, side)
        present = side.files.get(difference.path)
        if present is not None and present != difference.after:
            result.files[difference.path] = _both(difference.path, None, present, _is_there(difference.after), held)
        elif present is None:
            result.files[difference.path] = _file(_is_there(difference.after), held)
        return
    theirs = side.changed.get(difference.source)
    where = side.moves[difference.source].path if difference.source in side.moves else difference.source
    if difference.kind == "removed":
        if theirs is not None and theirs.kind != "removed":
            raise Conflict("one side changes it, the other removes it")
        if theirs is None:
            result.files[where] = None
        return
    if theirs is not None and theirs.kind == "removed":
        raise Conflict("one side changes it, the other removes it")
    target = _target(difference, where, side)
    present = side.files[where]
    merged = _both(target, difference.before, present, _is_there(difference.after), held)
    if target != where:
        _require_room(target, side)
        if target in side.files:
            raise Conflict(f"{difference.source} was moved to it, and the other side has a file there")
        result.files[where] = None
        result.sources[target] = where
    if target != where or merged != _file(present, held):
        result.files[target] = merged


def _target(difference: Difference, where: str, side: _Side) -> str:
    """Return where a file is to be that one side, or both, may have moved."""
    if difference.kind != "moved" or where == difference.path:
        return where
    if difference.source in side.moves:
        raise Conflict(f"both sides move {difference.source}, to {difference.path} and to {where}")
    return difference.path


def _both(path: str, base: Entry | None, ours: Entry, theirs: Entry, held: Mapping[str, bytes]) -> File:
    """Put two versions of a file together, with what they are: links, programs or plain files."""
    if ours.mode == NESTED:
        raise Conflict("the other side has a repository in its place")
    mode = _one_of(base.mode if base else None, ours.mode, theirs.mode, "both sides change what kind of file it is")
    if ours.blob == theirs.blob or (base is not None and base.blob == theirs.blob):
        return File(held[ours.blob], mode)
    if base is not None and base.blob == ours.blob:
        return File(held[theirs.blob], mode)
    if mode == LINK:
        raise Conflict("both sides lead the link elsewhere")
    texts = [_decode(held[entry.blob]) if entry else "" for entry in (base, ours, theirs)]
    merged = merge_texts(path, *texts)
    return File(merged.encode("utf-8", "surrogateescape"), mode)


def _one_of(base: str | None, ours: str, theirs: str, clash: str) -> str:
    if ours == theirs or theirs == base:
        return ours
    if ours == base:
        return theirs
    raise Conflict(clash)


def _decode(data: bytes) -> str:
    if b"\0" in data:
        raise Conflict("both sides change it, and it is no text")
    return data.decode("utf-8", "surrogateescape")


def _file(entry: Entry, held: Mapping[str, bytes]) -> File:
    return File(held[entry.blob], entry.mode)


def _is_there(entry: Entry | None) -> Entry:
    if entry is None:
        raise ToolwrightError("Git told of a file that is not there.")
    return entry


def _require_room(path: str, side: _Side) -> None:
    """Raise Conflict where a folder stands in the place of a file, or a file in that of a folder."""
    if path in side.folders:
        raise Conflict("the other side has a folder of that name")
    if any(above in side.files for above in _above(path)):
        raise Conflict("the other side has a file in the place of its folder")


def _above(path: str) -> Iterator[str]:
    while "/" in path:
        path = path.rpartition("/")[0]
        yield path


def names_of(clashes: Sequence[Clash]) -> str:
    """Return the files that contradict each other, for a sentence."""
    names = ", ".join(one.path for one in clashes[:5])
    return names + (f" and {len(clashes) - 5} more" if len(clashes) > 5 else "")
