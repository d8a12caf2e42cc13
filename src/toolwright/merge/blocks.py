"""Texts in named blocks, such as the functions of a module, merged block by block."""

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

Key = tuple[str, ...]


class NamedBlock(NamedTuple):
    """A piece of a text under a name that stays the same when its words change."""

    key: Key
    text: str


class Conflict(Exception):
    """Both sides changed the same thing in different ways; its words say which."""


Within = Callable[[Key, str, str, str], str | None]
"""Merges one block that both sides changed: its key, the three texts (none before is empty); None if it cannot."""
"""Merges one block that both sides changed: its key, the three texts; None where it cannot."""


def merge_blocks(
    within: Within, base: Sequence[NamedBlock], ours: Sequence[NamedBlock], theirs: Sequence[NamedBlock]
) -> list[NamedBlock]:
    """Return the blocks of both sides together; raise Conflict where one side contradicts the other."""
    texts = [dict(side) for side in (base, ours, theirs)]
    order = _order(*(list(side) for side in texts))
    result = [(key, _block(key, texts, within)) for key in order]
    return [NamedBlock(key, text) for key, text in result if text is not None]


def _block(key: Key, texts: Sequence[Mapping[Key, str]], within: Within) -> str | None:
    base, ours, theirs = (side.get(key) for side in texts)
    if ours == theirs or theirs == base:
        return ours
    if ours == base:
        return theirs
    if ours is None or theirs is None:
        raise Conflict(f"one side changes {_name(key)}, the other removes it")
    merged = within(key, base or "", ours, theirs)
    if merged is None:
        raise Conflict(f"both sides {'add' if base is None else 'change'} {_name(key)}")
    return merged


def _name(key: Key) -> str:
    return " ".join(key)[:60]


def _order(base: Sequence[Key], ours: Sequence[Key], theirs: Sequence[Key]) -> list[Key]:
    """Return all keys in the order of ours, with what theirs moved and added behind its neighbours there."""
    mine, its = _moved(base, ours), _moved(base, theirs)
    shared = [key for key in ours if key in theirs]
    if mine & its and shared != [key for key in theirs if key in ours]:
        raise Conflict(f"both sides move {_name(min(mine & its))}")
    result = [key for key in ours if key not in its]
    before, there = set(base), set(theirs)
    for number, key in enumerate(theirs):
        if key in result:
            continue
        above = next((one for one in reversed(theirs[:number]) if one in result), None)
        at = 0 if above is None else result.index(above) + 1
        # Behind what the first side has added at the same place, so that both additions keep together.
        while key not in before and at < len(result) and result[at] not in before and result[at] not in there:
            at += 1
        result.insert(at, key)
    return result


def _moved(base: Sequence[Key], side: Sequence[Key]) -> set[Key]:
    """Return the fewest keys that a side must have moved: those outside of the longest run that kept its order."""
    places = {key: number for number, key in enumerate(base)}
    kept = [key for key in side if key in places]
    ends, before = list[int](), list[int]()
    tails = list[int]()
    for number, key in enumerate(kept):
        at = bisect_left(tails, places[key])
        before.append(ends[at - 1] if at else -1)
        tails[at : at + 1], ends[at : at + 1] = [places[key]], [number]
    run, number = set[Key](), ends[-1] if ends else -1
    while number >= 0:
        run.add(kept[number])
        number = before[number]
    return {key for key in kept if key not in run}
