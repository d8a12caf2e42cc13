"""Undo and recovery give back all that a file was, and nothing in their way makes them hang or fail in a heap."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tests.session.trial import call, calls, opened, says
from toolwright.files.journal import Journal, JournalEntry
from toolwright.files.snapshot import Snapshot
from toolwright.files.store import Files
from toolwright.models.scripted import ScriptedTurn
from toolwright.session.undo.file_back import Selection
from toolwright.session.undo.undo import Undo

MODES = {"script.sh": 0o755, "key": 0o600, "shared": 0o664}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    root.mkdir()
    for name, mode in MODES.items():
        (root / name).write_text(f"{name}\n")
        (root / name).chmod(mode)
    return root


def _modes(project: Path) -> dict[str, int]:
    return {path.name: stat.S_IMODE(path.stat().st_mode) for path in project.iterdir() if path.name in MODES}


def _patch(*lines: str) -> ScriptedTurn:
    return calls(call("apply_patch", patchText="\n".join(("*** Begin Patch", *lines, "*** End Patch"))))


WAYS: dict[str, ScriptedTurn] = {
    "deleted by a patch": _patch(*(f"*** Delete File: {name}" for name in MODES)),
    "moved by a patch": _patch(
        *(line for name in MODES for line in (f"*** Update File: {name}", f"*** Move to: in/deep/{name}"))
    ),
    "replaced in a patch": _patch(
        *(line for name in MODES for line in (f"*** Delete File: {name}", f"*** Add File: {name}", "+new"))
    ),
    "deleted by a command": calls(call("bash", command="rm script.sh key shared", description="Remove")),
    "moved by a command": calls(call("bash", command="mv script.sh key", description="Move")),
}


@pytest.mark.parametrize("way", WAYS)
async def test_modes_come_back(project: Path, way: str) -> None:
    async with opened(project, WAYS[way], says("Done.")) as trial:
        await trial.prompt()
        undo = await Undo.of(trial.workspace.files, trial.session.conversation)
        assert undo.changes()
        await undo.revert(Selection(turn=trial.messages[0].info.id))
        assert _modes(project) == MODES
        assert sorted(path.name for path in project.iterdir()) == sorted([*MODES, "a.txt"])
        await undo.unrevert()
        await undo.revert(Selection(turn=trial.messages[0].info.id))
        assert _modes(project) == MODES


async def test_attributes_and_owner_come_back(project: Path) -> None:
    key = project / "key"
    try:
        os.setxattr(key, "user.note", b"\0kept")
    except (OSError, AttributeError):
        pytest.skip("this file system has no attributes")
    if os.geteuid() == 0:
        os.chown(key, 1234, 4321)
    before = key.stat()
    async with opened(project, _patch("*** Delete File: key"), says("Done.")) as trial:
        await trial.prompt()
        assert not key.exists()
        await (await Undo.of(trial.workspace.files, trial.session.conversation)).revert(Selection(file="key"))
    after = key.stat()
    assert (after.st_mode, after.st_uid, after.st_gid) == (before.st_mode, before.st_uid, before.st_gid)
    assert os.getxattr(key, "user.note") == b"\0kept"


async def test_a_link_that_a_command_removes_comes_back(project: Path) -> None:
    (project / "link").symlink_to("key")
    (project / "folder").mkdir()
    (project / "folder" / "inner").symlink_to("../key")
    command = calls(call("bash", command="rm link; rm -r folder", description="Remove"))
    async with opened(project, command, says("Done.")) as trial:
        await trial.prompt()
        assert not (project / "link").is_symlink()
        undo = await Undo.of(trial.workspace.files, trial.session.conversation)
        await undo.revert(Selection(turn=trial.messages[0].info.id))
    assert (project / "link").readlink() == Path("key")
    assert (project / "folder" / "inner").readlink() == Path("../key")
    assert (project / "key").read_text() == "key\n"


@pytest.mark.parametrize("thing", ["a pipe", "a folder", "a file as the folder", "a link in the way"])
async def test_what_is_in_the_way_of_an_undo_is_one_sentence(project: Path, thing: str) -> None:
    (project / "in").mkdir()
    (project / "in" / "f").write_text("f\n")
    outside = project.parent / "outside"
    outside.mkdir()
    async with opened(project, _patch("*** Delete File: in/f"), says("Done.")) as trial:
        await trial.prompt()
        match thing:
            case "a pipe":
                os.mkfifo(project / "in" / "f")
            case "a folder":
                (project / "in" / "f").mkdir()
            case "a file as the folder":
                (project / "in").rmdir()
                (project / "in").touch()
            case _:
                (project / "in").rmdir()
                (project / "in").symlink_to(outside)
        undo = await Undo.of(trial.workspace.files, trial.session.conversation)
        with pytest.raises(Exception, match="in/f") as caught:
            await undo.revert(Selection(turn=trial.messages[0].info.id))
    assert "\n" not in str(caught.value)
    assert list(outside.iterdir()) == []


async def test_order_is_by_number_whatever_the_clock_says(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = (
        calls(call("write", filePath="new", content="one\n")),
        calls(call("write", filePath="new", content="two\n")),
        says("Done."),
    )
    times = iter([2_000_000_000.0, 1_000_000_000.0])
    async with opened(project, *script) as trial:
        monkeypatch.setattr("toolwright.files.commit.time.time", lambda: next(times, 1.0))
        await trial.prompt()
        monkeypatch.undo()
        assert (project / "new").read_text() == "two\n"
        undo = await Undo.of(trial.workspace.files, trial.session.conversation)
        await undo.revert(Selection(turn=trial.messages[0].info.id))
    assert not (project / "new").exists()


def test_numbers_go_on_across_sessions_and_processes(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    for number in range(6):
        entry = JournalEntry(call_id=f"c{number}", path="/a", before=None, after=None, time=100.0 - number)
        Journal(tmp_path).record(f"ses_{number % 2}", [entry])
    entries = sorted((*journal.entries("ses_0"), *journal.entries("ses_1")), key=lambda entry: entry.number)
    assert [entry.call_id for entry in entries] == [f"c{number}" for number in range(6)]


_KILLED = """
import asyncio, os, signal, sys
from pathlib import Path
from toolwright.files.paths import Tree
from toolwright.files.store import Change, Files

files = Files(Tree(sys.argv[1]), Path(sys.argv[2]))
names = ("key", "in/deep/new", "last")
place = files.tree.place
changes = [
    Change(place=place("key"), before=b"key\\n", after=None),
    Change(place=place("in/deep/new"), before=None, after=b"key\\n", like=place("key")),
    Change(place=place("script.sh"), before=b"script.sh\\n", after=b"changed\\n"),
]
real = os.replace
def dying(*arguments, **more):
    if "src_dir_fd" in more:
        os.kill(os.getpid(), signal.SIGKILL)
    real(*arguments, **more)
os.replace = dying
asyncio.run(files.commit(changes, session_id="s", call_id="c"))
"""


def test_recovery_after_a_kill_keeps_mode_and_attributes_and_leaves_no_folders(project: Path, tmp_path: Path) -> None:
    from toolwright.files.paths import Tree

    try:
        os.setxattr(project / "key", "user.note", b"kept")
    except (OSError, AttributeError):
        pytest.skip("this file system has no attributes")
    subprocess.run([sys.executable, "-c", _KILLED, project, tmp_path / "data"], check=False)
    assert not (project / "key").exists()
    Files(Tree(project), tmp_path / "data")
    assert _modes(project) == MODES
    assert os.getxattr(project / "key", "user.note") == b"kept"
    assert sorted(path.name for path in project.iterdir()) == sorted(MODES)


def test_a_pipe_below_a_folder_that_a_command_changes_holds_nobody_up(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    os.mkfifo(folder / "pipe")
    (folder / "a").write_text("a")
    seen = Snapshot.of(Journal(tmp_path / "undo"), [folder])
    assert [path.name for path in seen.before] == ["a"]
    assert seen.record_changes(session_id="s", call_id="c") == []
