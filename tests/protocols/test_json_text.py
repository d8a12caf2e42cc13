"""JSON from outside: read whole, or refused with a reason."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolwright.protocols.json_text import DEPTH, read_json

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=15,
)


@given(VALUES)
def test_what_json_says_is_what_is_read(value: object) -> None:
    assert read_json(json.dumps(value)) == value


@pytest.mark.parametrize("around", ["[]", '{"a": }'])
def test_nesting_has_a_floor(around: str) -> None:
    opening, closing = around[:-1], around[-1]
    deepest = opening * DEPTH + "1" + closing * DEPTH
    assert read_json(deepest)
    for depth in (DEPTH + 1, 500, 200_000):
        with pytest.raises(ValueError, match="nested more than"):
            read_json(opening * depth + "1" + closing * depth)


def test_a_wide_value_is_not_a_deep_one() -> None:
    assert len(read_json(json.dumps([[1]] * 10_000))) == 10_000


@pytest.mark.parametrize("text", ["", "{", "nul", '{"a" 1}', "[" * 200_000])
def test_what_is_no_json_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        read_json(text)
