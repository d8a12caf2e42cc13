"""The guides as tests see them: pages of listings, and a home in which the listings of a page are carried out.

A listing whose first line ends in `file=NAME` is put into the project. In a `console` listing a line after `$ ` is a
command and the lines below it are what it prints; a command with nothing below it only has to succeed. In what is
shown, `…` stands for any text of a line, and for any lines where it stands alone; in a command, `ses_…` is the last id
of that kind that was printed. A listing that `needs=PROGRAM` is passed over where that does not run or, if it
is the name of a Python package, is not installed. The project is the
one of `tw demo`, at /home/ada/shop.
"""

import io
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import redirect_stdout, suppress
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from unittest.mock import patch

import toolwright
from tests.waiting import PATIENCE
from toolwright.cli import main
from toolwright.demo.project import write_project

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
SOURCE = Path(toolwright.__file__).parents[1]
SHOWN_HOME = "/home/ada"
WIDTH = "100"

_LISTING = re.compile(r"^```(\w+)(?: ([^\n`]*))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_ID = re.compile(r"\b(ses|msg|call|job|prt)_…")


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """One fenced block of a page."""

    page: Path
    line: int
    kind: str
    about: str
    body: str

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"

    @property
    def file(self) -> str:
        return self._said("file")

    @property
    def runs_here(self) -> bool:
        return not self._said("needs") or _works(self._said("needs"))

    def _said(self, name: str) -> str:
        found = re.search(rf"\b{name}=(\S+)", self.about)
        return found[1] if found else ""


_TRIALS = {"bwrap": ("bwrap", "--dev-bind", "/", "/", "--unshare-pid", "true")}


def _works(program: str) -> bool:
    if program not in _TRIALS:
        return find_spec(program) is not None
    try:
        return subprocess.run(_TRIALS[program], capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        return False


def listings(page: Path) -> list[Listing]:
    text = page.read_text("utf-8")
    return [
        Listing(
            page=page, line=text.count("\n", 0, match.start()) + 1, kind=match[1], about=match[2] or "", body=match[3]
        )
        for match in _LISTING.finditer(text)
    ]


@dataclass(frozen=True, slots=True)
class Step:
    """A command and what the page says it prints."""

    command: str
    shown: str


def steps(listing: Listing) -> Iterator[Step]:
    for piece in re.split(r"^\$ ", listing.body, flags=re.MULTILINE)[1:]:
        command, _, shown = piece.partition("\n")
        while command.endswith("\\"):
            more, _, shown = shown.partition("\n")
            command = f"{command}\n{more}"
        yield Step(command, shown)


@dataclass(slots=True)
class Home:
    """A home folder with a project in it, where nothing of this machine's user is seen."""

    home: Path
    ids: dict[str, str] = field(default_factory=dict[str, str])

    def __post_init__(self) -> None:
        write_project(self.project)

    @property
    def project(self) -> Path:
        return self.home / "shop"

    def put(self, listing: Listing) -> None:
        file = self.project / listing.file
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(listing.body, "utf-8")

    def command(self, step: Step) -> tuple[int, str]:
        """Run a command as a terminal would; its exit code and all it printed."""
        if re.fullmatch(r"tw[ a-z]* --help", step.command):
            return 0, _help(step.command.split()[1:])
        text = _ID.sub(lambda match: self.ids[match[1]], step.command).replace(SHOWN_HOME, str(self.home))
        code, printed = self._run("bash", "-c", text)
        self.ids |= {found[1]: found[0] for found in re.finditer(r"\b([a-z]{3,4})_[0-9A-Za-z]+", printed)}
        return code, printed

    def python(self, listing: Listing) -> tuple[int, str]:
        script = self.home / "listing.py"
        script.write_text(listing.body, "utf-8")
        return self._run(sys.executable, str(script))

    def _run(self, *argv: str) -> tuple[int, str]:
        done = subprocess.run(
            argv,
            cwd=self.project,
            env=self._environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=PATIENCE,
            check=False,
        )
        return done.returncode, done.stdout.decode().replace(str(self.home), SHOWN_HOME)

    def _environment(self) -> dict[str, str]:
        return {
            "HOME": str(self.home),
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "PYTHONPATH": f"{self.project}:{SOURCE}",
            "PYTHONUNBUFFERED": "1",
            "LANG": "C.UTF-8",
            "TZ": "UTC",
            "COLUMNS": WIDTH,
            "NO_COLOR": "1",
        }


def _help(arguments: list[str]) -> str:
    """In this process, because there are many and they touch nothing."""
    printed = io.StringIO()
    with patch.dict(os.environ, COLUMNS=WIDTH), redirect_stdout(printed), suppress(SystemExit):
        main(arguments)
    return printed.getvalue()


def fits(shown: str, printed: str) -> bool:
    """Whether a page shows what was printed."""
    pattern = "".join(_pattern(line) for line in _lines(shown))
    return re.fullmatch(pattern, "".join(f"{line}\n" for line in _lines(printed))) is not None


def _pattern(line: str) -> str:
    if line.strip() == "…":
        return r"(?:.*\n)*?"
    return ".*?".join(map(re.escape, line.split("…"))) + r"\n"


def _lines(text: str) -> list[str]:
    return [_plain(line) for line in text.strip("\n").split("\n")]


def _plain(line: str) -> str:
    """Without what depends on the length of a path."""
    return re.sub(r"(?<=\S) {2,}", "  ", line.rstrip())
