"""Every session that the tests keep on disk, played again: `make replay`.

python -m tests.replay.every_session [TESTS ...]     record the sessions of these tests, or of all, and play them
python -m tests.replay.every_session --in DIR        play those of a folder where they were recorded before
python -m tests.replay.every_session --to DIR ...    keep what is recorded there
"""

import argparse
import asyncio
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

from tests.replay.recording import PLACE, Note, load
from toolwright.errors import ToolwrightError
from toolwright.replay import replay
from toolwright.workspace import Workspace

_DATA = Path(".local/share/toolwright/toolwright.db")
_AT_ONCE = os.cpu_count() or 1


class Recorded(NamedTuple):
    """A session on disk."""

    home: Path
    id: str
    directory: str
    note: Note

    def __str__(self) -> str:
        return f"{self.home.parent.name} {self.id}"


def main(arguments: Sequence[str]) -> int:
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reader.add_argument("tests", nargs="*", metavar="TESTS")
    reader.add_argument("--in", dest="before", type=Path, metavar="DIR")
    reader.add_argument("--to", type=Path, metavar="DIR")
    given = reader.parse_args(arguments)
    if given.before is not None:
        return play(given.before)
    with tempfile.TemporaryDirectory(prefix="toolwright-recorded-") as scratch:
        folder = (given.to or Path(scratch)).resolve()
        record(folder, given.tests)
        return play(folder)


def record(folder: Path, tests: Sequence[str], *more: str) -> None:
    """Run the tests, and keep what they leave. One that fails has its sessions played all the same."""
    command = [sys.executable, "-m", "pytest", "-p", "tests.replay.recording", "-p", "no:cacheprovider"]
    command += [
        f"--basetemp={folder / 'left'}",
        "-o",
        "tmp_path_retention_policy=all",
        *(more or ("-n", str(_AT_ONCE))),
    ]
    folder.mkdir(parents=True, exist_ok=True)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    subprocess.run([*command, *tests], env={**environment, PLACE: str(folder / "notes")}, check=False)


def play(folder: Path) -> int:
    """Tell what is not the same, and how many are; 1 if a session differs for which nothing accounts."""
    counts: Counter[str] = Counter()
    sessions = list(_sessions(folder))
    with ProcessPoolExecutor(_AT_ONCE, mp_context=get_context("spawn")) as processes:
        for session, (kind, told) in zip(sessions, processes.map(judge, sessions), strict=True):
            counts[kind] += 1
            if kind != "the same":
                sys.stdout.write(f"{session}: {kind}: {told}\n")
                sys.stdout.flush()
    found = ", ".join(f"{number} {kind}" for kind, number in counts.most_common())
    sys.stdout.write(f"{len(sessions)} sessions: {found}\n" if sessions else "no session found\n")
    return 1 if counts["different"] or not sessions else 0


def _sessions(folder: Path) -> Iterator[Recorded]:
    """Every session that was prompted, in a folder that is still there."""
    for database in sorted(folder.rglob(_DATA.name)):
        home = database.parents[len(_DATA.parts) - 1]
        try:
            with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
                rows = connection.execute("SELECT id, data FROM session WHERE parent_id IS NULL").fetchall()
        except sqlite3.Error:
            continue
        for session_id, data in rows:
            try:
                directory = json.loads(data)["directory"]
            except (ValueError, KeyError):
                continue
            if Path(directory).is_dir():
                yield Recorded(home, session_id, directory, load(_notes(folder, database), session_id))


def _notes(folder: Path, database: Path) -> Path:
    """The notes that were made with a database; some tests record others."""
    above = [one / "notes" for one in database.parents if one.is_relative_to(folder)]
    return next((one for one in above if one.is_dir() and one.parent.joinpath("left").is_dir()), folder / "notes")


def judge(session: Recorded) -> tuple[str, str]:
    """How a session compares, and what there is to say about it."""
    try:
        outcome = asyncio.run(_replayed(session))
    except ToolwrightError as error:
        return "not playable", str(error)
    except Exception as error:  # noqa: BLE001 - told with the others
        return "different", f"the replay broke: {type(error).__name__}: {error}"
    if outcome["same"]:
        return "the same", ""
    told = json.dumps(outcome)[:2000]
    if session.note.code:
        return "different by code of the test", f"{', '.join(session.note.code)}: {told}"
    if outcome["changed_since"]:
        return "different by what the test has changed since", f"{', '.join(outcome['changed_since'])}: {told}"
    return "different", told


async def _replayed(session: Recorded) -> dict[str, Any]:
    opening: dict[str, Any] = {"environment": {"PATH": os.environ["PATH"], "HOME": str(session.home)}, "client": "cli"}
    opening |= session.note.opening
    # Whoever has recorded it was there to be asked, or not; the one that plays it is always asked.
    async with Workspace(Path(session.directory), keep=True, **opening) as records:
        return (await replay(records, session.id, **opening)).as_json()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
