"""What is kept of the user's files is the user's alone, and goes when it should."""

import stat
from pathlib import Path

import pytest

from tests.session.trial import call, calls, opened, says
from toolwright.calls import truncate
from toolwright.calls.truncate import Truncator
from toolwright.files.images import Images
from toolwright.files.journal import Journal, JournalEntry
from toolwright.files.snapshot import Snapshot

SECRET = "-----BEGIN PRIVATE KEY-----"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    root.mkdir()
    (root / "key").write_text(f"{SECRET}\n")
    return root


def _holding(folder: Path, text: str) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file() and text.encode() in path.read_bytes()]


async def test_files_are_private_in_private_folders(project: Path) -> None:
    script = (
        calls(call("read", filePath="key"), call("bash", command="seq 20000", description="Count")),
        calls(call("edit", filePath="key", oldString="BEGIN", newString="END")),
        says("Done."),
    )
    async with opened(project, *script) as trial:
        await trial.prompt()
        data = trial.workspace.folders.data
        ours = [data / name for name in ("undo", "pending", "locks", "tool-output")]
        found = [path for top in ours if top.exists() for path in (top, *top.rglob("*"))]
        assert _holding(data / "undo", SECRET)
        assert _holding(data / "tool-output", "19999")
        for path in found:
            wanted = 0o700 if path.is_dir() else 0o600
            assert stat.S_IMODE(path.stat().st_mode) == wanted, path


async def test_what_a_deleted_session_left_is_gone_after_gc(project: Path) -> None:
    script = (
        calls(call("read", filePath="key"), call("bash", command="echo TELLTALE; seq 20000", description="Count")),
        calls(call("edit", filePath="key", oldString=SECRET, newString="gone")),
        says("Done."),
    )
    async with opened(project, *script) as trial:
        await trial.prompt()
        data = trial.workspace.folders.data
        assert _holding(data / "undo", SECRET)
        assert _holding(data / "tool-output", "TELLTALE")
        await trial.workspace.sessions.delete(trial.session.id)
        assert not _holding(data / "tool-output", "TELLTALE")
        Journal(data / "undo").sweep()
        assert not _holding(data / "undo", SECRET)


def test_a_sweep_keeps_what_can_still_be_undone_and_drops_what_a_kill_left(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    before, after, lost = (journal.images.keep(data) for data in (b"before", b"after", b"lost"))
    journal.record("ses_1", [JournalEntry(call_id="c", path="/a", before=before, after=after)])
    leftover = tmp_path / "images" / "ab" / "cdef.whole.123-89abcdef"
    leftover.parent.mkdir(exist_ok=True)
    leftover.write_bytes(b"half")
    journal.sweep()
    assert not leftover.exists()
    assert (journal.images.get(before), journal.images.get(lost)) == (b"before", None)
    journal.forget("ses_1")
    journal.sweep()
    assert journal.images.get(before) is None


def test_a_sweep_keeps_what_a_part_leads_back_from(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    states = [b"x" * 400_000 + bytes([number]) + b"y" * 400_000 for number in range(3)]
    names = [Images(tmp_path / "other").keep(state) for state in states]
    for number in range(2):
        journal.images.keep_change(states[number], states[number + 1], (names[number], names[number + 1]))
    journal.record("ses_1", [JournalEntry(call_id="c", path="/a", before=names[0], after=names[1])])
    journal.sweep()
    assert journal.images.get(names[0], states[2]) == states[0]


def test_a_sweep_waits_for_a_command_whose_files_were_looked_at(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "undo")
    path = tmp_path / "a"
    path.write_text("before")
    seen = Snapshot.of(journal, [path])
    journal.sweep()
    path.unlink()
    seen.record_changes(session_id="s", call_id="c")
    journal.sweep()
    [entry] = journal.entries("s")
    assert journal.images.get(entry.before or "") == b"before"


def test_long_outputs_have_a_cap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(truncate, "CAP", 10_000)
    truncator = Truncator(folder=tmp_path / "out")
    kept = [truncator.keep("x" * 3_000, f"ses_{number % 2}") for number in range(8)]
    assert sum(path.stat().st_size for path in kept if path.exists()) <= 13_000
    assert kept[-1].exists()
    assert not kept[0].exists()
