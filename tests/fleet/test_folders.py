"""A folder is the same elsewhere, whatever is done in it."""

import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolwright.fleet import folders
from toolwright.fleet.folders import TooLarge, apply, changes, look_at, pack, unpack

NAMES = st.sampled_from(["a", "b", "d", "d/e", "d/f", "d/f/g", ".git/HEAD", "größe\udcff"])
KINDS = st.sampled_from(["file", "script", "empty", "link", "folder", "gone"])
EDITS = st.lists(st.tuples(NAMES, KINDS, st.binary(max_size=3)), max_size=8)


def edit(folder: Path, name: str, kind: str, data: bytes) -> None:
    path = folder / name
    for parent in reversed(path.relative_to(folder).parents[:-1]):
        if (folder / parent).is_symlink() or not (folder / parent).is_dir():
            (folder / parent).unlink(missing_ok=True)
            (folder / parent).mkdir()
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
    match kind:
        case "file" | "script":
            path.write_bytes(data)
            path.chmod(0o755 if kind == "script" else 0o644)
        case "empty":
            path.touch()
        case "link":
            path.symlink_to("./a")
        case "folder":
            path.mkdir()


def tree(folder: Path) -> dict[str, object]:
    found: dict[str, object] = {}
    for path in sorted(folder.rglob("*")):
        name, mode = str(path.relative_to(folder)), path.lstat().st_mode
        content = str(path.readlink()) if path.is_symlink() else path.read_bytes() if path.is_file() else None
        found[name] = (mode, content)
    return found


@settings(max_examples=40)
@given(first=EDITS, steps=st.lists(EDITS, max_size=3))
def test_base_and_changes_make_the_same_folder(
    first: list[tuple[str, str, bytes]],
    steps: list[list[tuple[str, str, bytes]]],
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    above = tmp_path_factory.mktemp("folders")
    here, there = above / "here", above / "there"
    here.mkdir()
    for one in first:
        edit(here, *one)
    unpack(pack(here), there)
    look = look_at(here)
    together: dict[str, Any] = {}
    for step in steps:
        for one in step:
            edit(here, *one)
        now = look_at(here)
        together |= changes(here, look, now)
        look = now
    apply(there, together)
    assert tree(there) == tree(here)
    shutil.rmtree(above)


def test_what_has_not_changed_is_not_sent_again(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("a")
    os.utime(tmp_path, (1, 1))
    first = {name: (*mark[:-1], 0) for name, mark in look_at(tmp_path).items()}
    (tmp_path / "b").write_text("b")
    assert set(changes(tmp_path, first, {**first, "b": look_at(tmp_path)["b"]})) == {"b"}


def test_too_much_in_one_step_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folders, "LARGEST", 10)
    (tmp_path / "a").write_text("x" * 11)
    with pytest.raises(TooLarge):
        changes(tmp_path, {}, look_at(tmp_path))


def test_nothing_is_removed_through_a_link(tmp_path: Path) -> None:
    outside, here, there = tmp_path / "outside", tmp_path / "here", tmp_path / "there"
    outside.mkdir()
    (outside / "e").touch()
    here.mkdir()
    (here / "d").symlink_to(outside)
    unpack(pack(here), there)
    apply(there, {"d": {"link": str(outside)}, "d/e": None})
    assert (outside / "e").exists()
    assert tree(there) == tree(here)
