"""Loading files, and knowing again what was read."""

import os
from pathlib import Path

import pytest

from toolwright.errors import ToolError
from toolwright.files.disk import LOADABLE
from toolwright.files.paths import Tree
from toolwright.files.store import LARGE, Files


@pytest.fixture
def files(tmp_path: Path) -> Files:
    (tmp_path / "project").mkdir()
    return Files(Tree(tmp_path / "project"), tmp_path / "data")


@pytest.mark.parametrize("size", [0, 10, LARGE + 10])
async def test_a_file_is_loaded_whole(files: Files, size: int) -> None:
    (files.tree.root / "a").write_bytes(b"x" * size)
    loaded = await files.load(files.tree.place("a"))
    assert loaded.data == b"x" * size
    assert loaded.text.content == "x" * size


async def test_what_cannot_be_loaded_says_why(files: Files) -> None:
    root = files.tree.root
    (root / "folder").mkdir()
    (root / "binary").write_bytes(b"a\0b")
    (root / "loop").symlink_to("loop")
    os.mkfifo(root / "pipe")
    with (root / "huge").open("wb") as file:
        file.truncate(LOADABLE + 1)
    kinds = {"folder": "is_folder", "binary": "binary", "pipe": "binary", "huge": "too_large", "none": "missing"}
    for name, kind in (kinds | {"loop": "binary", "binary/x": "missing", "n" * 300: "schema"}).items():
        with pytest.raises(ToolError) as caught:
            await files.load(files.tree.place(name))
        assert caught.value.kind == kind, name
        assert str(root) in str(caught.value)


async def test_a_link_put_in_the_way_is_not_followed(files: Files, tmp_path: Path) -> None:
    """The place was judged when it was made; what it leads to must not change after that."""
    (tmp_path / "secret").write_text("s")
    (files.tree.root / "d").mkdir()
    (files.tree.root / "d" / "a").write_text("a")
    file, folder = files.tree.place("d/b"), files.tree.place("d/a")
    (files.tree.root / "d" / "b").symlink_to(tmp_path / "secret")
    with pytest.raises(ToolError):
        await files.load(file)
    (files.tree.root / "d" / "a").rename(tmp_path / "a")
    (files.tree.root / "d" / "b").unlink()
    (files.tree.root / "d").rmdir()
    (files.tree.root / "d").symlink_to(tmp_path)
    with pytest.raises(ToolError) as caught:
        await files.load(folder)
    assert caught.value.kind == "stale"


async def test_a_newer_time_alone_counts_as_a_change(files: Files) -> None:
    path = files.tree.root / "a"
    path.write_text("x")
    loaded = await files.load(files.tree.place("a"))
    files.note_read("s", loaded.place, loaded.digest)
    files.require_read("s", loaded)
    os.utime(path, (2e9, 2e9))
    with pytest.raises(ToolError) as caught:
        files.require_read("s", await files.load(loaded.place))
    assert caught.value.kind == "stale"
    os.utime(path, (1e9, 1e9))
    files.require_read("s", await files.load(loaded.place))


async def test_without_a_hash_only_the_same_state_will_do(files: Files, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("toolwright.files.disk._SETTLED", 10**18)
    path = files.tree.root / "a"
    path.write_text("x")
    fresh = await files.load(files.tree.place("a"))
    files.note_read("s", fresh.place, "", stamp=fresh.stamp)
    with pytest.raises(ToolError):
        files.require_read("s", fresh)
    monkeypatch.setattr("toolwright.files.disk._SETTLED", -1)
    loaded = await files.load(fresh.place)
    files.note_read("s", loaded.place, "", stamp=loaded.stamp)
    files.require_read("s", loaded)
    os.utime(path, ns=(loaded.stamp.modified, loaded.stamp.modified))
    with pytest.raises(ToolError) as caught:
        files.require_read("s", await files.load(loaded.place))
    assert caught.value.kind == "stale"


async def test_a_link_and_its_target_are_two_names(files: Files) -> None:
    (files.tree.root / "real").write_text("x")
    (files.tree.root / "link").symlink_to("real")
    loaded = await files.load(files.tree.place("real"))
    files.note_read("s", loaded.place, loaded.digest)
    with pytest.raises(ToolError) as caught:
        files.require_read("s", await files.load(files.tree.place("link")))
    assert caught.value.kind == "unread"


async def test_a_change_in_the_same_tick_of_the_clock_is_told_by_the_hash(
    files: Files, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The stamp is taken when the file is noted, and may be that of another content already."""
    monkeypatch.setattr("toolwright.files.disk._SETTLED", -1)
    path = files.tree.root / "a"
    path.write_text("old text")
    loaded = await files.load(files.tree.place("a"))
    path.write_text("new text")
    files.note_read("s", loaded.place, loaded.digest)
    with pytest.raises(ToolError) as caught:
        files.require_read("s", await files.load(loaded.place))
    assert caught.value.kind == "stale"
