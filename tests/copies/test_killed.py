"""A merge whose process is killed leaves the project as before or as after it, with no other program's help."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Tw, home, tw  # noqa: F401 - fixtures
from tests.copies.killed import AFTER, BEFORE, lay_out, state
from tests.waiting import wait_until

ROOT = Path(__file__).parents[2]
HALF = """
import os, signal, sys
from toolwright.cli import main
from toolwright.files.replace import FileReplacement

apply = FileReplacement.apply
done = []

def apply_two(self):
    if len(done) == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    done.append(self)
    apply(self)

FileReplacement.apply = apply_two
main(["merge", sys.argv[1], "--yes"])
"""
"""Merges a copy and dies between the second and the third file."""


@pytest.mark.slow
def test_killed_at_any_step_of_writing_it_leaves_the_project_before_or_after(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.copies.killed", str(tmp_path / "ground")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    assert seen["before"] > 30
    assert seen["after"] > 0


@pytest.mark.slow
def test_what_a_killed_command_has_half_written_is_put_back_without_another_command(tw: Tw, project: Path) -> None:  # noqa: F811
    lay_out(project, BEFORE)
    copy = tw("copy", "create", "--json").json
    for name in BEFORE.keys() - AFTER.keys():
        (Path(copy["folder"]) / name).unlink()
    lay_out(Path(copy["folder"]), AFTER)
    command = [sys.executable, "-c", HALF, copy["name"]]
    merged = subprocess.run(command, env=dict(os.environ), cwd=project, capture_output=True, check=False)
    assert merged.returncode == -signal.SIGKILL, merged.stderr
    wait_until(lambda: state(project) == BEFORE)
    # Where it was tried has stayed; the next merge takes it away.
    assert len(tw("copy", "list", "--json").json) == 2
    assert tw("merge", copy["name"], "--yes").code == 0
    assert state(project) == AFTER
    assert [one["name"] for one in tw("copy", "list", "--json").json] == [copy["name"]]
