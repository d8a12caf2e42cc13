"""Changes of a copy carried over to another state of the same project: files, moves, links, and what contradicts."""

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from toolwright.copies.git import Repository
from toolwright.copies.joining import JoinedTrees, joined

Change = Callable[[Path], object]


async def joining(tmp_path: Path, ours: Change, theirs: Change) -> JoinedTrees:
    """Begin two folders alike, change each, and join them."""
    base = tmp_path / "theirs"
    base.mkdir()
    (base / "a.txt").write_text("1\n2\n3\n4\n5\n6\n7\n8\n")
    (base / "b.txt").write_text("b\n")
    (base / "pic.bin").write_bytes(b"\0one")
    (base / "link").symlink_to("a.txt")
    (base / "sub").mkdir()
    (base / "sub" / "c.py").write_text("import os\n\n\ndef one():\n    return os\n")
    (base / ".gitignore").write_text("ignored\n")
    repository = Repository(base=tmp_path / "base.git", folder=base)
    tree = await repository.begin()
    other = tmp_path / "ours"
    shutil.copytree(base, other, symlinks=True)
    ours(other)
    theirs(base)
    return await joined(repository, tree, await repository.snapshot(other), await repository.snapshot(base))


def write(path: str, text: str) -> Change:
    def change(folder: Path) -> None:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)

    return change


def move(path: str, target: str) -> Change:
    return lambda folder: (folder / path).rename(folder / target)


def remove(path: str) -> Change:
    return lambda folder: (folder / path).unlink()


def nest(path: str) -> Change:
    """Put a repository with a commit in the place of a file."""

    def change(folder: Path) -> None:
        (folder / path).unlink()
        git = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-C", str(folder / path)]
        subprocess.run(["git", "init", "-q", str(folder / path)], check=True)
        subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "x"], check=True)

    return change


def both(*changes: Change) -> Change:
    return lambda folder: [change(folder) for change in changes]


def nothing(folder: Path) -> None:
    pass


def shown(join: JoinedTrees) -> dict[str, str | None]:
    return {path: None if file is None else file.data.decode() for path, file in join.files.items()}


async def test_what_only_the_copy_changed_is_taken_and_what_is_ignored_is_not(tmp_path: Path) -> None:
    join = await joining(
        tmp_path,
        write("b.txt", "ours\n"),
        both(write("a.txt", "new\n"), write("n/d.txt", "d\n"), write("ignored", "x")),
    )
    assert shown(join) == {"a.txt": "new\n", "n/d.txt": "d\n"}
    assert join.clashes == []


async def test_different_lines_of_one_file_are_put_together(tmp_path: Path) -> None:
    join = await joining(
        tmp_path, write("a.txt", "one\n2\n3\n4\n5\n6\n7\n8\n"), write("a.txt", "1\n2\n3\n4\n5\n6\n7\neight\n")
    )
    assert shown(join) == {"a.txt": "one\n2\n3\n4\n5\n6\n7\neight\n"}


@pytest.mark.parametrize("swapped", [False, True])
async def test_a_file_that_one_side_moved_and_the_other_changed_is_moved_and_changed(
    tmp_path: Path, swapped: bool
) -> None:
    sides = [move("a.txt", "z.txt"), write("a.txt", "1\n2\n3\n4\n5\n6\n7\n8\n9\n")]
    join = await joining(tmp_path, *(sides[::-1] if swapped else sides))
    changed = "1\n2\n3\n4\n5\n6\n7\n8\n9\n"
    assert shown(join) == ({"a.txt": None, "z.txt": changed} if swapped else {"z.txt": changed})


async def test_the_same_change_on_both_sides_changes_nothing(tmp_path: Path) -> None:
    same = both(write("b.txt", "same\n"), write("new.txt", "n\n"), remove("pic.bin"))
    join = await joining(tmp_path, same, same)
    assert (join.files, join.clashes) == ({}, [])


async def test_links_and_programs_stay_what_they_are(tmp_path: Path) -> None:
    def theirs(folder: Path) -> None:
        (folder / "b.txt").chmod(0o755)
        (folder / "link").unlink()
        (folder / "link").symlink_to("b.txt")

    join = await joining(tmp_path, nothing, theirs)
    assert {path: file and (file.link, file.executable) for path, file in join.files.items()} == {
        "b.txt": (False, True),
        "link": (True, False),
    }


@pytest.mark.parametrize(
    ("ours", "theirs", "path", "reason"),
    [
        (write("b.txt", "x\n"), write("b.txt", "y\n"), "b.txt", "the same lines"),
        (remove("a.txt"), write("a.txt", "x\n"), "a.txt", "one side changes it, the other removes it"),
        (write("a.txt", "x\n"), remove("a.txt"), "a.txt", "one side changes it, the other removes it"),
        (write("pic.bin", "\0two"), write("pic.bin", "\0three"), "pic.bin", "no text"),
        (write("n.txt", "x\n"), write("n.txt", "y\n"), "n.txt", "the same lines"),
        (move("a.txt", "x.txt"), move("a.txt", "y.txt"), "y.txt", "both sides move a.txt, to y.txt and to x.txt"),
        (write("d/e", "x\n"), write("d", "y\n"), "d", "a folder of that name"),
        (write("d", "y\n"), write("d/e", "x\n"), "d/e", "a file in the place of its folder"),
        (nest("b.txt"), write("b.txt", "y\n"), "b.txt", "the other side has a repository in its place"),
        (write("z.txt", "z\n"), move("a.txt", "z.txt"), "z.txt", "the other side has a file there"),
    ],
)
async def test_what_contradicts_is_named_and_the_rest_is_joined(
    tmp_path: Path, ours: Change, theirs: Change, path: str, reason: str
) -> None:
    join = await joining(tmp_path, ours, both(theirs, write("rest.txt", "r\n")))
    [clash] = join.clashes
    assert clash.path == path
    assert reason in clash.reason
    assert shown(join) == {"rest.txt": "r\n"}


async def test_bytes_are_kept_whatever_the_attributes_of_the_project_say(tmp_path: Path) -> None:
    def theirs(folder: Path) -> None:
        (folder / ".gitattributes").write_text("* text=auto eol=lf filter=evil ident\n")
        (folder / "crlf.txt").write_bytes(b"a\r\n$Id$\r\n")

    join = await joining(tmp_path, nothing, theirs)
    file = join.files["crlf.txt"]
    assert file is not None
    assert file.data == b"a\r\n$Id$\r\n"
