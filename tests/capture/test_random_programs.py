"""Random programs, and whether undo gives back what was there before them."""

import random
import shutil
import sys
from pathlib import Path

import pytest

from tests.capture.case import captured, look
from tests.capture.programs import NAMES
from tests.outside import needs_checkout
from tests.rounds import rounds

PROGRAM = Path(__file__).with_name("programs.py")


def grow(folder: Path, chance: random.Random, depth: int = 2) -> None:
    """Files and folders as the programs name them."""
    for name in NAMES:
        path = folder / name
        match chance.randrange(6 if depth else 4):
            case 0 | 1:
                path.write_bytes(chance.randbytes(chance.choice((0, 100, 300_000))))
            case 2:
                path.symlink_to(chance.choice(NAMES))
            case 3:
                pass
            case _:
                path.mkdir()
                grow(path, chance, depth - 1)


@needs_checkout
@pytest.mark.slow
@pytest.mark.parametrize("kind", ["bubblewrap", "landlock"])
async def test_whatever_a_program_does_undo_gives_back_what_was_there(kind: str) -> None:
    async with captured("landlock" if kind == "landlock" else "bubblewrap") as case:
        for seed in range(rounds(15, 5_000)):
            shutil.rmtree(case.project)
            case.project.mkdir()
            grow(case.project, random.Random(seed))
            before = look(case.project)
            result = await case.run(f"{sys.executable} -I -S {PROGRAM} {seed}; true")
            if look(case.project) != before:
                await case.undo()
            # Where two at once exchange links and folders under each other, it may be that it could not be seen: said.
            if "undo cannot restore" not in result.output:
                # Compared as a whole, for what differs may be large.
                assert (look(case.project) == before) is True, f"seed {seed}: {result.output}"


@needs_checkout
@pytest.mark.slow
async def test_so_it_is_where_the_keeper_makes_the_changes() -> None:
    """In a folder outside that was approved, and stays closed to the program."""
    async with captured() as case:
        home = case.project.parent
        (home / "secret").write_text("mine\n")
        for seed in range(rounds(6, 1_000)):
            before = look(home)
            command = f"mkdir ~/n && cd ~/n && {sys.executable} -I -S {PROGRAM} {seed}; true"
            result = await case.run(command)
            changed = [path for path, found in look(home).items() if before.get(path) != found]
            assert all(path.startswith(f"{home}/n") for path in changed), f"seed {seed}: {changed}"
            assert (home / "n").is_dir()
            await case.undo()
            if "undo cannot restore" not in result.output:
                assert look(home) == before, f"seed {seed}: {result.output}"
            shutil.rmtree(home / "n", ignore_errors=True)
