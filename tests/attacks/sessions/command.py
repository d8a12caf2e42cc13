"""One command of the program, run by a user whose home lies beside the project."""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """How a command has ended."""

    code: int
    output: str
    error: str

    @property
    def is_plain(self) -> bool:
        """Whether it worked, or said in one sentence why not."""
        return "Traceback" not in self.error and (self.code == 0 or self.error.startswith("tw: "))


def tw(project: Path, *words: str) -> Said:
    """The answer to `tw` and these words."""
    done = subprocess.run(
        [sys.executable, "-m", "toolwright", *words, "--directory", str(project)],
        env={"PATH": os.environ["PATH"], "HOME": str(home_of(project))},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    return Said(code=done.returncode, output=done.stdout, error=done.stderr)


def home_of(project: Path) -> Path:
    return project.parent / f"{project.name}.home"


def database_of(project: Path) -> Path:
    return home_of(project) / ".local" / "share" / "toolwright" / "toolwright.db"
