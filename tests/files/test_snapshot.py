"""What a command changed, seen by looking before and after."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from toolwright.definition import Call
from toolwright.files import snapshot as snapshot_module
from toolwright.files.journal import Journal
from toolwright.files.precious import Worth
from toolwright.files.snapshot import Snapshot
from toolwright.models.scripted import ScriptedModel
from toolwright.process.sandbox.sandbox import Sandbox
from toolwright.session.prompt import Prompt
from toolwright.session.undo.file_back import Selection
from toolwright.session.undo.undo import Undo
from toolwright.testing import ScriptedUser, make_session, make_workspace


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return Journal(tmp_path / "undo")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


@pytest.fixture
def repository(project: Path) -> Path:
    """A work tree with two committed files, of which git is sure that they have not changed since."""
    for name, text in (("a.txt", "a\n"), ("b.txt", "b\n"), (".gitignore", "made\n")):
        (project / name).write_text(text)
        os.utime(project / name, (1_000_000_000, 1_000_000_000))
    git = ["git", "-C", str(project), "-c", "user.name=a", "-c", "user.email=a@example.org"]
    for arguments in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-q", "-m", "first"]):
        subprocess.run([*git, *arguments], check=True)
    for key, value in (("user.name", "a"), ("user.email", "a@example.org")):
        subprocess.run([*git, "config", key, value], check=True)
    return project


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
    monkeypatch.setattr(snapshot_module, "MOST_OWN_FILES", 3)
    monkeypatch.setattr(snapshot_module, "MOST_OWN_BYTES", 10)
    for number in range(9):
        (tmp_path / f"f{number}").write_text("x")
    (tmp_path / "large").write_text("x" * 100)
    seen = Snapshot.of(journal, [tmp_path / "large", *(tmp_path / f"f{number}" for number in range(9))])
    assert [path.name for path in seen.before] == ["f0", "f1", "f2"]
    assert seen.record_changes(session_id="ses_1", call_id="call_1") == []
    assert seen.lost(Worth.OWN) == []
    (tmp_path / "large").unlink()
    (tmp_path / "f8").write_text("changed")
    assert [path.name for path in seen.lost(Worth.OWN)] == ["large", "f8"]


def test_what_nobody_else_has_is_kept_before_what_git_has_and_what_is_ignored(
    journal: Journal, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(snapshot_module, "MOST_FILES", 4)
    (repository / "a.txt").write_text("not committed\n")
    (repository / "new.txt").write_text("not known to git\n")
    (repository / "made").mkdir()
    (repository / "made" / "out").write_text("made again\n")
    seen = Snapshot.of(journal, [repository])
    kept = [path.relative_to(repository).as_posix() for path in seen.before]
    assert sorted(kept[:2]) == ["a.txt", "new.txt"]
    assert sorted(kept[2:]) == [".gitignore", "b.txt"]
    assert Worth.IGNORED in seen.unkept
    assert Worth.GITS in seen.unkept


def test_who_has_no_home_is_no_trouble(journal: Journal, repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(_: int) -> None:
        raise KeyError("nobody")

    monkeypatch.delenv("HOME", raising=False)
    monkeypatch.setattr("pwd.getpwuid", unknown)
    assert repository / "a.txt" in Snapshot.of(journal, [repository]).before


@pytest.mark.parametrize(
    "command",
    [
        "git reset --hard",
        "cd deep && git reset --har HEAD",
        "git checkout -f",
        "git switch -q --discard-changes main",
        "git read-tree -u --reset HEAD",
        "git stash && git stash drop",
        "git stash push -q; git stash clear",
    ],
)
async def test_work_that_git_discards_comes_back(repository: Path, command: str) -> None:
    (repository / "deep").mkdir()
    (repository / "a.txt").write_text("a day's work\n")
    model = ScriptedModel({"tools": [{"name": "bash", "args": {"command": command}}]}, {"text": "done"})
    workspace = make_workspace(repository, model=model, user=ScriptedUser.saying("once", "once"))
    turns = workspace.sessions.create()
    await turns.turns.answer(Prompt(text="clear up"))
    assert (repository / "a.txt").read_text() == "a\n"
    undo = await Undo.of(workspace.files, turns.conversation)
    await undo.revert(Selection(turn=turns.conversation.messages[0].info.id))
    await workspace.close()
    assert (repository / "a.txt").read_text() == "a day's work\n"


@pytest.mark.parametrize("command", ["git reset --hard", "git checkout -f main", "git stash drop"])
async def test_to_discard_work_with_git_is_asked_about(repository: Path, command: str) -> None:
    user = ScriptedUser.saying("reject")
    session = make_session(repository, user=user)
    result = await session.run_call(Call(id="call_1", tool="bash", arguments={"command": command}))
    assert result.error is not None
    assert [question.permission for question in user.questions] == ["edit"]


async def test_what_a_command_deleted_for_good_is_told(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshot_module, "MOST_OWN_FILES", 2)
    for name in ("1", "2", "3", "4"):
        (project / name).write_text(name)
    # Where it can be seen what programs change, all of it is kept.
    monkeypatch.setattr(Sandbox, "captures", lambda *_: False)
    session = make_session(project)
    result = await session.run_call(Call(id="call_1", tool="bash", arguments={"command": "rm 1 2 3 4"}))
    assert result.output.startswith("[undo cannot restore 2 files that this changed or deleted")
    assert result.metadata["output"] == result.output, "the user sees it too"


@pytest.mark.skipif(shutil.which("bwrap") is None, reason="needs bubblewrap")
@pytest.mark.parametrize("command", ["git stash -u", "git clean -fd"])
async def test_git_clears_a_work_tree_although_the_box_has_put_folders_there(repository: Path, command: str) -> None:
    (repository / "new.txt").write_text("new\n")
    session = make_session(repository, user=ScriptedUser.saying("once"))
    result = await session.run_call(Call(id="call_1", tool="bash", arguments={"command": command}))
    assert result.metadata["exit"] == 0, result.output
    assert not (repository / "new.txt").exists()


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
