"""Names of permissions that are slips of the pen: which known one is meant."""

from collections.abc import Collection

SHORTEST = 4
"""Letters from which a name that differs in one of them is a slip and not another name."""
LONGEST = 60
NEAR = 0.85


def slip_of(name: object, known: Collection[str]) -> str:
    """The known name of which this is a slip: one letter wrong, missing, too many or in the wrong place."""
    if not isinstance(name, str) or not _may_be_one(name, known):
        return ""
    from rapidfuzz.distance import OSA

    longer = (one for one in known if max(len(name), len(one)) >= SHORTEST)
    return next((one for one in longer if OSA.distance(name, one, score_cutoff=1) == 1), "")


def meant_by(name: object, known: Collection[str]) -> str:
    """The known name that is meant by this one, which is a slip of it or resembles it."""
    if not isinstance(name, str) or not _may_be_one(name, known):
        return ""
    from difflib import get_close_matches

    return slip_of(name, known) or next(iter(get_close_matches(name, known, n=1, cutoff=NEAR)), "")


def _may_be_one(name: str, known: Collection[str]) -> bool:
    return name not in known and len(name) <= LONGEST and not set(name) & set("*?")
