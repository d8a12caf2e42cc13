"""Texts that took the reference seconds or minutes: each is answered. How fast, `bench/hostile.py` tells."""

from collections.abc import Callable

import pytest

from tests.edits.costly import COMPARED, SEARCHED
from tests.waiting import bounded_work
from toolwright.edits.chunks import apply_chunks
from toolwright.edits.replacement import Drift, replace
from toolwright.edits.sections import Chunk, Mark
from toolwright.errors import ToolError
from toolwright.text.diff import compare


def answered(work: Callable[[], object]) -> None:
    try:
        with bounded_work():
            work()
    except ToolError as error:
        assert error.kind in ("not_found", "ambiguous", "lines_not_found")  # noqa: PT017 - a refusal is an answer too


@pytest.mark.parametrize("drift", ["merge", "replace"])
@pytest.mark.parametrize("case", SEARCHED)
def test_what_is_not_found_is_told(case: str, drift: Drift) -> None:
    size, make = SEARCHED[case]
    text, old = make(size)
    answered(lambda: replace(text, old, "NEW", drift=drift))


def test_every_line_replaced_at_once() -> None:
    """W-P1b"""
    text = "".join(f"value {number} is old\n" for number in range(5_000))
    answered(lambda: replace(text, "old", "new", everywhere=True))
    answered(lambda: replace(text, "is  old", "is new", everywhere=True))


@pytest.mark.parametrize("case", COMPARED)
def test_a_difference_is_found_whatever_changed(case: str) -> None:
    size, make = COMPARED[case]
    before, after = make(size)
    answered(lambda: compare(before, after).unified("f"))


def test_a_patch_on_equal_lines_is_judged() -> None:
    kept: tuple[Mark, str] = (" ", "a")
    chunk = Chunk(lines=[*[kept] * 2_000, ("-", "b"), ("+", "c")])
    answered(lambda: apply_chunks("a\n" * 20_000, [chunk]))
