"""Edits with a model's usual mistakes, made from real files: done as meant or refused, and never done otherwise."""

from collections import Counter

import pytest

from tests.edits.cases import Case, cases
from tests.edits.mistakes import MISTAKES
from tests.rounds import rounds
from toolwright.edits.replacement import Drift, replace
from toolwright.errors import ToolError

EACH = 12
UNHARMED = [
    "none",
    "line ends",
    "line numbers",
    "escaped breaks",
    "trailing blanks",
    "tabs and spaces",
]
"""Mistakes that leave no doubt about what is meant."""


def outcome(case: Case, drift: Drift = "merge") -> str:
    try:
        after = replace(case.before, case.old, case.new, drift=drift).text
    except ToolError as error:
        assert error.kind in ("not_found", "ambiguous", "same")  # noqa: PT017 - a refusal is an answer too
        return "refused"
    return "as meant" if after == case.after else f"otherwise: {case.id}"


@pytest.mark.parametrize("mistake", MISTAKES)
def test_an_edit_with_a_mistake_is_done_as_meant_or_refused(mistake: str) -> None:
    found = Counter(outcome(case) for case in cases(EACH, kinds=[mistake]))
    assert set(found) <= {"as meant", "refused"}
    assert found["as meant"] >= 1


@pytest.mark.parametrize("mistake", UNHARMED)
def test_a_mistake_in_blanks_or_numbers_hinders_nothing(mistake: str) -> None:
    assert Counter(outcome(case) for case in cases(EACH, 1, [mistake])) == {"as meant": EACH}


def test_most_edits_with_a_mistake_are_done_as_meant() -> None:
    found = Counter(outcome(case) for case in cases(12 * len(MISTAKES), 2))
    assert set(found) == {"as meant", "refused"}
    assert found["as meant"] > 0.7 * found.total()


def test_where_drift_is_refused_nothing_is_carried_over() -> None:
    kinds = ["a wrong word", "a line missing", "lines elided", "context"]
    assert set(Counter(outcome(case, "refuse") for case in cases(40, 3, kinds))) == {"refused"}


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10, rounds(11, 20)))
def test_very_many_edits_with_a_mistake_are_done_as_meant_or_refused(seed: int) -> None:
    assert set(Counter(outcome(case) for case in cases(1000, seed))) == {"as meant", "refused"}
