"""Git's index is read as git wrote it, in each of its versions."""

import os
import subprocess
from pathlib import Path

import pytest

from toolwright.machine.git_index import index_around


@pytest.mark.parametrize("version", ["2", "4"])
def test_the_index_tells_which_files_git_has_as_they_are(tmp_path: Path, version: str) -> None:
    for name in ("same.txt", "folder/same.txt", "changed.txt", "größe.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("one\n")
        os.utime(tmp_path / name, (1_000_000_000, 1_000_000_000))
    for arguments in (["init", "-q"], ["update-index", "--index-version", version], ["add", "-A"]):
        subprocess.run(["git", "-C", str(tmp_path), *arguments], check=True)
    (tmp_path / "changed.txt").write_text("two\n")
    (tmp_path / "new.txt").write_text("new\n")
    index = index_around(str(tmp_path / "folder"))
    assert index is not None
    assert index.top == str(tmp_path)
    assert sorted(index.files) == ["changed.txt", "folder/same.txt", "größe.txt", "same.txt"]
    had = [name for name in (*index.files, "new.txt") if index.has(name, (tmp_path / name).lstat())]
    assert sorted(had) == ["folder/same.txt", "größe.txt", "same.txt"]


def test_a_folder_without_git_and_a_damaged_index_have_none(tmp_path: Path) -> None:
    assert index_around(str(tmp_path)) is None
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "index").write_bytes(b"DIRC\0\0\0\2\0\0\0\1short")
    assert index_around(str(tmp_path)) is None
