"""Pieces of a difference, restored one by one."""

from hypothesis import given
from hypothesis import strategies as st

from toolwright.session.hunks import apply_hunks, hunks_of

bodies = st.lists(st.sampled_from(["a\n", "b\n", "c\r\n", "\n", "last"]), max_size=60).map("".join).map(str.encode)


@given(bodies, bodies)
def test_all_hunks_one_by_one_make_the_whole_change(present: bytes, restored: bytes) -> None:
    for _ in hunks_of("f", present, restored):
        first = hunks_of("f", present, restored)[0]
        made = apply_hunks("f", present, restored, {first.id})
        assert isinstance(made, bytes)
        present = made
    assert present == restored


def test_a_hunk_that_is_not_there_changes_nothing() -> None:
    assert apply_hunks("f", b"a\n", b"b\n", {"0" * 16}) == b"a\n"
