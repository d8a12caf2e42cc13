"""A damaged database: what can be read is saved, the file is set aside, and the work goes on."""

import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from tests.session.storage.test_on_disk import part
from toolwright.session.storage.on_disk import Storage
from toolwright.session.store import StorageError

PAGE = 4096
HOLD = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1])
print(connection.execute("SELECT count(*) FROM sqlite_master").fetchone(), flush=True)
sys.stdin.read()
"""
"""A program that has a database open until it is told to end."""


async def stored(path: Path, count: int) -> list[bytes]:
    """A database with so many parts, as its pages."""
    storage = Storage.open(path)
    for number in range(count):
        storage.put_part(part(number, f"{number:05} " * 40))
    await storage.close()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    data = path.read_bytes()
    return [data[at : at + PAGE] for at in range(0, len(data), PAGE)]


def names(path: Path) -> set[str]:
    with closing(sqlite3.connect(path)) as connection:
        return {name for (name,) in connection.execute("SELECT id FROM part")}


def leaf_pages(pages: list[bytes]) -> list[int]:
    """The pages that hold rows of parts."""
    return [at for at, page in enumerate(pages) if page[0] == 13 and b'"output"' in page]


async def test_all_rows_but_those_of_a_damaged_page_are_saved(tmp_path: Path) -> None:
    path = tmp_path / "sessions.db"
    pages = await stored(path, 400)
    [first, *_, last] = leaf_pages(pages)
    for at in (first, last):
        pages[at] = bytes(PAGE)
    path.write_bytes(b"".join(pages))
    storage = Storage.open(path)
    storage.put_part(part(1000))
    await storage.settled()
    assert await storage.messages("ses_x") == []
    await storage.close()
    saved = names(path)
    assert part(1000).id in saved
    assert len(saved) > 350
    assert len(list(tmp_path.glob("sessions.db.damaged-*"))) == 1


async def test_damage_that_a_reader_meets_is_no_reason_to_find_nothing(tmp_path: Path) -> None:
    path = tmp_path / "sessions.db"
    pages = await stored(path, 100)
    storage = Storage.open(path)
    await storage.settled()
    broken = bytearray(b"".join(pages))
    for at in range(2 * PAGE, len(broken), PAGE):
        if broken[at] in (2, 10):  # a page of an index
            broken[at : at + PAGE] = bytes(PAGE)
    path.write_bytes(broken)
    assert isinstance(await storage.messages("ses_1"), list)
    await storage.close()
    assert len(names(path)) == 100


async def test_two_in_one_process_go_on_in_the_same_new_file(tmp_path: Path) -> None:
    path = tmp_path / "sessions.db"
    await stored(path, 1)
    one, other = Storage.open(path), Storage.open(path)
    await one.settled()
    await other.settled()
    path.rename(tmp_path / "moved.db")
    for number, storage in enumerate((one, other)):
        storage.put_part(part(2000 + number))
        await storage.settled()
    await one.close()
    await other.close()
    assert names(path) == {part(2000).id, part(2001).id}


async def test_a_damaged_file_that_another_process_has_open_is_left_where_it_is(tmp_path: Path) -> None:
    path = tmp_path / "sessions.db"
    pages = await stored(path, 50)
    with subprocess.Popen([sys.executable, "-c", HOLD, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        assert other.stdin is not None
        other.stdout.readline()
        path.write_bytes(b"".join([*pages[:2], *(bytes(PAGE) for _ in pages[2:])]))
        storage = Storage.open(path)
        storage.put_part(part(1))
        with pytest.raises(StorageError, match="damaged and in use"):
            await storage.settled()
        other.stdin.close()
        other.wait()
    await storage.settled()
    await storage.close()
    assert part(1).id in names(path)


async def test_a_folder_that_was_removed_comes_back_only_for_something_to_write(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    storage = Storage.open(folder / "sessions.db")
    await storage.settled()
    shutil.rmtree(folder)
    await storage.settled()
    assert not folder.exists()
    storage.put_part(part(1))
    await storage.settled()
    assert names(folder / "sessions.db") == {part(1).id}
    shutil.rmtree(folder)
    await storage.close()
    assert not folder.exists()
