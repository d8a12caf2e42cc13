"""Copies made, found by name and written into, at the borders of what they may be."""

import asyncio
import os
import shutil
import subprocess
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from toolwright.copies.attempts import Attempt
from toolwright.copies.joining import File
from toolwright.copies.merging import _Search, _write
from toolwright.copies.store import TRIAL, Copies, Copy, _locked
from toolwright.errors import UsageError
from toolwright.proof.evidence import Evidence, Verdict
from toolwright.session.result import TurnResult


@pytest.fixture
def copies(tmp_path: Path) -> Copies:
    return Copies(tmp_path / "copies")


@pytest.fixture
async def copy(copies: Copies, project: Path) -> Copy:
    (project / "sub").mkdir()
    (project / "sub" / "a.txt").write_text("a\n")
    (project / "empty").write_text("")
    return await copies.create(project)


async def test_a_copy_has_the_empty_files_too(copy: Copy) -> None:
    assert (copy.folder / "empty").read_bytes() == b""
    assert (copy.folder / "sub" / "a.txt").read_text() == "a\n"


async def test_the_folder_of_a_copy_has_the_name_of_the_project(copy: Copy, project: Path) -> None:
    assert copy.folder.name == project.name


async def test_variables_that_lead_git_elsewhere_lead_it_to_no_other_copy(
    copy: Copy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):
        monkeypatch.setenv(name, str(tmp_path / "elsewhere"))
    (copy.folder / "new.txt").write_text("new\n")
    assert list(await copy.changed()) == ["new.txt"]


def _attempt(copy: Copy, *, verdict: Verdict | None = None, cost: float = 0.0, **more: Any) -> Attempt:
    evidence = Evidence(verdict=verdict) if verdict else None
    result = TurnResult[Any](text="", session_id="s", cost=cost, evidence=evidence)
    return Attempt(copy=copy, result=result, **{"files": ["a"], **more})


async def test_of_several_attempts_the_best_ends_well_changes_something_holds_and_is_cheap(copy: Copy) -> None:
    ordered = [
        _attempt(copy, verdict="proven", cost=1.0),
        _attempt(copy, cost=2.0),
        _attempt(copy, cost=2.0, files=["a", "b"]),
        _attempt(copy, verdict="not_shown"),
        _attempt(copy, check="it fails"),
        _attempt(copy, files=[]),
        _attempt(copy, problem="no key"),
        Attempt(copy=copy, problem="it broke"),
    ]
    assert sorted(ordered, key=lambda one: one.rank) in (ordered, [*ordered[:6], ordered[7], ordered[6]])
    assert [one.is_good for one in ordered] == [True, True, True, *[False] * 5]


async def test_neither_a_copy_nor_what_holds_all_copies_is_copied(copies: Copies, copy: Copy, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is a copy itself"):
        await copies.create(copy.folder)
    with pytest.raises(UsageError, match="holds the folder of all copies"):
        await copies.create(tmp_path)
    assert len(copies.found()) == 1


async def test_a_name_that_means_several_or_none_is_answered_by_those_there_are(
    copies: Copies, copy: Copy, project: Path
) -> None:
    other = await copies.create(project)
    both = f"{copy.name}, {other.name}"
    with pytest.raises(UsageError, match=f"There are: {both}"):
        copies.named("none-of-them")
    with pytest.raises(UsageError, match=f"There are: {both}"):
        copies.named("")
    assert copies.named(copy.name) == copy
    begun = copy.name[: len(copy.name) - 1]
    assert copies.named(begun) == copy
    twin = copies.root / f"{begun}zz"
    twin.mkdir()
    (twin / "copy.json").write_text((copy.place / "copy.json").read_text())
    with pytest.raises(UsageError, match=rf"may be any of these copies: {copy.name}, {twin.name}\. Write"):
        copies.named(begun)


async def test_nothing_is_written_through_a_link_that_a_check_has_left(copy: Copy, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (copy.folder / "sub" / "a.txt").unlink()
    (copy.folder / "sub").rmdir()
    (copy.folder / "sub").symlink_to(tmp_path / "outside")
    for file in (File(b"x", "100644"), None):
        with pytest.raises(UsageError, match="sub is a link now"):
            await _write(copy, {"sub/a.txt": file})
    assert list((tmp_path / "outside").iterdir()) == []


def run(folder: Path, *lines: str) -> None:
    for line in lines:
        subprocess.run(["sh", "-c", line], cwd=folder, check=True, capture_output=True)


async def test_looking_at_a_copy_runs_nothing_that_a_repository_within_it_is_set_up_with(
    copy: Copy, tmp_path: Path
) -> None:
    within, mark = copy.folder / "within", tmp_path / "RAN"
    within.mkdir()
    git = "git -c user.name=a -c user.email=a@b"
    begin = ("git init -q", "echo x > f", "git add f", f"{git} commit -qm 1")
    run(within, *begin, f"git config filter.own.clean 'touch {mark}; cat'", "echo '* filter=own' > .gitattributes")
    run(
        within,
        f"git config core.fsmonitor 'touch {mark}'",
        f"printf '#!/bin/sh\ntouch {mark}' > .git/hooks/post-index-change",
    )
    first = await copy.tree()
    for text in ("y", "z"):
        (within / "f").write_text(text)
        assert await copy.tree() == first
    assert "Subproject commit" in await copy.diff()
    assert await copy.has_unmerged_work()
    assert not mark.exists()
    run(within, "git -c core.fsmonitor=false add f || true")
    assert mark.exists(), "it does nothing that could be noticed"


async def test_what_becomes_of_files_is_kept_whatever_they_become(copy: Copy, tmp_path: Path) -> None:
    """A file a folder or a pipe, a folder a link, a link a file; a repository without a commit is left out."""
    folder = copy.folder
    (folder / "link").symlink_to("sub")
    (folder / "odd").write_text("o\n")
    (folder / "deep" / "er").mkdir(parents=True)
    (folder / "deep" / "er" / "f").write_text("f\n")
    await copy.tree()
    (folder / "empty").unlink()
    (folder / "empty").mkdir()
    (folder / "empty" / "new").write_text("n\n")
    shutil.rmtree(folder / "deep")
    (folder / "deep").symlink_to(tmp_path)
    (folder / "link").unlink()
    (folder / "link").write_text("no link\n")
    (folder / "odd").unlink()
    os.mkfifo(folder / "odd")
    run(folder, "git init -q none")
    listed = await copy.repository.git("ls-tree", "-r", "--name-only", "-z", await copy.tree())
    assert listed.split("\0")[:-1] == ["deep", "empty/new", "link", "sub/a.txt"]


async def test_the_search_for_the_guilty_ends_after_so_many_checks(copy: Copy, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("toolwright.copies.merging.MOST_CHECKS", 5)
    files: dict[str, File | None] = {f"{number}.txt": File(b"x", "100644") for number in range(30)}
    checks = list[list[str]]()

    async def check() -> str:
        checks.append(await asyncio.to_thread(lambda: sorted(one.name for one in copy.folder.glob("*.txt"))))
        return "never"

    search = _Search(copy, files, dict.fromkeys(files, None), check)
    groups = [(path,) for path in files]
    assert await search.guilty(groups) == groups
    assert len(checks) == 5


async def test_what_a_killed_program_has_left_of_a_copy_goes_with_the_next_one(copies: Copies, tmp_path: Path) -> None:
    (tmp_path / "project").mkdir(exist_ok=True)
    left = copies.root / "half-made"
    (left / "work" / "project").mkdir(parents=True)
    (left / "lock").touch()
    (copies.root / "being-made").mkdir()
    with ExitStack() as held:
        held.callback(os.close, _locked(copies.root / "being-made" / "lock"))
        used = await copies.create(tmp_path / "project", purpose=TRIAL, held=held)
        assert not left.exists()
        assert (copies.root / "being-made").is_dir()
        assert copies.left_trials(tmp_path / "project") == []
    assert copies.left_trials(tmp_path / "project") == [used]
