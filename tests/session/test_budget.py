"""What a turn may take: how a budget is given, the lower of two, and when it is used up."""

import re
from typing import Any

import pytest

from toolwright.definition import Call, Result
from toolwright.errors import UsageError
from toolwright.session.budget import Budget, LimitReached, Spending, budget_of


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"steps": 1.5}, "steps=1.5: give a whole number of more than 0"),
        ({"steps": 0}, "steps=0: give a whole number"),
        ({"tokens": -1}, "tokens=-1: give a whole number"),
        ({"steps": True}, "steps=True: give a whole number"),
        ({"cost": "1"}, "cost='1': give a number of more than 0"),
        ({"cost": 0}, "cost=0: give a number"),
        ({"seconds": False}, "seconds=False: give a number"),
        ({"step": 3}, "'step', which is no limit. There are: steps, tokens, cost, seconds"),
        (7, "budget=7 is no budget: give Budget(steps=, tokens=, cost=, seconds=)"),
    ],
)
def test_a_budget_that_is_none_is_refused_with_what_to_give(given: Any, problem: str) -> None:
    with pytest.raises(UsageError, match=re.escape(problem)):
        budget_of(given)


def test_a_budget_is_given_as_one_or_by_the_names_of_its_limits() -> None:
    assert budget_of(None) is None
    assert budget_of(Budget(steps=2)) == Budget(steps=2) == budget_of({"steps": 2})
    assert budget_of({"steps": None, "cost": 0.5, "seconds": 3}) == Budget(steps=None, cost=0.5, seconds=3)


def test_of_two_budgets_the_lower_limit_holds() -> None:
    one = Budget(steps=3, tokens=None, cost=2.0, seconds=None)
    other = Budget(steps=5, tokens=100, cost=1.0, seconds=None)
    assert one.within(other) == other.within(one) == Budget(steps=3, tokens=100, cost=1.0, seconds=None)


@pytest.mark.parametrize(
    ("budget", "spent", "words"),
    [
        (Budget(steps=3), {"steps": 2}, ""),
        (Budget(steps=3), {"steps": 3}, "3 of 3 steps"),
        (Budget(tokens=1_000_000), {"tokens": 1_000_000}, "1000000 of 1000000 tokens"),
        (Budget(tokens=10), {"tokens": 9}, ""),
        (Budget(cost=0.5), {"cost": 0.5}, "0.5 of 0.5 dollars"),
        (Budget(cost=0.5), {"cost": 0.49}, ""),
        (Budget(steps=None), {"steps": 10_000, "tokens": 10_000_000, "cost": 100.0}, ""),
        (Budget(), {"steps": 500}, "500 of 500 steps"),
    ],
)
def test_a_turn_ends_when_one_of_its_limits_is_reached(budget: Budget, spent: dict[str, Any], words: str) -> None:
    for spending in (Spending(budget=budget, **spent), Spending(above=Spending(budget=budget, **spent))):
        if not words:
            spending.check()
            continue
        with pytest.raises(LimitReached, match=re.escape(f"The turn has used {words}. Raise the budget to go on.")):
            spending.check()


def test_what_a_subagent_takes_counts_for_every_turn_above_it() -> None:
    top = Spending()
    middle = Spending(above=top)
    Spending(above=middle).add(10, 0.5, input=7, output=3)
    for spending in (middle, top):
        assert (spending.tokens, spending.cost, spending.input, spending.output) == (10, 0.5, 7, 3)


def test_the_turn_with_the_least_time_says_how_much_is_left() -> None:
    top = Spending(budget=Budget(seconds=1000))
    assert Spending().seconds_left() is None
    assert Spending(budget=Budget(seconds=1), started=-1000.0).seconds_left() == 0.0
    above = Spending(above=top).seconds_left()
    assert above is not None
    assert 0 < above <= 1000
    sooner = Spending(above=top, budget=Budget(seconds=10)).seconds_left()
    assert sooner is not None
    assert sooner <= 10


def test_only_calls_that_were_refused_are_told_to_the_turns_above() -> None:
    top = Spending()
    below = Spending(above=Spending(above=top))
    below.note_refused("ses_1", Call(id="call_1", tool="read", arguments={}), Result(title="", output="fine"))
    assert top.refused_below == []
    assert below.refused_below == []
