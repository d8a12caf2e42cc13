"""Which model writes a title, and what becomes of its words."""

import pytest

from toolwright.models.info import ModelInfo
from toolwright.session.turns.title import one_line, small_sibling


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("Fix the tests", "Fix the tests"),
        ("\n  \n  Fix the tests  \nand more", "Fix the tests"),
        ("", ""),
        (" \n ", ""),
        ("x" * 100, "x" * 100),
        ("x" * 101, "x" * 97 + "..."),
    ],
)
def test_a_title_is_the_first_line_that_says_anything(text: str, title: str) -> None:
    assert one_line(text) == title


@pytest.mark.parametrize(
    ("model", "others", "sibling"),
    [
        ("big-2", ["small-mini-1", "small-mini-2", "huge-3"], "small-mini-2"),
        ("a/big", ["a/x-mini", "b/y-mini"], "a/x-mini"),
        ("big", ["a/x-mini"], None),
        ("gemini-9", ["gemini-8"], None),
        ("gemini-9", ["gemini-8-flash"], "gemini-8-flash"),
        ("big", [], None),
    ],
)
def test_small_work_is_done_by_the_newest_small_model_of_the_same_maker(
    model: str, others: list[str], sibling: str | None
) -> None:
    known = [ModelInfo(provider="p", id=name) for name in (model, *others)]
    found = small_sibling(known[0], known)
    assert (found.id if found else None) == sibling


def test_a_scripted_model_has_no_sibling() -> None:
    known = [ModelInfo(provider="scripted", id="x-mini")]
    assert small_sibling(known[0], known) is None
