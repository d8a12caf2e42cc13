"""What is the user's alone stays so, and is not lost when processes write at once."""

import multiprocessing
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from toolwright.config.auth import AuthFile
from toolwright.errors import ConfigError
from toolwright.machine.folders import Folders
from toolwright.machine.private_files import keep_private, make_folder, read_private, update
from toolwright.models.scripted import ScriptedTurn
from toolwright.permission.approvals import Approval, Approvals
from toolwright.testing import ScriptedModel, make_workspace


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def _count_up(file: Path) -> None:
    for _ in range(20):
        update(file, lambda text: str(int(text or "0") + 1))


def test_changes_of_several_processes_are_all_kept(tmp_path: Path) -> None:
    file = tmp_path / "data" / "number"
    with multiprocessing.get_context("spawn").Pool(3) as pool:
        pool.map(_count_up, [file] * 3)
    assert read_private(file) == "60"
    assert (mode(file), mode(file.parent)) == (0o600, 0o700)


def test_what_a_killed_writer_left_is_swept_and_a_failed_change_leaves_nothing(tmp_path: Path) -> None:
    file = tmp_path / "auth.json"
    (tmp_path / ".auth.json.xyz.new").write_text("a key")
    update(file, lambda _: "one")
    with pytest.raises(ZeroDivisionError):
        update(file, lambda _: str(1 // 0))
    assert sorted(one.name for one in tmp_path.iterdir()) == [".auth.json.lock", "auth.json"]
    assert file.read_text() == "one"


KILLED = """
import os, signal, sys
from pathlib import Path
from toolwright.machine import private_files as private

os.fsync = lambda _: os.kill(os.getpid(), signal.SIGKILL)
private.update(Path(sys.argv[1]), lambda _: "a key")
"""


@pytest.mark.parametrize("then", ["a start", "a change"])
def test_what_a_killed_writer_left_is_gone_with_the_next_start_or_change_of_another_file(
    tmp_path: Path, then: str
) -> None:
    subprocess.run([sys.executable, "-c", KILLED, str(tmp_path / "auth.json")], check=False)
    assert len(list(tmp_path.glob(".auth.json.*.new"))) == 1
    if then == "a start":
        keep_private(tmp_path)
    else:
        update(tmp_path / "trust.json", lambda _: "{}")
    assert list(tmp_path.glob(".*.new")) == []
    assert not (tmp_path / "auth.json").exists()


def test_a_writer_at_work_and_files_of_others_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / ".notes.1.new").write_text("not ours")

    def change(_: str) -> str:
        (tmp_path / ".auth.json.xyz.new").write_text("a key")
        keep_private(tmp_path)
        update(tmp_path / "trust.json", lambda _: "{}")
        assert (tmp_path / ".auth.json.xyz.new").exists()
        return "one"

    update(tmp_path / "auth.json", change)
    assert sorted(one.name for one in tmp_path.glob(".*.new")) == [".notes.1.new"]


def test_a_revoked_approval_does_not_come_back(tmp_path: Path) -> None:
    one, other = (Approvals(file=tmp_path / "approvals.json", project=tmp_path) for _ in range(2))
    one.add((Approval("bash", "ls *"),), "project", "")
    other.of(())
    one.revoke("bash", "ls *")
    other.add((Approval("bash", "cat *"),), "user", "")
    assert [approval.pattern for _, approval in one.listed()] == ["cat *"]


@pytest.mark.parametrize("text", ["[]", "{", "5", '"x"', "[" * 5000])
def test_damaged_keys_are_one_sentence(tmp_path: Path, text: str) -> None:
    file = tmp_path / "auth.json"
    file.write_text(text)
    with pytest.raises(ConfigError, match=r"auth\.json"):
        AuthFile(file).records()
    with pytest.raises(ConfigError, match=r"auth\.json"):
        AuthFile(file).put("x", "y")
    assert file.read_text() == text


def test_folders_are_made_for_their_owner(tmp_path: Path) -> None:
    make_folder(tmp_path / "a" / "b" / "c")
    assert [mode(tmp_path / name) for name in ("a", "a/b", "a/b/c")] == [0o700] * 3


def test_what_others_could_read_is_corrected_at_the_start(project: Path) -> None:
    data = project.parent / f"{project.name}.home" / ".local" / "share" / "toolwright"
    inner = data / "undo" / "images" / "x"
    inner.parent.mkdir(parents=True)
    for file in (inner, data / "approvals.json", data / "toolwright.db"):
        file.write_text("" if file.suffix != ".json" else "{}")
        file.chmod(0o666)
    data.chmod(0o755)
    make_workspace(project)
    assert [mode(one) for one in (data, data / "undo", inner, data / "approvals.json")] == [0o700, 0o700, 0o600, 0o600]


@pytest.mark.parametrize("name", ["HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"])
@pytest.mark.parametrize("value", ["data", "./x", "../y", "~"])
def test_a_relative_folder_is_refused(name: str, value: str) -> None:
    with pytest.raises(ConfigError, match=f"{name} is '{value}', which is not an absolute path"):
        Folders.of({"HOME": "/home/x", name: value})


@pytest.mark.parametrize("kind", ["missing", "a file", "read-only"])
def test_without_a_home_to_write_in_a_command_works_and_says_so(tmp_path: Path, project: Path, kind: str) -> None:
    if kind == "read-only" and os.geteuid() == 0:
        pytest.skip("root writes everywhere")
    home = tmp_path / "home"
    if kind == "a file":
        home.write_text("")
    elif kind == "read-only":
        home.mkdir(mode=0o500)
    else:
        home = Path("/proc/nowhere")
    environment = {"HOME": str(home), "PATH": os.environ["PATH"]}
    command = [sys.executable, "-m", "toolwright", "tool", "call", "list", "{}"]
    done = subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("cannot be used") == 1


async def test_what_a_session_leaves_is_for_its_owner_alone(project: Path) -> None:
    (project / "a.txt").write_text("a\n")
    turns: list[ScriptedTurn] = [
        {"tools": [{"name": "read", "args": {"filePath": "a.txt"}}]},
        {"tools": [{"name": "edit", "args": {"filePath": "a.txt", "oldString": "a", "newString": "b"}}]},
        {"text": "Done."},
    ]
    async with make_workspace(project, model=ScriptedModel(*turns), keep=True) as workspace:
        await workspace.prompt("Change it.")
        data = workspace.folders.data
    assert (project / "a.txt").read_text() == "b\n"
    kept = [data, *data.rglob("*")]
    assert [path for path in kept if mode(path) & 0o077] == []
    assert any("images" in path.parts for path in kept)
