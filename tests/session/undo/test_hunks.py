"""Pieces of a difference, restored one by one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolwright.files.body import Body, Link
from toolwright.session.undo.hunks import apply_hunks, hunks_of

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


@pytest.mark.parametrize(
    ("present", "restored", "texts"),
    [
        (b"a\n", b"a\n", 0),
        (None, None, 0),
        (Link("x"), Link("x"), 0),
        (b"a\n", b"b\n", 1),
        (b"a\n", None, 1),
        (None, b"a\n", 1),
        (Link("x"), Link("y"), 1),
        (b"a\n", Link("y"), 1),
        (b"\xff\n", b"a\n", 1),
    ],
)
def test_a_file_that_comes_goes_or_becomes_a_link_is_one_piece(present: Body, restored: Body, texts: int) -> None:
    hunks = hunks_of("f", present, restored)
    assert len(hunks) == texts
    assert apply_hunks("f", present, restored, {hunk.id for hunk in hunks}) == restored
    if hunks:
        assert apply_hunks("f", present, restored, {"0" * 16}) == present


def test_a_piece_is_named_by_its_file_and_what_is_in_it() -> None:
    names = {hunks_of(path, b"a\n", after)[0].id for path in ("f", "g") for after in (b"b\n", b"c\n")}
    assert len(names) == 4
    assert hunks_of("f", b"a\n", b"b\n") == hunks_of("f", b"a\n", b"b\n")


def test_of_two_pieces_far_apart_only_the_wanted_one_is_restored() -> None:
    middle = b"".join(b"%d\n" % number for number in range(30))
    present, restored = b"a\n" + middle + b"b\n", b"A\n" + middle + b"B\nC\n"
    first, second = hunks_of("f", present, restored)
    assert apply_hunks("f", present, restored, {first.id}) == b"A\n" + middle + b"b\n"
    assert apply_hunks("f", present, restored, {second.id}) == b"a\n" + middle + b"B\nC\n"
    assert apply_hunks("f", present, restored, {first.id, second.id, "0" * 16}) == restored
