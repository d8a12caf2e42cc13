"""Searching: what is chosen, how it ends early, what it costs."""

import asyncio
import os
import shutil
import stat
import threading
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.files.search_rows import START, lay_out_dated
from tests.files.tool_case import lay_out
from tests.waiting import until, wait_until
from toolwright.files.dialect import PatternError
from toolwright.files.newest import Newest
from toolwright.files.query import Engine, Matches, Query, Run
from toolwright.files.ripgrep import Ripgrep, find_ripgrep
from toolwright.files.search import find_engine, find_files, find_lines
from toolwright.files.walk import FolderWalker

ENGINES: list[Engine] = [find_engine(), FolderWalker()]


@pytest.fixture(params=ENGINES, ids=lambda engine: type(engine).__name__)
def engine(request: pytest.FixtureRequest) -> Engine:
    found: Engine = request.param
    return found


def test_ripgrep_comes_with_the_installation() -> None:
    program = find_ripgrep()
    assert program is not None
    assert Path(program).name == "rg"
    assert isinstance(find_engine(), Ripgrep)


def test_the_ripgrep_of_the_path_is_used_where_none_was_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _lose_ripgrep(tmp_path, monkeypatch)
    shutil.copy("/bin/true", tmp_path / "rg")
    assert find_ripgrep() == str(tmp_path / "rg")


def test_without_any_ripgrep_the_walker_searches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _lose_ripgrep(tmp_path, monkeypatch)
    assert isinstance(find_engine(), FolderWalker)


def _lose_ripgrep(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.executable", str(path / "nowhere" / "python"))
    monkeypatch.setattr("sysconfig.get_path", lambda _: str(path / "nowhere"))
    monkeypatch.setenv("PATH", str(path))


async def test_where_ripgrep_cannot_be_started_the_walker_takes_over(tmp_path: Path) -> None:
    lay_out(tmp_path, {"rg": "no program\n", "a.txt": "x\n"})
    for program in (tmp_path / "rg", tmp_path / "nowhere"):
        broken = Ripgrep(str(program))
        assert (await find_files(tmp_path, "*.txt", engine=broken)).paths == ("a.txt",)
        assert (await find_lines(Query(pattern="x", base=tmp_path), engine=broken)).total == 1


async def test_both_engines_choose_the_newest_files(tmp_path: Path, engine: Engine) -> None:
    lay_out_dated(tmp_path, {f"{number % 9}/{number}.txt": "x\n" * 3 for number in range(60)})
    files = await find_files(tmp_path, "*.txt", engine=engine)
    assert files.paths == tuple(f"{number % 9}/{number}.txt" for number in range(59, -1, -1))
    lines = await find_lines(Query(pattern="x", base=tmp_path), engine=engine)
    assert [file.path for file in lines.files] == [f"{number % 9}/{number}.txt" for number in range(59, 25, -1)]
    assert (lines.shown, lines.total, lines.exact) == (100, 180, True)


async def test_odd_names_survive_both_engines(tmp_path: Path, engine: Engine) -> None:
    names = ["pi|pe", "new\nline", "tab\t", "co:lon", " ", "-n", "sp ace", "\n\n", "é", os.fsdecode(b"\xff")]
    lay_out(tmp_path, dict.fromkeys(names, "x\n"))
    assert sorted((await find_files(tmp_path, "", engine=engine)).paths) == sorted(names)
    lines = await find_lines(Query(pattern="x", base=tmp_path), engine=engine)
    assert sorted(file.path for file in lines.files) == sorted(names)


async def test_a_file_found_to_be_binary_late_is_passed_over(tmp_path: Path, engine: Engine) -> None:
    (tmp_path / "late").write_bytes(b"x\n" * 300 + b"y" * 300_000 + b"\0\n")
    (tmp_path / "later").write_bytes(b"y" * 300_000 + b"x\n\0\n")
    assert (await find_lines(Query(pattern="x", base=tmp_path), engine=engine)).files == ()


async def test_many_matches_in_one_file_are_counted_up_to_a_point(tmp_path: Path, engine: Engine) -> None:
    (tmp_path / "many").write_text("x\n" * 9_999)
    found = await find_lines(Query(pattern="x", base=tmp_path), engine=engine)
    assert (found.total, found.exact) == (9_999, True)
    (tmp_path / "many").write_text("x\n" * 20_000)
    found = await find_lines(Query(pattern="x", base=tmp_path), engine=engine)
    assert (found.shown, found.total, found.exact) == (100, 10_000, False)


async def test_many_long_lines_are_counted_and_cut(tmp_path: Path, engine: Engine) -> None:
    (tmp_path / "wide").write_text(("x" * 9_000 + "\n") * 600)
    (tmp_path / "after").write_text("x\n")
    os.utime(tmp_path / "after", (START, START))
    found = await find_lines(Query(pattern="x", base=tmp_path), engine=engine)
    assert (found.shown, found.total) == (100, 601)
    assert {len(text) for _, text in found.files[0].lines} == {2003}


async def test_memory_does_not_grow_with_what_matches(tmp_path: Path) -> None:
    for number in range(40):
        (tmp_path / str(number)).write_text(("x" * 7_000 + "\n") * (100 if number else 2_500))
    tracemalloc.start()
    try:
        found = await find_lines(Query(pattern="x", base=tmp_path), engine=find_engine())
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
async def test_which_ignore_file_has_the_last_word(
    tmp_path: Path, engine: Engine, files: dict[str, str], left: list[str]
) -> None:
    lay_out(tmp_path, {".git/": None, "a": "", "b": "", "in/a": "", "in/b": "", **files})
    found = await find_files(tmp_path, "", engine=engine)
    assert sorted(path for path in found.paths if "ignore" not in path) == left


async def test_git_rules_of_the_user_hold(tmp_path: Path, engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    lay_out(tmp_path, {"home/.gitconfig": "[core]\n\texcludesFile = ~/mine\n", "home/mine": "*.swp\n", "p/.git/": None})
    lay_out(tmp_path, {"p/a.swp": "", "p/b": "", "p/.git/info/exclude": "c\n", "p/c": ""})
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    assert (await find_files(tmp_path / "p", "", engine=engine)).paths == ("b",)


async def test_a_linked_work_tree_has_the_exclusions_of_its_repository(tmp_path: Path, engine: Engine) -> None:
    lay_out(tmp_path, {"main/.git/info/exclude": "c\n", "main/.git/worktrees/w/commondir": "../..\n"})
    lay_out(tmp_path, {"w/.git": f"gitdir: {tmp_path}/main/.git/worktrees/w\n", "w/b": "", "w/c": ""})
    assert (await find_files(tmp_path / "w", "", engine=engine)).paths == ("b",)


async def test_nested_repositories_have_rules_of_their_own(tmp_path: Path, engine: Engine) -> None:
    lay_out(tmp_path, {".git/": None, ".gitignore": "a\n", "in/.git/": None, "in/a": "", "in/.gitignore": "b\n"})
    lay_out(tmp_path, {"in/b": "", "a": "", "b": ""})
    found = await find_files(tmp_path, "", engine=engine)
    assert sorted(found.paths) == [".gitignore", "b", "in/.gitignore", "in/a"]


async def test_the_settings_of_ripgrep_users_change_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lay_out(tmp_path, {"config": "--max-count=1\n", "p/a": "x\nx\n"})
    monkeypatch.setenv("RIPGREP_CONFIG_PATH", str(tmp_path / "config"))
    assert (await find_lines(Query(pattern="x", base=tmp_path / "p"))).total == 2


class Endless:
    """An engine that finds something and then goes on until it is ended."""

    def __init__(self) -> None:
        self.begun, self.ended = threading.Event(), threading.Event()

    def files(self, folder: Path, run: Run, *, ignored: bool) -> Iterator[str]:
        yield "a"
        self._go_on(run)

    def matches(self, query: Query, run: Run) -> Iterator[Matches]:
        yield Matches("a", 1, b"1:0:x")
        self._go_on(run)

    def _go_on(self, run: Run) -> None:
        self.begun.set()
        wait_until(lambda: run.ended)
        self.ended.set()


async def test_at_the_time_limit_what_was_found_is_given(tmp_path: Path) -> None:
    lay_out(tmp_path, {"a": "x\n"})
    files = await find_files(tmp_path, "*", engine=Endless(), seconds=0.5)
    assert (files.paths, files.complete) == (("a",), False)
    lines = await find_lines(Query(pattern="x", base=tmp_path), engine=Endless(), seconds=0.5)
    assert (lines.shown, lines.exact, lines.complete) == (1, False, False)


async def test_cancelling_ends_the_search(tmp_path: Path) -> None:
    endless = Endless()
    task = asyncio.create_task(find_files(tmp_path, "*", engine=endless))
    await until(endless.begun.is_set)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await until(endless.ended.is_set)


async def test_cancelling_kills_the_child_process(tmp_path: Path) -> None:
    program = tmp_path / "rg"
    program.write_text(f"#!/bin/sh\necho $$ > {tmp_path}/pid\nexec sleep 60\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    task = asyncio.create_task(find_files(tmp_path, "*", engine=Ripgrep(str(program))))
    note = tmp_path / "pid"
    await until(lambda: note.exists() and note.read_text())
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    child = Path("/proc", note.read_text().strip())
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


async def test_the_loop_runs_on_while_a_search_is_under_way(tmp_path: Path) -> None:
    lay_out(tmp_path, {"a": "x\n"})
    endless = Endless()
    task = asyncio.create_task(find_lines(Query(pattern="x", base=tmp_path), engine=endless))
    await until(endless.begun.is_set)
    assert not task.done()
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
