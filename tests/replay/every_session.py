"""Every session that the tests have recorded on disk, played again.

    pytest --basetemp=DIR -o tmp_path_retention_policy=all
    python -m tests.replay.every_session DIR

What a test gives its workspace in Python (rules, agents, tools) is not recorded: what needs it differs, and is told.
"""

import json
import os
import sqlite3
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

_DATA = Path(".local/share/toolwright/toolwright.db")


def main(folder: Path) -> int:
    counts: Counter[str] = Counter()
    for home, session_id, directory in _sessions(folder):
        told = _replayed(home, session_id, directory)
        kind = "same" if told.get("same") else "differs" if "call" in told else "cannot be played"
        counts[kind] += 1
        if kind != "same":
            sys.stdout.write(f"{home.parent.name}: {kind}: {json.dumps(told)[:600]}\n")
    sys.stdout.write(", ".join(f"{number} {kind}" for kind, number in counts.most_common()) or "no session found")
    sys.stdout.write("\n")
    return 1 if counts["differs"] else 0


def _sessions(folder: Path) -> Iterator[tuple[Path, str, str]]:
    """Home, id and folder of each session that was prompted."""
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
                yield home, session_id, directory


def _replayed(home: Path, session_id: str, directory: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "toolwright", "--directory", directory, "session", "replay", session_id, "--json"]
    environment = {"PATH": os.environ["PATH"], "HOME": str(home)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    found: dict[str, Any] = json.loads(done.stdout) if done.returncode in (0, 1) else {"error": done.stderr.strip()}
    return found


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
