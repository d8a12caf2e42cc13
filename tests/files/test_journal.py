"""What is kept for undoing, and for how long."""

import os
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from toolwright.files.disk import digest_of
from toolwright.files.images import LARGE, ImagePart, Images
from toolwright.files.journal import Journal, JournalEntry


def _entry(call_id: str) -> JournalEntry:
    return JournalEntry(call_id=call_id, path="/p/a", before="0" * 64, after=None, time=1.0)


def test_a_content_is_kept_once_and_found_by_its_hash(tmp_path: Path) -> None:
    images = Images(tmp_path)
    digest = images.keep(b"content")
    stored = images.stored
    assert images.keep(b"content") == digest
    assert images.stored == stored
    assert images.get(digest) == b"content"
    assert images.get("f" * 64) is None


def test_a_damaged_content_is_not_given_out(tmp_path: Path) -> None:
    images = Images(tmp_path)
    digest = images.keep(b"content")
    (image,) = (path for path in tmp_path.rglob("*") if path.is_file())
    image.write_bytes(b"conte")
    assert images.get(digest) is None


def test_only_contents_that_are_named_and_those_they_lead_back_from_are_kept(tmp_path: Path) -> None:
    images = Images(tmp_path)
    old, new = b"a" * LARGE, b"a" * LARGE + b"b"
    hashes = digest_of(old), digest_of(new)
    images.keep_change(old, new, hashes)
    images.keep(new, hashes[1])
    other = images.keep(b"other")
    (tmp_path / other[:2] / f"{other[2:]}.new").write_bytes(b"half written")
    images.keep_only([hashes[0], None])
    assert images.get(hashes[0]) == old
    assert images.get(other) is None
    images.keep_only([hashes[1]])
    assert (images.get(hashes[0]), images.get(hashes[1])) == (None, new)
    images.keep_only([])
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


PIECES = st.binary(max_size=12)


@given(head=PIECES, tail=PIECES, old=PIECES, new=PIECES)
def test_a_part_leads_back_from_any_change(head: bytes, tail: bytes, old: bytes, new: bytes) -> None:
    before, after = head + old + tail, head + new + tail
    part = ImagePart.unpacked(ImagePart.of(before, after, "0" * 64).packed())
    assert part.undo(after) == before
    assert len(part.data) <= len(old)


@given(blocks=st.lists(st.integers(0, 2), min_size=1, max_size=4), at=st.integers(0, 40_000))
def test_a_part_of_a_long_content_holds_only_what_changed(blocks: list[int], at: int) -> None:
    before = b"".join(bytes([block]) * 10_000 for block in blocks)
    after = before[:at] + b"new" + before[at:]
    part = ImagePart.of(before, after, "0" * 64)
    assert part.undo(after) == before
    assert part.data == b""


def test_a_large_content_is_kept_in_part_and_found_through_what_it_became(tmp_path: Path) -> None:
    images = Images(tmp_path)
    states = [b"".join(b"%d\n" % (number if number != 7 else step) for number in range(LARGE)) for step in range(4)]
    hashes = [digest_of(state) for state in states]
    for step in range(3):
        images.keep_change(states[step], states[step + 1], (hashes[step], hashes[step + 1]))
    assert images.stored < 1000
    for step in range(3):
        assert images.get(hashes[step], states[3]) == states[step]
        assert images.get(hashes[step]) is None
        assert images.get(hashes[step], b"something else") is None


def test_going_back_and_forth_ends(tmp_path: Path) -> None:
    images = Images(tmp_path)
    one, two = b"1" + b"x" * LARGE, b"2" + b"x" * LARGE
    hashes = digest_of(one), digest_of(two)
    images.keep_change(one, two, hashes)
    images.keep_change(two, one, hashes[::-1])
    assert images.get(hashes[0]) is None
    assert images.get(hashes[0], two) == one
    assert images.get(hashes[1], one) == two


def test_a_large_content_that_changed_altogether_is_kept_whole(tmp_path: Path) -> None:
    images = Images(tmp_path)
    one, two = b"x" * LARGE, b"y" * LARGE
    images.keep_change(one, two, (digest_of(one), digest_of(two)))
    assert images.get(digest_of(one)) == one


def test_entries_come_back_in_order_and_a_torn_line_is_left_out(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    journal.record("ses_1", [_entry("c1"), _entry("c2")])
    journal.record("../evil", [_entry("c3")])
    with (tmp_path / "sessions" / "ses_1.jsonl").open("a") as file:
        file.write('{"call_id": "c4", "pa')
    assert journal.entries("ses_1") == [_entry("c1"), _entry("c2")]
    assert journal.entries("../evil") == [_entry("c3")]
    assert len(list((tmp_path / "sessions").iterdir())) == 2
    journal.forget("ses_1")
    assert journal.entries("ses_1") == []


def test_the_oldest_goes_first_when_the_cap_is_reached(tmp_path: Path) -> None:
    journal = Journal(tmp_path, cap=10_000)
    digests = [journal.images.keep(bytes([number]) * 1000) for number in range(20)]
    for number, digest in enumerate(digests):
        (image,) = tmp_path.rglob(f"{digest[2:]}*")
        os.utime(image, (number, number))
    journal.record("ses_1", [])
    kept = [journal.images.get(digest) is not None for digest in digests]
    assert kept == [False] * 12 + [True] * 8
