"""Two at one session: whoever works on it keeps it, whoever has died does not, on this host and on others."""

import asyncio
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.attacks.sessions.command import database_of, tw
from tests.session.trial import calls, nothing_open, opened, read, says
from toolwright.errors import UsageError
from toolwright.messages import Moment, SessionInfo
from toolwright.session.storage.on_disk import Storage
from toolwright.session.storage.owner import Owner
from toolwright.text.ids import now

TAKE = """
import asyncio, os, sys
from pathlib import Path
from toolwright.session.storage.owner import Owner
from toolwright.session.storage.on_disk import Storage

async def main():
    storage = Storage.open(Path(sys.argv[1]))
    await storage.take("ses_1", Owner.new())
    print(os.getpid(), flush=True)
    sys.stdin.read()

asyncio.run(main())
"""


@pytest.fixture
async def storage(tmp_path: Path) -> AsyncIterator[Storage]:
    made = Storage.open(tmp_path / "sessions.db", beat_seconds=0.01)
    await made.settled()
    yield made
    await made.close()


def _other_process(path: Path, *before: str) -> "subprocess.Popen[str]":
    """Another process that has taken the session by the time this returns."""
    started = subprocess.Popen(
        [*before, sys.executable, "-c", TAKE, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert started.stdout is not None
    assert started.stdout.readline()
    return started


async def _states(storage: Storage) -> list[str]:
    return [lease.state for lease in await storage.leases()]


async def test_a_killed_process_blocks_nobody(storage: Storage) -> None:
    other = _other_process(storage.database.path)
    with pytest.raises(UsageError, match=f"Process {other.pid} is working on ses_1"):
        await storage.take("ses_1", Owner.new())
    assert await _states(storage) == ["held"]
    other.send_signal(signal.SIGKILL)
    other.communicate()
    assert await _states(storage) == ["dead"]
    await storage.take("ses_1", Owner.new())
    assert await _states(storage) == ["held"]
    assert len(list(storage.locks.folder.iterdir())) == 1, "the file of the dead is swept"


async def test_a_process_of_another_container_is_not_taken_for_dead(storage: Storage) -> None:
    unshare = shutil.which("unshare")
    isolated = [unshare or "", "--user", "--map-root-user", "--pid", "--fork", "--kill-child"]
    if not unshare or subprocess.run([*isolated, "true"], check=False, capture_output=True).returncode:
        pytest.skip("no PID namespaces here")
    other = _other_process(storage.database.path, *isolated)
    try:
        assert [lease.owner.pid for lease in await storage.leases()] == [1], "a number that here is another process"
        assert await _states(storage) == ["held"]
        with pytest.raises(UsageError, match="is working on"):
            await storage.take("ses_1", Owner.new())
    finally:
        other.kill()
        other.communicate()


async def test_the_number_of_a_process_says_nothing(storage: Storage) -> None:
    """Neither one that lives saves a lease, nor one that does not loses it."""
    path = storage.database.path
    living, missing = replace(Owner.new(), pid=os.getppid()), replace(Owner.new(), pid=2**22 + 7)
    gone = Storage.open(path)
    await gone.take("ses_living", living)
    await gone.close()
    await storage.take("ses_missing", missing)
    assert {lease.session_id: lease.state for lease in await storage.leases()} == {
        "ses_living": "dead",
        "ses_missing": "held",
    }


def _elsewhere(storage: Storage, beat: int) -> None:
    """A lease from another host, whose locks are not seen here."""
    connection = sqlite3.connect(storage.database.path, isolation_level=None)
    connection.execute("INSERT INTO lease VALUES ('ses_1', 'another host', 7, 'w', 1, 5, ?)", (beat,))
    connection.close()


async def test_another_host_that_was_heard_of_lately_is_believed(storage: Storage) -> None:
    storage.database.writer.beat_seconds = 1000
    _elsewhere(storage, now())
    with pytest.raises(UsageError, match="A process on another machine is working on ses_1"):
        await storage.take("ses_1", Owner.new())


@pytest.mark.parametrize("clock", [-(10**9), 10**9], ids=["behind", "ahead"])
async def test_another_host_whose_clock_is_wrong_keeps_its_lease(storage: Storage, clock: int) -> None:
    _elsewhere(storage, now() + clock)
    assert await _states(storage) == ["silent"]

    async def beat() -> None:
        while True:
            await storage.database.run(lambda one: one.execute("UPDATE lease SET beats = beats + 1"))

    beating = asyncio.create_task(beat())
    with pytest.raises(UsageError, match="another machine"):
        await storage.take("ses_1", Owner.new())
    beating.cancel()


@pytest.mark.parametrize("clock", [-(10**9), 10**9], ids=["behind", "ahead"])
async def test_another_host_that_does_nothing_any_more_loses_it(storage: Storage, clock: int) -> None:
    _elsewhere(storage, now() + clock)
    owner = Owner.new()
    await storage.take("ses_1", owner)
    assert [lease.owner for lease in await storage.leases()] == [owner]


async def test_a_lease_is_confirmed_while_its_session_is_at_work_and_no_longer(storage: Storage) -> None:
    owner = Owner.new()

    async def beats() -> int:
        found = await storage.database.run(lambda one: one.execute("SELECT beats FROM lease").fetchone())
        return int(found[0])

    await storage.take("ses_1", owner)
    while await beats() < 3:
        pass
    storage.let_go("ses_1", owner)
    while storage.database.writer.beat is not None:
        await storage.settled()


async def test_what_a_killed_run_left_is_closed_once_and_by_nobody_while_it_is_at_work(project: Path) -> None:
    async with opened(project, calls(read()), says("One.")) as trial:
        await trial.prompt("First.")
        name = trial.session.id
        other = _other_process(database_of(project))
        connection = sqlite3.connect(database_of(project), isolation_level=None)
        connection.execute("UPDATE lease SET session_id = ?", (name,))
        connection.execute(
            """UPDATE message SET data = json_remove(data, '$.time.completed') WHERE data LIKE '%"assistant"%'"""
        )
        connection.close()
    async with opened(project) as again:
        assert not nothing_open(*await again.workspace.sessions.messages(name)), "it is at work"
        with pytest.raises(UsageError, match="is working on"):
            await again.workspace.sessions.open(name)
        with pytest.raises(UsageError, match="is working on"):
            await again.workspace.sessions.delete(name)
    other.kill()
    other.communicate()
    async with opened(project) as again:
        assert nothing_open(*await again.workspace.sessions.messages(name))
        assert await again.workspace.store.leases() == []


# A database that another program has locked.


async def test_a_locked_database_does_not_stop_the_loop_and_is_waited_for(storage: Storage) -> None:
    other = sqlite3.connect(storage.database.path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    taking = asyncio.create_task(storage.take("ses_1", Owner.new()))
    for _ in range(1000):
        await asyncio.sleep(0)
    assert not taking.done()
    other.execute("COMMIT")
    await taking
    other.close()


@pytest.mark.slow
async def test_a_database_that_stays_locked_is_told_as_such_and_only_once_waited_for(project: Path) -> None:
    async with opened(project, says("One.")) as trial:
        await trial.prompt("First.")
        name = trial.session.id
    other = sqlite3.connect(database_of(project), isolation_level=None)
    other.execute("PRAGMA locking_mode = EXCLUSIVE")
    other.execute("BEGIN EXCLUSIVE")
    said = tw(project, "session", "fork", name)
    assert (
        said.error == f"tw: {database_of(project)} is locked by another program. Close what uses it, then try again.\n"
    )
    other.close()
    assert tw(project, "session", "fork", name).code == 0


async def test_a_session_of_a_host_that_was_silent_for_a_while_is_not_collected(storage: Storage) -> None:
    storage.put_session(
        SessionInfo(
            id="ses_1",
            slug="one",
            project_id="p",
            version="1",
            directory="/p",
            title="One",
            time=Moment(created=1, updated=1),
        )
    )
    await storage.settled()
    assert await storage.unused_since(2) == ["ses_1"]
    _elsewhere(storage, 1)
    assert await _states(storage) == ["silent"]
    assert await storage.unused_since(2) == []
