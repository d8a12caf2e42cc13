"""Budget of a turn, and what the turn has taken of it, with what its subagents take."""

import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import field
from typing import TYPE_CHECKING, TypeVar

from toolwright.deadline import time_limit
from toolwright.definition import Call, Result
from toolwright.errors import ToolwrightError, UsageError
from toolwright.record import record

if TYPE_CHECKING:
    from toolwright.session.result import MadeCall

STEPS = 500
"""Replies of the model in one turn, where nobody has said otherwise: more is a model that has lost its way."""


class LimitReached(ToolwrightError):
    """A budget is used up. What was done stays done."""


@record(frozen=True, slots=True, kw_only=True)
class Budget:
    """Limits of one turn; None where nothing is set."""

    steps: int | None = STEPS
    tokens: int | None = None
    cost: float | None = None
    seconds: float | None = None

    def __post_init__(self) -> None:
        for name in ("steps", "tokens", "cost", "seconds"):
            limit, whole = getattr(self, name), name in ("steps", "tokens")
            known = isinstance(limit, int if whole else int | float) and not isinstance(limit, bool)
            if limit is not None and not (known and limit > 0):
                kind = "whole number" if whole else "number"
                raise UsageError(f"A budget has {name}={limit!r:.60}: give a {kind} of more than 0, or None.")

    def within(self, bounds: "Budget") -> "Budget":
        """The lower of both, limit by limit."""
        return Budget(
            steps=_lower(self.steps, bounds.steps),
            tokens=_lower(self.tokens, bounds.tokens),
            cost=_lower(self.cost, bounds.cost),
            seconds=_lower(self.seconds, bounds.seconds),
        )


def budget_of(budget: object) -> Budget | None:
    """The budget that a program gives, as a Budget or by the names of its limits; None for the usual one."""
    if budget is None or isinstance(budget, Budget):
        return budget
    known = list(Budget.__dataclass_fields__)
    if not isinstance(budget, Mapping):
        raise UsageError(f"budget={budget!r:.60} is no budget: give Budget({', '.join(f'{one}=' for one in known)}).")
    for name in budget:
        if name not in known:
            raise UsageError(f"budget= has {name!r:.60}, which is no limit. There are: {', '.join(known)}.")
    return Budget(**budget)


Number = TypeVar("Number", int, float)
T = TypeVar("T")


def _lower(limit: Number | None, other: Number | None) -> Number | None:
    return limit if other is None else other if limit is None else min(limit, other)


@record(slots=True, kw_only=True)
class Spending:
    """Spending of a turn. What a subagent takes counts for the turns above it as well."""

    budget: Budget = field(default_factory=Budget)
    above: "Spending | None" = None
    steps: int = 0
    tokens: int = 0
    input: int = 0
    output: int = 0
    cost: float = 0.0
    refused_below: "list[MadeCall]" = field(default_factory=list)
    """The calls of subagents that a rule or a person did not allow."""
    started: float = field(default_factory=time.monotonic)

    def add(self, tokens: int, cost: float, *, input: int = 0, output: int = 0) -> None:  # noqa: A002 - as elsewhere
        self.tokens += tokens
        self.input += input
        self.output += output
        self.cost += cost
        if self.above is not None:
            self.above.add(tokens, cost, input=input, output=output)

    def note_refused(self, session_id: str, call: Call, result: Result) -> None:
        """Tell the turns above of a call that was not allowed here; this one has it in its own records."""
        from toolwright.session.result import MadeCall

        arguments = call.arguments if isinstance(call.arguments, dict) else {}
        refused = MadeCall(tool=call.tool, arguments=arguments, result=result, id=call.id, session_id=session_id)
        above = self.above if refused.was_refused else None
        while above is not None:
            above.refused_below.append(refused)
            above = above.above

    def check(self) -> None:
        """Raise LimitReached if this turn, or one above it, has used its budget up."""
        budget = self.budget
        seconds = round(time.monotonic() - self.started, 1)
        used = (
            ("steps", self.steps, budget.steps),
            ("tokens", self.tokens, budget.tokens),
            ("dollars", self.cost, budget.cost),
            ("seconds", seconds, budget.seconds),
        )
        for what, amount, limit in used:
            if limit is not None and amount >= limit:
                raise LimitReached(
                    f"The turn has used {_plain(amount)} of {_plain(limit)} {what}. Raise the budget to go on."
                )
        if self.above is not None:
            self.above.check()

    def seconds_left(self) -> float | None:
        """Time until this turn, or one above it, has to stop; None without end."""
        limit = self.budget.seconds
        own = None if limit is None else max(0.0, self.started + limit - time.monotonic())
        above = self.above.seconds_left() if self.above is not None else None
        known = [left for left in (own, above) if left is not None]
        return min(known, default=None)


def _plain(number: float) -> str:
    """Never as 1e+06."""
    return f"{number:.4f}".rstrip("0").rstrip(".")


async def in_time(spending: Spending, steps: Callable[[], Awaitable[T]]) -> T:
    """Take the steps within the time that the budget leaves."""
    left = spending.seconds_left()
    if left is None:
        return await steps()
    try:
        async with time_limit(left) as limits:
            return await steps()
    except TimeoutError:
        if not limits.expired:
            raise
        spending.check()
        raise LimitReached("The turn has used up its time. Raise the budget to go on.") from None
