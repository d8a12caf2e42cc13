"""Text in place of a file that a rule keeps from being read: that it changed, and nothing of its content."""

from toolwright.files.body import Body

BEFORE = "(not shown, because a rule keeps this file from being read: as it was before)\n"
AFTER = "(not shown, because a rule keeps this file from being read: as it is afterwards)\n"


def stand_ins(before: Body, after: Body) -> tuple[Body, Body]:
    """Return texts for both states, which differ if the states do; None stays None."""
    first = None if before is None else BEFORE.encode()
    if before == after:
        return first, first
    return first, None if after is None else AFTER.encode()
