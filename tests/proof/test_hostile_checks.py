"""A check that is hostile itself: it cannot lead what we do in its copy of the project elsewhere."""

import os
import subprocess
from pathlib import Path
from typing import cast

import pytest

from tests.proof.cheats import RIGHT, WRONG
from tests.proof.work import Work, evidence_of_work
from toolwright.files.journal import JournalEntry
from toolwright.proof.tree import TreeScanner
from toolwright.session.goals.checks import Checker
from toolwright.session.session import SessionOwner
from toolwright.session.storage.bundle import _present

CHECK = """#!/bin/sh
case "$PWD" in
*/check-*)
  echo run >> /tmp/runs
  rm -rf {target}
  if [ "$(wc -l < /tmp/runs)" = 1 ]; then ln -s {first} {target}; else ln -s {then} {target}; fi
  exit 0 ;;
esac
grep -q 'a + b' calc.py
"""


@pytest.fixture
def ground(outside: Path) -> Path:
    (outside / "project").mkdir()
    (outside / "victims").mkdir()
    for name in ("calc.py", "kept.json"):
        (outside / "victims" / name).write_text("# mine\n")
    subprocess.run(["git", "init", "-q", str(outside / "project")], check=True)
    return outside


LINKS = {
    "a file to break lines in": ("calc.py", "{project}/evil.py", "{victims}/calc.py"),
    "the first file is elsewhere": ("calc.py", "{victims}/calc.py", "{project}/evil.py"),
    "a folder of such a file": ("sub", "{project}/evil", "{victims}"),
    "the folder of what was executed": ("../report", "{victims}", "{victims}"),
    "a pipe": ("calc.py", "/dev/null; rm calc.py; mkfifo calc.py", "/dev/null"),
    "a pipe in what was executed": ("../report/x.json", "/dev/null; rm ../report/x.json; mkfifo ../report/x.json", "x"),
}


@pytest.mark.parametrize("name", LINKS)
async def test_a_check_leads_nothing_that_we_do_in_its_copy_elsewhere(ground: Path, name: str) -> None:
    places = {"project": ground / "project", "victims": ground / "victims"}
    target, first, then = (one.format(**places) for one in LINKS[name])
    work = Work(
        name=name,
        before={
            "calc.py": WRONG,
            "sub/calc.py": WRONG,
            "evil.py": "# evil\n",
            "evil/calc.py": "# evil\n",
            "check.sh": CHECK.format(target=target, first=first, then=then),
        },
        does={"calc.py": RIGHT, "sub/calc.py": RIGHT},
        until="./check.sh",
        mutants=2,
    )
    evidence = await evidence_of_work(ground / "project", work)
    assert evidence.verdict != "proven"
    assert {file.name: file.read_text() for file in places["victims"].iterdir()} == {
        "calc.py": "# mine\n",
        "kept.json": "# mine\n",
    }


def test_what_is_no_file_any_more_is_not_waited_for_when_its_change_is_packed(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "endless").symlink_to("/dev/zero")
    (tmp_path / "plain").write_text("x")
    for name, present in {"pipe": None, "endless": None, "none": None, "plain": b"x"}.items():
        entry = JournalEntry(number=1, call_id="c", path=str(tmp_path / name), before=None, after=None)
        assert _present(entry) == present


def test_bytecode_of_a_changed_file_is_removed_from_its_own_folder_alone(tmp_path: Path) -> None:
    root, outside = tmp_path / "project", tmp_path / "outside"
    for folder in (root / "sub" / "__pycache__", outside):
        folder.mkdir(parents=True)
        for name in ("calc.cpython-311.pyc", "calculus.cpython-311.pyc"):
            (folder / name).touch()
    (root / "__pycache__").symlink_to(outside)
    checker = Checker(
        home=cast("SessionOwner", None), tree=TreeScanner(root), _checked={"calc.py": "1", "sub/calc.py": "1"}
    )
    checker._drop_bytecode({"calc.py": "2", "sub/calc.py": "2"})
    assert sorted(one.name for one in outside.iterdir()) == ["calc.cpython-311.pyc", "calculus.cpython-311.pyc"]
    assert [one.name for one in (root / "sub" / "__pycache__").iterdir()] == ["calculus.cpython-311.pyc"]


@pytest.mark.parametrize("name", ["pytest.ini", "conftest.py", "package.json"])
async def test_what_a_runner_reads_above_the_project_is_part_of_the_check(ground: Path, name: str) -> None:
    work = Work(
        name=name,
        before={"calc.py": WRONG},
        until=f"grep -q 'a + b' calc.py; test -e ../{name}",
        does={f"../{name}": "\n"},
    )
    evidence = await evidence_of_work(ground / "project", work)
    against = {(one.kind, Path(one.path).name) for one in evidence.reasons if one.weight != "note"}
    assert ("surroundings_changed", name) in against
