"""Texts made to cost: how long an edit or a difference of one takes, and how that grows when the text is twice as long.

Run: python bench/hostile.py

A growth of 2 is linear, one of 4 quadratic; it says the same on every machine. More than 5 is an error.
"""

import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import contextlib

from tests.edits.costly import COMPARED, SEARCHED

from toolwright.edits.replacement import Drift, replace
from toolwright.errors import ToolError
from toolwright.text.diff import compare

Pair = Callable[[int], tuple[str, str]]
WILD = 5.0
DRIFTS: tuple[Drift, ...] = ("merge", "replace")
NOTHING = 0.02
"""Seconds below which growth cannot be told from noise."""


def main() -> int:
    worst = 0.0
    for name, small, large in measured():
        growth = large / small if large > NOTHING else 0.0
        worst = max(worst, growth)
        print(
            f"{name:<52} {large * 1000:>8.0f} ms   {f'growth {growth:.1f}' if growth else 'too short to tell growth'}"
        )
    return 1 if worst > WILD else 0


def measured() -> Iterator[tuple[str, float, float]]:
    """The name of a case, and the CPU seconds it takes at half and at full size."""
    for case, (size, make) in SEARCHED.items():
        for drift in DRIFTS:

            def search(count: int, make: Pair = make, drift: Drift = drift) -> Callable[[], object]:
                text, old = make(count)
                return lambda: replace(text, old, "NEW", drift=drift)

            yield f"edit ({drift}): {case}", taken(search(size // 2)), taken(search(size))
    for case, (size, make) in COMPARED.items():

        def differ(count: int, make: Pair = make) -> Callable[[], object]:
            before, after = make(count)
            return lambda: compare(before, after).unified("f")

        yield f"difference: {case}", taken(differ(size // 2)), taken(differ(size))


def taken(work: Callable[[], object]) -> float:
    """The best of three."""
    times = []
    for _ in range(3):
        started = time.process_time()
        with contextlib.suppress(ToolError):
            work()
        times.append(time.process_time() - started)
    return min(times)


if __name__ == "__main__":
    sys.exit(main())
