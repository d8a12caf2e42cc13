"""The one way to disk: all or nothing, for every task and process, whatever happens."""

import asyncio
import errno
import json
import os
import random
import signal
import stat
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

from toolwright.errors import ToolError
from toolwright.files.paths import Tree
from toolwright.files.store import Change, Files

CRASH = Path(__file__).with_name("crash.py")


@pytest.fixture
def files(tmp_path: Path) -> Files:
    (tmp_path / "project").mkdir()
    return Files(Tree(tmp_path / "project"), tmp_path / "data")


async def _commit(files: Files, *changes: tuple[str, bytes | None, bytes | None]) -> None:
    made = [Change(place=files.tree.place(name), before=before, after=after) for name, before, after in changes]
    await files.commit(made, session_id="ses_1", call_id="call_1")


def _strays(files: Files) -> list[Path]:
    return [path for path in files.tree.root.rglob("*") if path.name.startswith(".toolwright")]


async def test_a_file_is_created_changed_and_deleted(files: Files) -> None:
    path = files.tree.root / "new" / "a.txt"
    await _commit(files, ("new/a.txt", None, b"one"))
    assert path.read_bytes() == b"one"
    await _commit(files, ("new/a.txt", b"one", b"two"))
    assert path.read_bytes() == b"two"
    await _commit(files, ("new/a.txt", b"two", None))
    assert not path.exists()
    assert _strays(files) == []


async def test_mode_owner_and_attributes_stay(files: Files) -> None:
    path = files.tree.root / "a.sh"
    path.write_bytes(b"old")
    path.chmod(0o4751)
    if os.geteuid() == 0:
        os.chown(path, 1234, 4321)
        path.chmod(0o4751)
    try:
        os.setxattr(path, "user.note", b"kept")
    except OSError:
        pytest.skip("this file system has no attributes")
    before = path.stat()
    await _commit(files, ("a.sh", b"old", b"new"))
    after = path.stat()
    assert (after.st_mode, after.st_uid, after.st_gid) == (before.st_mode, before.st_uid, before.st_gid)
    assert os.getxattr(path, "user.note") == b"kept"
    assert after.st_ino != before.st_ino


async def test_a_new_file_has_the_usual_mode_or_that_of_the_file_it_moved_from(files: Files) -> None:
    source = files.tree.root / "a.sh"
    source.write_bytes(b"x")
    source.chmod(0o755)
    move = [
        Change(place=files.tree.place("b.sh"), before=None, after=b"x", like=files.tree.place("a.sh")),
        Change(place=files.tree.place("a.sh"), before=b"x", after=None),
        Change(place=files.tree.place("c.txt"), before=None, after=b"x"),
    ]
    await files.commit(move, session_id="ses_1", call_id="call_1")
    assert not source.exists()
    assert stat.S_IMODE((files.tree.root / "b.sh").stat().st_mode) == 0o755
    mask = os.umask(0o022)
    os.umask(mask)
    assert stat.S_IMODE((files.tree.root / "c.txt").stat().st_mode) == 0o666 & ~mask


async def test_other_names_of_a_file_see_the_change(files: Files) -> None:
    path, twin = files.tree.root / "a", files.tree.root / "twin"
    path.write_bytes(b"a long old content")
    os.link(path, twin)
    await _commit(files, ("a", b"a long old content", b"short"))
    assert twin.read_bytes() == b"short"
    assert twin.samefile(path)


async def test_a_link_stays_a_link(files: Files) -> None:
    (files.tree.root / "real").write_bytes(b"old")
    (files.tree.root / "link").symlink_to("real")
    await _commit(files, ("link", b"old", b"new"))
    assert (files.tree.root / "link").is_symlink()
    assert (files.tree.root / "real").read_bytes() == b"new"


async def test_a_file_that_cannot_be_replaced_is_written_in_place(
    files: Files, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = files.tree.root / "mounted"
    path.write_bytes(b"old")
    inode = path.stat().st_ino
    _failing(monkeypatch, "replace", at=2, code=errno.EBUSY)  # the first stores the image
    await _commit(files, ("mounted", b"old", b"new"))
    assert (path.read_bytes(), path.stat().st_ino) == (b"new", inode)
    assert _strays(files) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to become someone else")
def test_a_file_in_a_folder_we_may_not_write_to_is_written_in_place() -> None:
    with tempfile.TemporaryDirectory() as folder:
        project, data = Path(folder) / "project", Path(folder) / "data"
        path = project / "a.txt"
        for made in (project, data):
            made.mkdir()
        path.write_bytes(b"old")
        for opened, mode in ((Path(folder), 0o755), (data, 0o777), (path, 0o666)):
            opened.chmod(mode)
        subprocess.run([sys.executable, "-c", _NOBODY, project, data], check=True)
        assert (path.read_bytes(), path.stat().st_uid) == (b"new", 0)
        assert [entry.name for entry in project.iterdir()] == ["a.txt"]


@pytest.mark.parametrize(
    ("there", "before"), [(b"changed", b"old"), (None, b"old"), (b"appeared", None)], ids=["changed", "gone", "new"]
)
async def test_a_file_that_is_not_what_it_was_stops_the_whole_change(
    files: Files, there: bytes | None, before: bytes | None
) -> None:
    first, second = files.tree.root / "a", files.tree.root / "b"
    first.write_bytes(b"old")
    if there is not None:
        second.write_bytes(there)
    with pytest.raises(ToolError) as caught:
        await _commit(files, ("a", b"old", b"new"), ("b", before, b"new"))
    assert caught.value.kind == ("missing" if there is None else "stale")
    assert first.read_bytes() == b"old"
    assert (second.read_bytes() if second.exists() else None) == there


@pytest.mark.parametrize(
    ("name", "at"),
    [
        ("link", 1),
        ("unlink", 2),
        ("replace", 5),
        ("fsync", 2),
    ],  # storing the images takes three replacements of its own
)
async def test_a_failure_half_way_takes_everything_back(
    files: Files, monkeypatch: pytest.MonkeyPatch, name: str, at: int
) -> None:
    root = files.tree.root
    for letter in ("a", "b", "c"):
        (root / letter).write_bytes(letter.encode())
    changes = (("a", b"a", b"A"), ("n/d", None, b"D"), ("b", b"b", None), ("c", b"c", b"C"))
    _failing(monkeypatch, name, at=at, code=errno.ENOSPC)
    with pytest.raises(ToolError, match="No space left"):
        await _commit(files, *changes)
    monkeypatch.undo()
    assert {path.name: path.read_bytes() for path in root.iterdir()} == {"a": b"a", "b": b"b", "c": b"c"}


async def test_a_path_named_twice_is_refused(files: Files) -> None:
    with pytest.raises(ToolError, match="named twice"):
        await _commit(files, ("a", None, b"1"), ("./a", None, b"2"))


async def test_a_new_file_never_replaces_one_that_came_first(files: Files, monkeypatch: pytest.MonkeyPatch) -> None:
    """Even in the last moment, after the comparison."""
    path = files.tree.root / "a"
    real = os.link

    def link(*arguments: Any, **more: Any) -> None:
        path.write_bytes(b"theirs")
        real(*arguments, **more)

    monkeypatch.setattr(os, "link", link)
    with pytest.raises(ToolError):
        await _commit(files, ("a", None, b"ours"))
    assert path.read_bytes() == b"theirs"
    assert _strays(files) == []


async def test_tasks_that_change_one_file_do_not_lose_each_others_work(files: Files) -> None:
    (files.tree.root / "a").write_bytes(b"")
    (files.tree.root / "b").symlink_to("a")
    await asyncio.gather(*(_append(files, "ab"[number % 2], f"{number}\n".encode()) for number in range(40)))
    lines = (files.tree.root / "a").read_text().split()
    assert sorted(map(int, lines)) == list(range(40))


async def test_a_cancelled_commit_ends_before_its_lock_is_let_go(files: Files) -> None:
    path = files.tree.root / "a"
    path.write_bytes(b"0")
    told: list[Path] = []
    files.on_edited.append(lambda path, _: told.append(path))
    for number in range(20):
        told.clear()
        data = str(number).encode()
        task = asyncio.create_task(_commit(files, ("a", data, str(number + 1).encode())))
        for _ in range(number % 10):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        found = path.read_bytes()
        assert found in (data, str(number + 1).encode())
        assert bool(told) is (found != data)
        assert path.read_bytes() == found
        path.write_bytes(str(number + 1).encode())
    assert _strays(files) == []


async def test_the_session_knows_what_it_wrote(files: Files) -> None:
    await _commit(files, ("a", None, b"one\n"))
    loaded = await files.load(files.tree.place("a"))
    files.require_read("ses_1", loaded)
    with pytest.raises(ToolError) as caught:
        files.require_read("ses_2", loaded)
    assert caught.value.kind == "unread"
    files.forget("ses_1")
    with pytest.raises(ToolError):
        files.require_read("ses_1", loaded)


async def test_what_files_were_before_is_in_the_journal(files: Files) -> None:
    await _commit(files, ("a", None, b"one"))
    await _commit(files, ("a", b"one", b"two"), ("b", None, b""))
    first, second, third = files.journal.entries("ses_1")
    assert first.before is third.before is None
    assert second.before is not None
    assert second.before == first.after
    assert files.journal.images.get(second.before) == b"one"
    assert [Path(entry.path).name for entry in (first, second, third)] == ["a", "a", "b"]
    assert {entry.call_id for entry in (first, second, third)} == {"call_1"}


@pytest.mark.parametrize("scenario", ["replace", "large", "create", "delete", "linked", "linked_shorter", "several"])
def test_killed_at_any_step_leaves_the_old_or_the_new(tmp_path: Path, scenario: str) -> None:
    done = subprocess.run([sys.executable, CRASH, scenario, tmp_path], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    outcome = json.loads(done.stdout)
    assert outcome["seen"] == ["after", "before"]
    assert outcome["steps"] > 15


@pytest.mark.slow
def test_killed_at_any_moment_leaves_the_old_or_the_new(tmp_path: Path) -> None:
    project, data, chance = tmp_path / "project", tmp_path / "data", random.Random(5)
    project.mkdir()
    for name in ("a", "b"):
        (project / name).write_bytes(b"0" * 50_000)
    for _ in range(20):
        worker = subprocess.Popen([sys.executable, "-c", _WRITER, project, data], stdout=subprocess.PIPE)
        assert worker.stdout is not None
        worker.stdout.readline()
        sum(range(chance.randrange(2_000_000)))  # some moment later
        worker.send_signal(signal.SIGKILL)
        worker.wait()
        worker.stdout.close()
        files = Files(Tree(project), data)
        contents = {(project / name).read_bytes() for name in ("a", "b")}
        assert len(contents) == 1
        (content,) = contents
        assert len(content) == 50_000
        assert len(set(content)) == 1
        assert _strays(files) == []


def test_two_processes_that_change_one_file_lose_nothing(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "a").write_bytes(b"")
    workers = [
        subprocess.Popen([sys.executable, "-c", _APPENDER, project, tmp_path / "data", name]) for name in ("x", "y")
    ]
    assert [worker.wait(60) for worker in workers] == [0, 0]
    lines = (project / "a").read_text().splitlines()
    assert sorted(lines) == sorted(f"{name}{number}" for name in ("x", "y") for number in range(250))


async def _append(files: Files, name: str, line: bytes) -> None:
    """Try until nobody else was faster."""
    place = files.tree.place(name)
    while True:
        content = await files.fetch(place)
        await asyncio.sleep(0)
        try:
            await _commit(files, (name, content.data, content.data + line))
        except ToolError as error:
            if error.kind != "stale":
                raise
        else:
            return


def _failing(monkeypatch: pytest.MonkeyPatch, name: str, *, at: int, code: int) -> None:
    """Let the system refuse one call of this kind."""
    real, left = getattr(os, name), at

    def refuse(*arguments: object, **more: object) -> object:
        nonlocal left
        left -= 1
        if left == 0:
            raise OSError(code, os.strerror(code))
        return real(*arguments, **more)

    monkeypatch.setattr(os, name, refuse)


_NOBODY = """
import asyncio, concurrent.futures.thread, os, sys
from pathlib import Path
from toolwright.files.paths import Tree
from toolwright.files.store import Change, Files

os.setuid(65534)
files = Files(Tree(sys.argv[1]), Path(sys.argv[2]))
change = Change(place=files.tree.place("a.txt"), before=b"old", after=b"new")
asyncio.run(files.commit([change], session_id="s", call_id="c"))
"""

_APPENDER = """
import asyncio, sys
from pathlib import Path
from toolwright.errors import ToolError
from toolwright.files.paths import Tree
from toolwright.files.store import Change, Files

async def main(project, data, name):
    files = Files(Tree(project), Path(data))
    place = files.tree.place("a")
    for number in range(250):
        while True:
            content = await files.fetch(place)
            change = Change(place=place, before=content.data, after=content.data + f"{name}{number}\\n".encode())
            try:
                await files.commit([change], session_id=name, call_id=str(number))
            except ToolError as error:
                assert error.kind == "stale", error
                continue
            break

asyncio.run(main(*sys.argv[1:]))
"""

_WRITER = """
import asyncio, sys
from pathlib import Path
from toolwright.files.paths import Tree
from toolwright.files.store import Change, Files

async def main(project, data):
    files = Files(Tree(project), Path(data))
    print("ready", flush=True)
    for number in range(1, 100_000):
        contents = [await files.fetch(files.tree.place(name)) for name in ("a", "b")]
        changes = [Change(place=c.place, before=c.data, after=(b"%d" % (number % 10)) * 50_000) for c in contents]
        await files.commit(changes, session_id="s", call_id=str(number))

asyncio.run(main(*sys.argv[1:]))
"""
