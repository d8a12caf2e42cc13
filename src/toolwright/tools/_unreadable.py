"""Files that a rule keeps from being read, of which no tool shows anything, not to people or in records either."""

from toolwright.definition import ToolContext
from toolwright.files.paths import Place


def is_unreadable(ctx: ToolContext, place: Place) -> bool:
    return ctx.decide("read", place.absolute_pattern) == "deny"
