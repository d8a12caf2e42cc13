"""Two evaluations side by side, and which of their differences are more than noise."""

from collections.abc import Callable, Sequence
from random import Random
from typing import Any

from toolwright.evaluate.results import TaskResult
from toolwright.record import record

SAMPLES = 4000
"""How often chance is tried."""
FEWEST = 6
"""Tasks or runs below which nothing is more than noise: five coins fall alike once in sixteen times."""

_TINY = 1e-12
"""By which sums of the same numbers may differ."""

MEASURES: dict[str, Callable[[TaskResult], float]] = {
    "pass_rate": lambda one: float(one.passed),
    "cost": lambda one: one.cost,
    "seconds": lambda one: one.seconds,
    "tokens": lambda one: float(one.tokens),
    "steps": lambda one: float(one.steps),
}

Values = list[list[float]]
"""For each task the values of its runs."""


@record(frozen=True, slots=True, kw_only=True)
class RunDifference:
    """One measure in both evaluations, and between which bounds the difference lies 95 times in 100."""

    a: float
    b: float
    low: float
    high: float
    significant: bool

    def as_json(self) -> dict[str, Any]:
        return {
            "a": self.a,
            "b": self.b,
            "difference": self.b - self.a,
            "interval": [self.low, self.high],
            "significant": self.significant,
        }


def compare(a: Sequence[TaskResult], b: Sequence[TaskResult]) -> dict[str, RunDifference]:
    """Each measure of the second evaluation against the first, over the tasks that both have, or over all."""
    shared = {one.id for one in a} & {one.id for one in b}
    chosen = ([one for one in a if one.id in shared], [one for one in b if one.id in shared]) if shared else (a, b)
    return {
        name: _difference(_values(chosen[0], measure), _values(chosen[1], measure), paired=bool(shared))
        for name, measure in MEASURES.items()
    }


def _values(results: Sequence[TaskResult], measure: Callable[[TaskResult], float]) -> Values:
    by_task: dict[str, list[float]] = {}
    for one in sorted(results, key=lambda one: (one.id, one.repeat)):
        by_task.setdefault(one.id, []).append(measure(one))
    return list(by_task.values())


def _difference(a: Values, b: Values, *, paired: bool) -> RunDifference:
    """The bounds by the bootstrap: tasks are drawn anew, of few tasks their runs. What is more than noise must lie on
    one side of nothing, and seldom come about when it is left to chance which evaluation a value belongs to."""
    chance = Random(0)  # noqa: S311 - statistics, and the same answer every time
    if paired and len(a) >= FEWEST:
        pairs = [_mean(theirs) - _mean(ours) for ours, theirs in zip(a, b, strict=True)]
        drawn = [_mean(chance.choices(pairs, k=len(pairs))) for _ in range(SAMPLES)]
        mixed = [_mean([one * chance.choice((-1, 1)) for one in pairs]) for _ in range(SAMPLES)]
        enough = True
    elif paired:
        drawn = [_mean_of_runs(b, chance) - _mean_of_runs(a, chance) for _ in range(SAMPLES)]
        both = list(zip(a, b, strict=True))
        mixed = [_mean([_mixed(ours, theirs, chance) for ours, theirs in both]) for _ in range(SAMPLES)]
        enough = min(sum(map(len, a)), sum(map(len, b))) >= FEWEST
    else:
        ours, theirs = [_mean(one) for one in a], [_mean(one) for one in b]
        drawn = [_drawn_mean(theirs, chance) - _drawn_mean(ours, chance) for _ in range(SAMPLES)]
        mixed = [_mixed(ours, theirs, chance) for _ in range(SAMPLES)]
        enough = min(len(ours), len(theirs)) >= FEWEST
    drawn.sort()
    low, high = drawn[int(SAMPLES * 0.025)], drawn[int(SAMPLES * 0.975) - 1]
    mean_a, mean_b = (_mean([_mean(one) for one in values]) for values in (a, b))
    seldom = sum(abs(one) >= abs(mean_b - mean_a) - _TINY for one in mixed) < SAMPLES * 0.05
    return RunDifference(a=mean_a, b=mean_b, low=low, high=high, significant=enough and seldom and not low <= 0 <= high)


def _mixed(ours: Sequence[float], theirs: Sequence[float], chance: Random) -> float:
    """The difference if the values are dealt out anew."""
    dealt = [*ours, *theirs]
    chance.shuffle(dealt)
    return _mean(dealt[len(ours) :]) - _mean(dealt[: len(ours)])


def _mean_of_runs(values: Values, chance: Random) -> float:
    return _mean([_drawn_mean(runs, chance) for runs in values])


def _drawn_mean(values: Sequence[float], chance: Random) -> float:
    return _mean(chance.choices(values, k=len(values))) if values else 0.0


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0
