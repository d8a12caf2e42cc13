"""Codex' own cases for apply_patch, where its source is there (make real)."""

import shutil
from pathlib import Path

import pytest

from toolwright.testing import make_workspace

FOLDER = Path(".venv/judges/suites/codex/codex-rs/apply-patch/tests/fixtures/scenarios").absolute()
CASES = 25
OTHERWISE = ("014_update_file_appends_trailing_newline", "015_failure_after_partial_success_leaves_changes")
"""A file without a final newline gains none here, and a patch is carried out whole or not at all."""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not FOLDER.is_dir(), reason="needs the source of Codex: make real, where GitHub can be reached"),
]


def files_below(folder: Path) -> dict[str, bytes]:
    found = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}


async def test_patches_leave_what_codex_leaves(tmp_path: Path) -> None:
    every = sorted(path for path in FOLDER.iterdir() if path.is_dir())
    assert len(every) >= CASES
    otherwise = []
    for case in every:
        project = tmp_path / case.name
        shutil.copytree(case / "input", project) if (case / "input").is_dir() else project.mkdir()
        # What Codex asks of a model before it changes a file is left to the model.
        async with make_workspace(project, rules={"*": "allow"}) as workspace:
            await workspace.call("apply_patch", patchText=(case / "patch.txt").read_bytes().decode())
        if files_below(project) != files_below(case / "expected"):
            otherwise.append(case.name)
    assert tuple(otherwise) == OTHERWISE
