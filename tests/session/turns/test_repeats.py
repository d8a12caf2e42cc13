"""Circles: the same few calls three times over, up to the longest that is looked for."""

import pytest

from toolwright.definition import Call
from toolwright.session.budget import LimitReached
from toolwright.session.turns.repeats import LONGEST_CYCLE, TIMES, Repeats
from toolwright.tools.bash import bash


def rounds(length: int, times: int) -> list[Call]:
    return [
        Call(id=f"call_{turn}_{number}", tool="read", arguments={"filePath": f"{number}.py"})
        for turn in range(times)
        for number in range(length)
    ]


def test_the_longest_circle_is_of_eight_calls() -> None:
    assert (LONGEST_CYCLE, TIMES) == (8, 3)


@pytest.mark.parametrize("length", range(1, LONGEST_CYCLE + 1))
def test_the_last_call_of_the_third_round_ends_a_circle(length: int) -> None:
    repeats = Repeats()
    noticed = [repeats.circles(call) for call in rounds(length, TIMES)]
    assert noticed == [False] * (length * TIMES - 1) + [True]


def test_a_circle_of_nine_calls_is_none() -> None:
    repeats = Repeats()
    assert not any(repeats.circles(call) for call in rounds(LONGEST_CYCLE + 1, TIMES))


def test_two_rounds_are_no_circle_yet() -> None:
    repeats = Repeats()
    assert not any(repeats.circles(call) for call in rounds(4, TIMES - 1))


def test_after_a_yes_of_the_user_counting_begins_anew() -> None:
    repeats = Repeats()
    assert [repeats.circles(call) for call in rounds(1, 3)][-1]
    repeats.approved()
    assert not any(repeats.circles(call) for call in rounds(1, 2))


@pytest.mark.parametrize(
    ("steps", "stops"),
    [("RRR", True), ("RR", False), ("RR.RR", False), (".RRR", True), ("RR.RRR", True), ("....", False)],
)
def test_a_model_that_goes_on_after_refusals_is_stopped_at_the_third_step_in_a_row(steps: str, stops: bool) -> None:
    repeats = Repeats()
    stopped = False
    for step in steps:
        if step == "R":
            repeats.refused()
        try:
            repeats.next_step()
        except LimitReached:
            stopped = True
    assert stopped is stops


def test_what_only_tells_people_what_a_call_is_for_makes_no_difference() -> None:
    repeats = Repeats(tools={"bash": bash})
    calls = [
        Call(id=f"call_{number}", tool="bash", arguments={"command": "ls", "description": f"Look {number}"})
        for number in range(3)
    ]
    assert [repeats.circles(call) for call in calls] == [False, False, True]
    others = [
        Call(id=f"call_{number}", tool="other", arguments={"command": "ls", "description": f"Look {number}"})
        for number in range(3)
    ]
    assert not any(repeats.circles(call) for call in others)


def test_arguments_in_another_order_are_the_same_call() -> None:
    repeats = Repeats()
    orders: list[dict[str, str]] = [{"a": "1", "b": "2"}, {"b": "2", "a": "1"}, {"a": "1", "b": "2"}]
    assert [repeats.circles(Call(id="c", tool="t", arguments=order)) for order in orders][-1]
