"""What is kept for undoing, and for how long."""

import os
from pathlib import Path

from toolwright.files.journal import Entry, Journal


def _entry(call_id: str) -> Entry:
    return Entry(call_id=call_id, path="/p/a", before="0" * 40, after=None, mode=0o644, time=1.0)


def test_a_content_is_kept_once_and_found_by_its_hash(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    digest = journal.keep(b"content")
    assert journal.keep(b"content") == digest
    assert journal.image(digest) == b"content"
    assert journal.image("f" * 40) is None


def test_a_damaged_image_is_not_given_out(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    digest = journal.keep(b"content")
    (image,) = (path for path in (tmp_path / "images").rglob("*") if path.is_file())
    image.write_bytes(b"conte")
    assert journal.image(digest) is None


def test_entries_come_back_in_order_and_a_torn_line_is_left_out(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    journal.record("ses_1", [_entry("c1"), _entry("c2")])
    journal.record("../evil", [_entry("c3")])
    with (tmp_path / "sessions" / "ses_1.jsonl").open("a") as file:
        file.write('{"call_id": "c4", "pa')
    assert journal.entries("ses_1") == [_entry("c1"), _entry("c2")]
    assert journal.entries("../evil") == [_entry("c3")]
    assert all(path.is_relative_to(tmp_path) for path in tmp_path.rglob("*"))
    assert len(list((tmp_path / "sessions").iterdir())) == 2
    journal.forget("ses_1")
    assert journal.entries("ses_1") == []


def test_the_oldest_goes_first_when_the_cap_is_reached(tmp_path: Path) -> None:
    journal = Journal(tmp_path, cap=10_000)
    digests = []
    for number in range(20):
        digests.append(journal.keep(bytes([number]) * 1000))
        image = tmp_path / "images" / digests[-1][:2] / digests[-1][2:]
        os.utime(image, (number, number))
    journal.record("ses_1", [])
    kept = [journal.image(digest) is not None for digest in digests]
    assert kept == [False] * 12 + [True] * 8
