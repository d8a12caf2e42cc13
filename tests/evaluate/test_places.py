"""Where copies stand: locked while they are used, removed after, and never in a folder of somebody else's."""

import asyncio
import os
import shutil
from pathlib import Path

import pytest

from toolwright.evaluate import places
from toolwright.evaluate.places import Occupied, place, sweep


@pytest.fixture(autouse=True)
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


async def test_a_place_is_empty_its_user_s_alone_and_gone_afterwards() -> None:
    async with place() as folder:
        (folder / "a").touch()
        assert sweep() == 0
        assert folder.exists()
    assert not list(places.root().iterdir())


async def test_a_place_is_waited_for_until_its_process_is_gone() -> None:
    async with place() as folder:
        waiting = asyncio.create_task(_entered(folder))
        await asyncio.sleep(0)
        assert not waiting.done()
    assert await waiting == folder


async def _entered(folder: Path) -> Path:
    async with place(folder) as again:
        return again


async def test_what_a_dead_process_has_left_is_swept() -> None:
    async with place():
        left = places.root() / "0123"
        left.mkdir()
        left.with_name("0123.lock").touch()
        unlocked = places.root() / "4567"
        unlocked.mkdir()
        assert sweep() == 2
        assert not left.exists()
        assert not unlocked.exists()


async def test_to_be_stopped_does_not_leave_a_copy_behind() -> None:
    inside = asyncio.Event()

    async def use() -> None:
        async with place() as folder:
            (folder / "a").touch()
            inside.set()
            await asyncio.Event().wait()

    using = asyncio.create_task(use())
    await inside.wait()
    using.cancel()
    await asyncio.sleep(0)
    using.cancel()
    await asyncio.wait([using])
    assert using.cancelled()
    assert not list(places.root().iterdir())


async def test_a_folder_that_somebody_else_has_made_is_not_used(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    places.root().symlink_to(elsewhere)
    with pytest.raises(Occupied, match="belongs to somebody else"):
        async with place():
            pass
    places.root().unlink()
    if os.getuid() == 0:
        places.root().mkdir()
        shutil.chown(places.root(), 65534)
        with pytest.raises(Occupied):
            sweep()
