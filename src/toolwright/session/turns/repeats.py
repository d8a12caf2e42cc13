"""Noticing that a model goes round in circles: the same call, or the same few calls, over and over."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import field

from toolwright.definition import Call, Tool
from toolwright.record import record
from toolwright.session.budget import LimitReached

TIMES = 3
"""Times in a row that the same may come before the user is asked; so many steps of refusals end the turn."""
LONGEST_CYCLE = 8


@record(slots=True)
class Repeats:
    """The calls of a turn, across its steps, as far back as matters."""

    tools: Mapping[str, Tool] = field(default_factory=dict[str, Tool])
    """Those that are loaded, by their ids."""
    _seen: list[str] = field(default_factory=list[str])
    _refused: bool = False
    """True if a call of this step was refused for going round."""
    _steps: int = 0
    """Number of steps in a row with such a call."""

    def circles(self, call: Call) -> bool:
        """Tell whether this call is the third of its kind in a row, or ends the third round of a cycle."""
        self.recall([call])
        return any(self._repeats(length) for length in range(1, LONGEST_CYCLE + 1))

    def recall(self, calls: Iterable[Call]) -> None:
        """Take in calls that were made, whatever came of them, without what only tells people what they are for."""
        for call in calls:
            caption = self.tools[call.tool].caption if call.tool in self.tools else ""
            done = call.arguments
            if caption and isinstance(done, dict):
                done = {name: value for name, value in done.items() if name != caption}
            self._seen.append(json.dumps([call.tool, done], sort_keys=True, default=str))
        del self._seen[: -LONGEST_CYCLE * TIMES]

    def approved(self) -> None:
        """The user says go on: begin to count anew."""
        self._seen.clear()

    def refused(self) -> None:
        """The call is not to be made again, and the model has been told."""
        self._refused = True

    def next_step(self) -> None:
        """Raise LimitReached if the model goes round although it was told, step after step: each costs money."""
        self._steps = self._steps + 1 if self._refused else 0
        self._refused = False
        if self._steps >= TIMES:
            raise LimitReached(
                f"The model has made the same calls over and over, and went on when they were refused {TIMES} times."
                " Prompt it in other words to go on."
            )

    def _repeats(self, length: int) -> bool:
        recent = self._seen[-length * TIMES :]
        if len(recent) < length * TIMES:
            return False
        cycle = recent[:length]
        return all(recent[start : start + length] == cycle for start in range(0, len(recent), length))
