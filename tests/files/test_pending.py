"""What the next start does about a change that was cut short."""

import json
import os
from pathlib import Path

import pytest

from toolwright.files.images import Images
from toolwright.files.lock import Locks
from toolwright.files.pending import PendingWrite, PendingWrites

_PRIVATE: dict[str, object] = {"mode": 0o600, "owner": os.geteuid(), "group": os.getegid(), "extended": {}}


@pytest.fixture
def pending_writes(tmp_path: Path) -> PendingWrites:
    return PendingWrites(tmp_path / "pending", Images(tmp_path / "images"), Locks(tmp_path / "locks"))


def _left_behind(folder: Path, *pending: dict[str, object], end: str = "\n") -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / "1-0.json"
    path.write_text(json.dumps(pending) + end)
    return path


def test_a_change_that_is_still_under_way_is_left_alone(pending_writes: PendingWrites, tmp_path: Path) -> None:
    temporary = tmp_path / ".toolwright-1-0"
    temporary.touch()
    with pending_writes.entry() as note:
        note([PendingWrite(path=str(tmp_path / "a"), temporary=str(temporary))])
        pending_writes.recover()
        assert temporary.exists()
    assert list((tmp_path / "pending").iterdir()) == []


def test_a_temporary_file_of_a_dead_process_goes(pending_writes: PendingWrites, tmp_path: Path) -> None:
    temporary = tmp_path / ".toolwright-1-0"
    temporary.touch()
    record = _left_behind(tmp_path / "pending", {"path": str(tmp_path / "a"), "temporary": str(temporary)})
    pending_writes.recover()
    assert not temporary.exists()
    assert not record.exists()


def test_nothing_but_our_own_temporary_files_is_ever_removed(pending_writes: PendingWrites, tmp_path: Path) -> None:
    mine = tmp_path / "mine.txt"
    mine.touch()
    _left_behind(tmp_path / "pending", {"path": str(tmp_path / "a"), "temporary": str(mine)})
    pending_writes.recover()
    assert mine.exists()


@pytest.mark.parametrize("text", ["", "[", "[]", '[{"path": "/x"}]\n', '{"a": 1}\n'])
def test_a_record_that_cannot_be_read_is_dropped(pending_writes: PendingWrites, tmp_path: Path, text: str) -> None:
    record = _left_behind(tmp_path / "pending")
    record.write_text(text)
    pending_writes.recover()
    assert not record.exists()


def test_what_a_person_did_since_is_not_undone(pending_writes: PendingWrites, tmp_path: Path) -> None:
    images = Images(tmp_path / "images")
    before, after = images.keep(b"before"), images.keep(b"after")
    contents: dict[str, object] = {"before": before, "after": after, "attributes": _PRIVATE}
    for name, content in (("half", b"after"), ("theirs", b"a person's")):
        (tmp_path / name).write_bytes(content)
    _left_behind(
        tmp_path / "pending",
        {"path": str(tmp_path / "half"), "temporary": str(tmp_path / ".toolwright-1-1"), **contents},
        {"path": str(tmp_path / "theirs"), "temporary": str(tmp_path / ".toolwright-1-2"), **contents},
    )
    pending_writes.recover()
    assert (tmp_path / "half").read_bytes() == b"before"
    assert (tmp_path / "half").stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "theirs").read_bytes() == b"a person's"


def test_a_change_that_was_complete_stays(pending_writes: PendingWrites, tmp_path: Path) -> None:
    images = Images(tmp_path / "images")
    before, after = images.keep(b"before"), images.keep(b"after")
    for name in ("a", "b"):
        (tmp_path / name).write_bytes(b"after")
    _left_behind(
        tmp_path / "pending",
        {"path": str(tmp_path / "a"), "temporary": str(tmp_path / ".toolwright-1-1"), "before": before, "after": after},
        {"path": str(tmp_path / "b"), "temporary": str(tmp_path / ".toolwright-1-2"), "before": before, "after": after},
    )
    pending_writes.recover()
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes() == b"after"
