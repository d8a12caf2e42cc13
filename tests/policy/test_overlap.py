"""Wildcards compared: one that fits all of another, and two that have something in common."""

from hypothesis import given, settings
from hypothesis import strategies as st

from toolwright.policy.overlap import covers, overlap
from toolwright.text.wildcard import matches

PATTERNS = st.text("ab *?", max_size=6)
TEXTS = st.text("ab ", max_size=6)


def test_a_star_at_the_end_may_be_left_out_with_its_blank() -> None:
    assert covers("git *", "git")
    assert covers("git *", "git push *")
    assert not covers("git push *", "git *")
    assert not covers("git*push", "git *")


@given(PATTERNS, PATTERNS, TEXTS)
@settings(deadline=None)
def test_what_covers_a_pattern_fits_all_its_texts(wide: str, narrow: str, text: str) -> None:
    if covers(wide, narrow) and matches(text, narrow):
        assert matches(text, wide)


@given(PATTERNS, PATTERNS, TEXTS)
@settings(deadline=None)
def test_patterns_that_share_a_text_overlap(one: str, other: str, text: str) -> None:
    if matches(text, one) and matches(text, other):
        assert overlap(one, other)


def test_one_letter_covers_no_star() -> None:
    assert not covers("a?", "a*")
    assert not covers("a?b", "a*b")
    assert covers("a*", "a?")
    assert covers("a?", "a?")
