"""Noticing that a model goes round in circles: the same call, or the same few calls, over and over."""

import json
from collections.abc import Iterable
from dataclasses import field

from toolwright.definition import Call
from toolwright.record import record

TIMES = 3
"""How often the same must come in a row before the user is asked."""
LONGEST_CYCLE = 8


@record(slots=True)
class Repeats:
    """The calls of a turn, across its steps, as far back as matters."""

    _seen: list[str] = field(default_factory=list[str])

    def circles(self, call: Call) -> bool:
        """Whether this call is the third of its kind in a row, or ends the third round of a cycle."""
        self.recall([call])
        return any(self._repeats(length) for length in range(1, LONGEST_CYCLE + 1))

    def recall(self, calls: Iterable[Call]) -> None:
        """Calls that were made, whatever came of them."""
        self._seen += (json.dumps([call.tool, call.arguments], sort_keys=True, default=str) for call in calls)
        del self._seen[: -LONGEST_CYCLE * TIMES]

    def approved(self) -> None:
        """The user says go on: begin to count anew."""
        self._seen.clear()

    def _repeats(self, length: int) -> bool:
        recent = self._seen[-length * TIMES :]
        if len(recent) < length * TIMES:
            return False
        cycle = recent[:length]
        return all(recent[start : start + length] == cycle for start in range(0, len(recent), length))
