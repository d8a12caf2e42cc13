"""One hunk of a difference, made by itself."""

from hypothesis import given
from hypothesis import strategies as st

from toolwright.diff import CONTEXT, compare, with_hunk

texts = st.lists(st.sampled_from(["a\n", "b\n", "c\r\n", "\n", "last"]), max_size=60).map("".join)


@given(texts, texts)
def test_all_hunks_from_the_last_to_the_first_make_the_whole_change(before: str, after: str) -> None:
    count = len(list(compare(before, after).hunks(CONTEXT)))
    text = before
    for _ in range(count):
        made = with_hunk(text, after, 1)
        assert made is not None
        text = made
    assert text == after


def test_there_is_no_hunk_beyond_the_last() -> None:
    assert with_hunk("a\n", "b\n", 1) == "b\n"
    assert with_hunk("a\n", "b\n", 2) is None
    assert with_hunk("a\n", "a\n", 1) is None
    assert with_hunk("a\n", "b\n", 0) is None
