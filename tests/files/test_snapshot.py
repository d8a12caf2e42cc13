"""What a command changed, seen by looking before and after."""

from pathlib import Path

import pytest

from toolwright.files import snapshot as snapshot_module
from toolwright.files.journal import Journal
from toolwright.files.snapshot import Snapshot
from toolwright.models.scripted import ScriptedModel
from toolwright.session.prompt import Prompt
from toolwright.session.undo import Selection, Undo
from toolwright.testing import make_workspace


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return Journal(tmp_path / "undo")


def test_changed_deleted_and_new_files_are_written_down_and_others_are_not(journal: Journal, tmp_path: Path) -> None:
    folder = tmp_path / "project"
    (folder / "src").mkdir(parents=True)
    for name in ("src/a", "src/b", "same", "changed"):
        (folder / name).write_text(f"{name} before")
    seen = Snapshot.of(journal, [folder / "src", folder / "same", folder / "changed", folder / "new"])
    (folder / "src" / "a").unlink()
    (folder / "changed").write_text("after")
    (folder / "new").write_text("new")
    changed = seen.record_changes(session_id="ses_1", call_id="call_1")
    assert sorted(path.name for path in changed) == ["a", "changed", "new"]
    entries = {Path(entry.path).name: entry for entry in journal.entries("ses_1")}
    assert (entries["a"].after, entries["new"].before) == (None, None)
    assert entries["changed"].before is not None
    assert journal.images.get(entries["changed"].before) == b"changed before"


def test_no_more_is_looked_at_than_the_limits_allow(
    journal: Journal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(snapshot_module, "MOST_FILES", 3)
    monkeypatch.setattr(snapshot_module, "MOST_BYTES", 10)
    for number in range(9):
        (tmp_path / f"f{number}").write_text("x")
    (tmp_path / "large").write_text("x" * 100)
    seen = Snapshot.of(journal, [tmp_path / "large", *(tmp_path / f"f{number}" for number in range(9))])
    assert [path.name for path in seen.before] == ["f0", "f1", "f2"]
    assert seen.record_changes(session_id="ses_1", call_id="call_1") == []


async def test_what_a_shell_command_deleted_comes_back(tmp_path: Path) -> None:
    project = tmp_path / "project"
    (project / "src").mkdir(parents=True)
    (project / "src" / "x.py").write_text("precious\n")
    (project / "a.txt").write_text("old\n")
    command = "rm -rf src && echo new > a.txt && echo n > made"
    model = ScriptedModel({"tools": [{"name": "bash", "args": {"command": command}}]}, {"text": "gone"})
    workspace = make_workspace(project, model=model)
    turns = workspace.sessions.create()
    await turns.turns.answer(Prompt(text="clear up"))
    assert not (project / "src" / "x.py").exists()
    undo = await Undo.of(workspace.files, turns.conversation)
    await undo.revert(Selection(turn=turns.conversation.messages[0].info.id))
    await workspace.close()
    assert (project / "src" / "x.py").read_text() == "precious\n"
    assert (project / "a.txt").read_text() == "old\n"
    assert not (project / "made").exists()


@pytest.mark.parametrize(
    "command",
    [
        "mkdir d && mv a.txt d",
        "mv a.txt old",
        "mv -t old a.txt b.txt",
        "mv src old",
        "mv src elsewhere",
        "cp -r src old",
        "cp -r src copy && rm -rf src",
        "mv *.txt old/",
        "mkdir -p x/y && cp a.txt b.txt x/y",
        "ln -s ../a.txt old",
        "install -D a.txt deep/er/b.txt",
    ],
)
async def test_what_a_command_moves_and_copies_into_folders_is_undone(tmp_path: Path, command: str) -> None:
    project = tmp_path / "project"
    for name in ("src/deep/x.py", "src/y.py", "old/kept", "a.txt", "b.txt"):
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text(name)
    before = _files_of(project)
    model = ScriptedModel({"tools": [{"name": "bash", "args": {"command": command}}]}, {"text": "done"})
    workspace = make_workspace(project, model=model)
    turns = workspace.sessions.create()
    await turns.turns.answer(Prompt(text="go"))
    changed = _files_of(project)
    assert changed != before
    undo = await Undo.of(workspace.files, turns.conversation)
    await undo.revert(Selection(turn=turns.conversation.messages[0].info.id))
    assert _files_of(project) == before
    await undo.unrevert()
    await workspace.close()
    assert _files_of(project) == changed


def _files_of(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}
