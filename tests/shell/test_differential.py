"""The proof by running: whatever a command line did, the analysis had said it would, or that it could not say."""

import fnmatch
import os
import re
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.rounds import rounds
from tests.shell.grammar import lines
from tests.shell.trace import Trace, trace
from toolwright.shell import Analysis, analyse

COUNT = rounds(200, 600)
SEED = 20261115

can_trace = all(map(shutil.which, ["strace", "prlimit"])) and (
    subprocess.run(["strace", "-qq", "-e", "trace=none", "true"], capture_output=True, check=False).returncode == 0
)


@pytest.mark.slow
@pytest.mark.skipif(not can_trace, reason="strace is not installed or may not trace here")
def test_every_program_and_every_file_changed_was_foretold(tmp_path: Path) -> None:
    commands = list(lines(COUNT, SEED))
    with ThreadPoolExecutor(3) as pool:
        surprises = list(pool.map(surprises_of, commands, (tmp_path / str(number) for number in range(COUNT))))
    assert not any(surprises), "\n\n".join(filter(None, surprises))


def test_most_generated_lines_are_understood() -> None:
    """Otherwise the proof above would prove little."""
    verdicts = [analyse(command, cwd="/p/work", home="/p/home").verdict for command in lines(COUNT, SEED)]
    assert verdicts.count("understood") > COUNT * 0.75
    assert verdicts.count("no") < COUNT * 0.02


def surprises_of(command: str, case: Path) -> str:
    """What the command did that was not foretold, in words; nothing if all was."""
    work, home = case / "work", case / "home"
    lay_out(work, case / "outside", home)
    analysis = analyse(command, cwd=str(work), home=str(home))
    if analysis.verdict != "understood":
        return ""
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), "LANG": "C.UTF-8", "TMPDIR": str(case / "tmp")}
    found = trace(command, work, case / "logs", environment)
    problems = [
        *(f"ran {program}" for program in sorted(found.programs - with_helpers(programs_in(analysis)))),
        *(f"changed {path}" for path in unexpected(found.changed, analysis.paths("write", "delete"), case)),
        *(f"read {path}" for path in unexpected_reads(found, analysis, case)),
    ]
    return f"{command}\n  " + "\n  ".join(problems) if problems else ""


def lay_out(work: Path, outside: Path, home: Path) -> None:
    for folder in (work / "dir" / "deep", work / "empty", outside, home, work.parent / "tmp"):
        folder.mkdir(parents=True)
    for name in ("a.txt", "b.txt", "dir/c.txt", "sp ace.txt", "../outside/o.txt"):
        (work / name).write_text("hello there\nsecond line\n")


def programs_in(analysis: Analysis) -> set[str]:
    texts = [text for command in analysis.commands for text in (command.shown, *command.implied)]
    words = [command.words[0] for command in analysis.commands if command.words]
    return {text.partition(" ")[0].rpartition("/")[2] for text in (*texts, *words)}


def with_helpers(programs: set[str]) -> set[str]:
    """`tar -z` starts `gzip` by itself, through a shell; that is how it works, not what it was told."""
    return programs | {"gzip", "sh"} if "tar" in programs else programs


def unexpected(paths: set[str], named: tuple[str, ...], case: Path) -> list[str]:
    """Paths of the case that nobody named, not even by naming a folder above them."""
    real = [os.path.realpath(path) for path in named]
    own = [
        path for path in map(os.path.normpath, paths) if path.startswith(f"{case}/") and not is_temporary(path, case)
    ]
    return sorted(
        path
        for path in own
        if not any(covers(one, os.path.realpath(path)) or covers(one, path) for one in (*real, *named))
    )


def is_temporary(path: str, case: Path) -> bool:
    """The folder for such files, and the file that `sed -i` makes and renames."""
    return path.startswith(f"{case}/tmp") or re.fullmatch(r"sed[A-Za-z0-9]{6}", path.rpartition("/")[2]) is not None


def unexpected_reads(found: Trace, analysis: Analysis, case: Path) -> list[str]:
    """Files read outside the project folder; those inside are nobody's concern but the read rules'."""
    outside = {path for path in map(os.path.normpath, found.read) if path.startswith(f"{case}/outside")}
    return unexpected(outside, analysis.paths("read", "take", "carry", "look", "write", "delete", "enter"), case)


def covers(named: str, path: str) -> bool:
    """Whether naming one path tells of the other: itself, what is in it, or the folders made on the way to it."""
    inside = path.startswith(named.rstrip("/") + "/") or named.startswith(path + "/")
    return path == named or inside or fnmatch.fnmatchcase(path, named.replace("/**/", "/*"))
