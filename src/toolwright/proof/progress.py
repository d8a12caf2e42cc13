"""Progress of work towards a goal: the same files or the same failures again mean that there is none."""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import field

from toolwright.proof.goal import CheckRun
from toolwright.record import record

SAME_TREE = 3
"""Number of checks that the same files may come to in vain."""
SAME_FAILURE = 6
"""The same for the same failure on other files."""
_VARIES = re.compile(r"0x[0-9a-fA-F]+|\d+([.:]\d+)*\s*(s|ms|sec|seconds)?\b|/tmp/\S+")


@record(slots=True)
class GoalProgress:
    """Files and failures of earlier rounds."""

    _trees: Counter[str] = field(default_factory=Counter[str])
    _failures: Counter[str] = field(default_factory=Counter[str])

    def stands_still(self, runs: Iterable[CheckRun], doubts: Iterable[str] = ()) -> str:
        """Why there is no use in going on after these runs; nothing as long as there may be."""
        failed = [one for one in runs if not one.held]
        remarks = [*doubts]
        tree = failed[0].tree if failed else " ".join(remarks)
        failure = "\n".join([*(_VARIES.sub("#", f"{one.command} {one.exit} {one.output}") for one in failed), *remarks])
        self._trees[tree] += 1
        self._failures[failure] += 1
        if self._trees[tree] >= SAME_TREE:
            return f"the files were the same at {SAME_TREE} checks, and none of them held"
        if self._failures[failure] >= SAME_FAILURE:
            return f"{SAME_FAILURE} checks failed in the same way"
        return ""
