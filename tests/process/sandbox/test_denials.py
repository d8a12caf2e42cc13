"""The line that says which wall a command met: there when it was one, and only then."""

from dataclasses import replace
from pathlib import Path

import pytest

from toolwright.process.box.box import Box, Wall
from toolwright.process.sandbox.denials import misses_processes, other_processes, temporary_note, wall_note


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    folder = tmp_path / "outside"
    folder.mkdir()
    return folder


@pytest.fixture
def box(project: Path, monkeypatch: pytest.MonkeyPatch) -> Box:
    # The folders of tests lie in the temporary one, which commands may always write.
    monkeypatch.setattr("toolwright.process.box.box.WRITABLE_ANYWHERE", ())
    (project / ".git").mkdir()
    return Box(
        rung="bubblewrap",
        walls=(
            Wall(project, "write"),
            Wall(project / ".git" / "config", "read", "runs"),
            Wall(project / ".env", "replace", "hidden"),
        ),
        network=False,
    )


COMPLAINTS = (
    "touch: cannot touch '{path}': Read-only file system",
    "bash: line 1: {path}: Read-only file system",
    "/bin/bash: line 1: {path}: Permission denied",
    "PermissionError: [Errno 13] Permission denied: '{path}'",
    "OSError: [Errno 30] Read-only file system: '{path}'",
    "mkdir: cannot create directory ‘{path}’: Read-only file system",
    "Error: EACCES: permission denied, open '{path}'",
    "error: could not lock config file {path}: Read-only file system",
)


@pytest.mark.parametrize("complaint", COMPLAINTS)
def test_a_place_outside_is_named_with_what_opens_it(box: Box, project: Path, outside: Path, complaint: str) -> None:
    note = wall_note(box, project, complaint.format(path=outside / "new"), failed=True)
    assert note == (
        f"Commands may not write {outside / 'new'}. Name it in the command as what is written, so that the user can be"
        " asked (external_directory), or have it added to the setting sandbox.writable."
    )


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("cat: .env: Permission denied", "sandbox.reveal"),
        ("error: could not write config file .git/config: Device or resource busy", "decides what programs are run"),
        ("curl: (6) Could not resolve host: example.com", "network is off"),
        ("bash: connect: Network is unreachable", "network is off"),
        ('sudo: The "no new privileges" flag is set', "become root"),
        ("bash: fork: retry: Resource temporarily unavailable", "processes together"),
    ],
)
def test_other_walls_are_told_too(box: Box, project: Path, text: str, word: str) -> None:
    assert word in wall_note(box, project, f"some lines\n{text}\n", failed=True)


@pytest.mark.parametrize(
    "text",
    [
        "cat: /etc/hosts: Permission denied in a text that is only printed",
        "./script.sh: Permission denied",
        "bash: line 1: new/file: Permission denied",
        "all is well",
        "",
    ],
)
def test_nothing_is_said_of_what_is_no_wall(
    box: Box, project: Path, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.access", lambda path, mode: str(path).startswith(str(project)))
    assert wall_note(box, project, text, failed=True) == ""


def test_a_command_that_did_well_is_believed_unless_it_is_beyond_doubt(box: Box, project: Path, outside: Path) -> None:
    denied = f"touch: cannot touch '{outside}/x': Permission denied"
    read_only = f"touch: cannot touch '{outside}/x': Read-only file system"
    assert wall_note(box, project, denied, failed=False) == ""
    assert "may not write" in wall_note(box, project, read_only, failed=False)


def test_without_a_sandbox_there_are_no_walls(project: Path, outside: Path) -> None:
    text = f"touch: cannot touch '{outside}/x': Read-only file system"
    assert wall_note(Box(rung="none"), project, text, failed=True) == ""


def test_hostile_text_does_no_harm(box: Box, project: Path) -> None:
    for text in ("\0: Permission denied", "'" * 5000 + ": Permission denied", "/" * 5000 + ": EROFS", "~/: EROFS"):
        wall_note(box, project, text, failed=True)


@pytest.mark.parametrize(
    ("command", "text", "failed", "missed"),
    [
        ("kill 3", "bash: line 1: kill: (3) - No such process", True, True),
        ("kill 3; true", "bash: line 1: kill: (3) - No such process", False, True),
        ("pkill -f vite", "", True, True),
        ("pkill -f vite", "", False, False),
        ("make skill", "error", True, False),
    ],
)
def test_who_looks_in_vain_for_processes_is_told_of_jobs(command: str, text: str, failed: bool, missed: bool) -> None:
    assert misses_processes(command, text, failed=failed) == missed
    assert "job_1, job_2" in other_processes(["job_1", "job_2"])


def test_the_full_stop_of_a_sentence_is_not_part_of_a_name(box: Box, project: Path, outside: Path) -> None:
    socket = outside / "docker.sock"
    socket.touch()
    shut = replace(box, walls=(*box.walls, Wall(outside, "empty", "closed")))
    text = f"Cannot connect to the Docker daemon at unix://{socket}. Is the docker daemon running?"
    assert wall_note(shut, project, text, failed=True).startswith(f"{socket} is out of sight for commands")


def test_what_is_made_beside_a_project_in_a_temporary_folder_is_said_to_be_seen_by_nobody(
    box: Box, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("toolwright.process.sandbox.denials.TEMP_FOLDERS", (tmp_path,))
    own = replace(box, temp=tmp_path.parent / f"{tmp_path.name}.own")
    (own.temp / "tree").mkdir(parents=True)
    (tmp_path / "there").mkdir()
    (own.temp / "there").mkdir()
    told = temporary_note(own, project, [project / "x", tmp_path / "there", tmp_path / "nowhere", tmp_path / "tree"])
    assert told.startswith(f"{tmp_path / 'tree'} is in the temporary folder that commands have for themselves")
    assert temporary_note(own, project, [project / "x", tmp_path / "there"]) == ""
    assert temporary_note(replace(own, rung="none"), project, [tmp_path / "tree"]) == ""
    assert temporary_note(own, Path("/elsewhere"), [tmp_path / "tree"]) == ""
