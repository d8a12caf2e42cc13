"""A database damaged in many ways: what can still be read is read, the rest is one sentence, and nothing hangs."""

import random
import sqlite3
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from tests.attacks.sessions.command import database_of, tw
from tests.session.trial import calls, opened, read, says
from toolwright.errors import ToolwrightError
from toolwright.models.scripted import ScriptedModel
from toolwright.session.storage.on_disk import Storage
from toolwright.session.store import StorageError
from toolwright.testing import make_workspace

Damage = Callable[[Path], None]


def _statement(*statements: str) -> Damage:
    def damage(path: Path) -> None:
        connection = sqlite3.connect(path, isolation_level=None)
        for statement in statements:
            connection.execute(statement)
        connection.close()

    return damage


def _flipped(seed: int, count: int) -> Damage:
    def damage(path: Path) -> None:
        dice, data = random.Random(seed), bytearray(path.read_bytes())
        for _ in range(count):
            data[dice.randrange(len(data))] ^= 1 << dice.randrange(8)
        path.write_bytes(data)

    return damage


def _head(offset: int, value: bytes) -> Damage:
    def damage(path: Path) -> None:
        data = bytearray(path.read_bytes())
        data[offset : offset + len(value)] = value
        path.write_bytes(data)

    return damage


def _truncated(share: float) -> Damage:
    return _changed(lambda data: data[: int(len(data) * share)])


def _changed(change: Callable[[bytes], bytes]) -> Damage:
    def damage(path: Path) -> None:
        path.write_bytes(change(path.read_bytes()))

    return damage


def _folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


DEEP = "'" + "[" * 50_000 + "'"
DAMAGES: dict[str, Damage] = {
    **{f"{count} bits flipped, {seed}": _flipped(seed, count) for seed in range(7) for count in (1, 40)},
    **{
        f"no table {name}": _statement(f"DROP TABLE {name}") for name in ("session", "message", "part", "todo", "lease")
    },
    **{f"truncated to {share}": _truncated(share) for share in (0, 0.1, 0.5, 0.9)},
    "no database": _changed(lambda _: b"this is not a database at all " * 100),
    "zeros": _changed(lambda data: bytes(len(data))),
    "a folder": _folder,
    "a page size that is none": _head(16, b"\x00\x03"),
    "an unknown format": _head(18, b"\x63\x63"),
    "a schema of another program": _statement(
        "DROP TABLE part", "CREATE TABLE part (a TEXT)", "DROP TABLE message", "CREATE TABLE message (b BLOB)"
    ),
    "a column too few": _statement("ALTER TABLE lease DROP COLUMN beats"),
    "a view for a table": _statement("DROP TABLE todo", "CREATE VIEW todo AS SELECT 1"),
    "a newer version": _statement("PRAGMA user_version = 99"),
    "a negative version": _statement("PRAGMA user_version = -5"),
    "records cut short": _statement("UPDATE part SET data = substr(data, 1, 40)"),
    "records that are no objects": _statement("UPDATE message SET data = '[]'"),
    "records of nothing": _statement("UPDATE part SET data = ''"),
    "records of bytes": _statement("UPDATE session SET data = x'fffe00'"),
    "records of numbers": _statement("UPDATE message SET data = 5"),
    "records without end": _statement(f"UPDATE part SET data = {DEEP}", f"UPDATE todo SET data = {DEEP}"),
    "text that is no text": _statement("UPDATE session SET data = CAST(x'ff00fe' AS TEXT)"),
    "moments that are words": _statement("UPDATE session SET updated = 'soon'"),
    "moments out of reach": _statement("""UPDATE session SET data = json_set(data, '$.time.updated', 1e300)"""),
    "a title that is a list": _statement("""UPDATE session SET data = json_set(data, '$.title', json('[1]'))"""),
    "a session above itself": _statement(
        """UPDATE session SET parent_id = id, data = json_set(data, '$.parentID', id)"""
    ),
    "a lease of nobody": _statement(
        "INSERT INTO lease SELECT id, 'x', 'pid', '../../../../tmp', 1, 'many', 'never' FROM session"
    ),
}


async def _made(project: Path) -> str:
    async with opened(project, calls(read()), says("One.")) as trial:
        await trial.prompt("First.")
        await trial.workspace.sessions.imported(await trial.workspace.sessions.exported(trial.session.id))
        name = trial.session.id
    connection = sqlite3.connect(database_of(project))
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    return name


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
async def test_every_use_works_or_says_why_not(project: Path, damage: Damage) -> None:
    name = await _made(project)
    damage(database_of(project))
    store = Storage.open(database_of(project), beat_seconds=0.01)
    workspace = make_workspace(project, model=ScriptedModel({"text": "Two."}), store=store)
    sessions = workspace.sessions
    uses: tuple[Callable[[], Awaitable[object]], ...] = (
        lambda: sessions.listed(),
        lambda: sessions.messages(name),
        lambda: sessions.exported(name),
        lambda: sessions.fork(name),
        lambda: workspace.todos.of(name),
        lambda: sessions.open(name),
        lambda: workspace.prompt("Go."),
        lambda: sessions.collect(1),
        lambda: sessions.delete(name),
        lambda: workspace.store.size(),
    )
    said = [await _refusal(use) for use in uses]
    assert [one for one in said if "\n" in one or len(one) > 500] == []
    await workspace.close()
    await _refusal(store.close)


async def _refusal(use: Callable[[], Awaitable[object]]) -> str:
    """Why something cannot be done; empty if it can."""
    try:
        await use()
    except ToolwrightError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("kind", ["no table part", "no database", "a folder", "zeros", "moments out of reach"])
async def test_the_command_line_tells_it_in_one_sentence(project: Path, kind: str) -> None:
    name = await _made(project)
    DAMAGES[kind](database_of(project))
    for words in (("session", "list"), ("session", "show", name), ("session", "delete", name), ("gc",)):
        said = tw(project, *words)
        assert said.is_plain, said.error


async def test_a_table_that_is_gone_hides_no_other(project: Path) -> None:
    name = await _made(project)
    _statement("DROP TABLE part", "DROP TABLE todo")(database_of(project))
    async with make_workspace(project, keep=True) as workspace:
        assert name in [info.id for info in await workspace.sessions.listed()]
        assert len(await workspace.sessions.messages(name)) == 3
        assert await workspace.todos.of(name) == []


@pytest.mark.parametrize(
    ("pragma", "undone"),
    [("query_only = 1", "query_only = 0"), ("max_page_count = 1", "max_page_count = 1000000")],
    ids=["read-only", "full"],
)
async def test_a_disk_that_takes_nothing_is_told_and_reading_goes_on(project: Path, pragma: str, undone: str) -> None:
    async with opened(project, says("One."), says("Two." + "x" * 50_000), says("Three.")) as trial:
        await trial.prompt("First.")
        store = trial.workspace.store
        assert isinstance(store, Storage)
        writer = await store.database.run(lambda connection: connection)
        writer.execute(f"PRAGMA {pragma}")
        with pytest.raises(StorageError, match=r"cannot be written: .*\. Make room or correct its permissions"):
            await trial.prompt("Second.")
        writer.execute(f"PRAGMA {undone}")
        assert (await trial.prompt("Third.")).text
        assert [one.text for one in await trial.stored()][:2] == ["First.", "One."]
