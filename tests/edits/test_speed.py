"""Texts that took the reference seconds or minutes: each is answered. How fast, `bench/hostile.py` tells."""

from collections.abc import Callable

import pytest

from tests.waiting import bounded_work
from toolwright.diff import compare
from toolwright.edits.chunks import apply_chunks
from toolwright.edits.patch import Chunk, Mark
from toolwright.edits.replacement import Drift, replace
from toolwright.errors import ToolError

NUMBERED = "".join(f"line {number} of {number % 97}\n" for number in range(20_000))
WIDE = "".join("{ " + f"{number} word " * 200 + "\n" if number % 4 else "{\n" for number in range(400))


def answered(work: Callable[[], object]) -> None:
    try:
        with bounded_work():
            work()
    except ToolError as error:
        assert error.kind in ("not_found", "ambiguous", "lines_not_found")  # noqa: PT017 - a refusal is an answer too


@pytest.mark.parametrize("drift", ["merge", "replace"])
@pytest.mark.parametrize(
    ("text", "old"),
    [
        pytest.param(NUMBERED, "".join(f"lane {n} of {n}\n" for n in range(500)), id="W-P2 nothing fits"),
        pytest.param(NUMBERED, "".join(f"line {n} of {n % 97}\n" for n in range(500)) + "z\n", id="W-P2 all but one"),
        pytest.param("{\n" * 20_000, "{\nx\n}", id="W-P3 last anchor absent"),
        pytest.param("{\n" * 20_000 + "}\n", "{\nx\ny\n}", id="W-P3 one last anchor"),
        pytest.param("a a\n" * 20_000, "a a\n" * 2_000 + "b\n", id="W-P4 equal lines"),
        pytest.param("a a\n" * 20_000, " a  a\n" * 500, id="W-P4 equal lines, many places"),
        pytest.param(f"s\n{'x' * 10_000}\ne\n" * 3, f"s\n{'y' * 10_000}\ne", id="W-P5 wide middle line"),
        pytest.param(WIDE, "{\n" + "word " * 400 + "\nother\n{", id="W-P5 wide lines between frequent ones"),
        pytest.param("x" * 1_000_000, "y" * 1_000 + "  z", id="one long line"),
        pytest.param("a " * 200_000, "a  " * 2_000 + "b", id="one long line of words"),
        pytest.param("ab ab " * 333_333, "ab  ab", id="one long line, very many places"),
        pytest.param("\\" * 100_000, "\\\\n" * 1_000, id="backslashes"),
        pytest.param("\n" * 50_000, "\n \n" * 500 + "x", id="blank lines"),
    ],
)
def test_what_is_not_found_is_told(text: str, old: str, drift: Drift) -> None:
    answered(lambda: replace(text, old, "NEW", drift=drift))


def test_every_line_replaced_at_once() -> None:
    """W-P1b"""
    text = "".join(f"value {number} is old\n" for number in range(5_000))
    answered(lambda: replace(text, "old", "new", everywhere=True))
    answered(lambda: replace(text, "is  old", "is new", everywhere=True))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param([f"a{n}\n" for n in range(10_000)], [f"b{n}\n" for n in range(10_000)], id="W-P1 all"),
        pytest.param(
            [f"a{n}\n" for n in range(10_000)],
            [f"{'a' if n % 2 else 'b'}{n}\n" for n in range(10_000)],
            id="W-P1c every second",
        ),
        pytest.param(["x\n"] * 30_000, ["x\n", "y\n"] * 15_000, id="equal lines"),
        pytest.param([f"{n % 7}\n" for n in range(30_000)], [f"{n % 5}\n" for n in range(30_000)], id="few lines"),
    ],
)
def test_a_difference_is_found_whatever_changed(before: list[str], after: list[str]) -> None:
    answered(lambda: compare("".join(before), "".join(after)).unified("f"))


def test_a_patch_on_equal_lines_is_judged() -> None:
    kept: tuple[Mark, str] = (" ", "a")
    chunk = Chunk(lines=[*[kept] * 2_000, ("-", "b"), ("+", "c")])
    answered(lambda: apply_chunks("a\n" * 20_000, [chunk]))


@pytest.mark.parametrize(("before", "after"), [("x\n" * 1_000_000, "new\n"), ("new\n", "x\n" * 1_000_000)])
def test_a_huge_text_beside_a_tiny_one_costs_no_more_than_reading_both(before: str, after: str) -> None:
    answered(lambda: compare(before, after))
