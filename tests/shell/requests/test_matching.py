"""Wildcards fit the files that they fit in the shell, and more where a pattern is not understood."""

import subprocess
from pathlib import Path

import pytest

from toolwright.shell.requests.matching import MOST, matched

FILES = "a b ab a.b .a .b A Z 1 12 a-b ]x x] ^x !x [x d/a d/.c d/e/a d/.f/a .g/a x/a _ é [a"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in FILES.split():
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("")
    (tmp_path / "link").symlink_to("d")
    return tmp_path


PATTERNS = """
    * ? ?? a* *a *.* .* .? [ab] [!ab] [^ab] [a-b]* [!a-b]* []x]* [!]x]? [^]a]x [[:alpha:]] [[:digit:]]*
    [[:alpha:]1]* [a [[]x a[-]b [a-]* [.]a */a d/* d/.* */*/a .*/a x/* nothing*
    link/* l*/a d/e/a* *b? **b [1-9][0-9] [[:xdigit:]]?
"""


@pytest.mark.parametrize("pattern", PATTERNS.split())
def test_a_pattern_fits_what_it_fits_in_bash(folder: Path, pattern: str) -> None:
    script = f"shopt -s nullglob; LC_ALL=C.UTF-8; printf '%s\\n' {pattern}"
    printed = subprocess.run(["bash", "-c", script], cwd=folder, capture_output=True, text=True, check=True).stdout
    fits, complete = matched(f"{folder}/{pattern}")
    assert complete
    # `.` and `..` are no files of the folder.
    names = {name for name in printed.splitlines() if name and name.rpartition("/")[2] not in (".", "..")}
    assert {str(Path(path).relative_to(folder)) for path in fits} == names


@pytest.mark.parametrize(
    "pattern",
    [
        "[[.a.]]",
        "[[=a=]]",
        "[![:alpha:]]",
        "[[:upper:]]",
        "[[:punct:]]*",
        "[[:space:]]*",
        "[[:nosuch:]]",
        "[z-a]",
        "[[.hyphen.]a]",
        "[[:alpha:]",
        "[[.a]",
    ],
)
def test_a_set_that_is_not_understood_misses_nothing(folder: Path, pattern: str) -> None:
    printed = subprocess.run(["bash", "-c", f"printf '%s\\n' {pattern}"], cwd=folder, capture_output=True, text=True)
    fits, _ = matched(f"{folder}/{pattern}")
    there = {name for name in printed.stdout.splitlines() if (folder / name).exists()}
    assert there <= {Path(path).name for path in fits}


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        ("**", {*FILES.split(), "d", "d/e", "d/.f", ".g", "x", "link"}),
        ("**/a", {"a", "d/a", "d/e/a", "d/.f/a", ".g/a", "x/a"}),
        ("d/**", {"d/a", "d/.c", "d/e", "d/e/a", "d/.f", "d/.f/a"}),
        ("d/**/*", {"d/a", "d/.c", "d/e", "d/e/a", "d/.f", "d/.f/a"}),
        ("x*/new", {"x/new", "x]/new"}),
        ("d/*/a/b", {"d/e/a/b"}),
        ("none", {"none"}),
    ],
)
def test_listings_reach_into_every_folder_and_names_behind_a_wildcard_may_be_new(
    folder: Path, pattern: str, names: set[str]
) -> None:
    fits, complete = matched(f"{folder}/{pattern}")
    assert complete
    assert {str(Path(path).relative_to(folder)) for path in fits} >= names - {"x]/new"}
    assert {str(Path(path).relative_to(folder)) for path in fits} <= names


def test_what_git_keeps_is_left_out_of_a_listing(folder: Path) -> None:
    (folder / ".git").mkdir()
    (folder / ".git" / "a").touch()
    fits, _ = matched(f"{folder}/**/a")
    assert f"{folder}/.git/a" not in fits


def test_more_files_than_are_judged_are_said_to_be_more(tmp_path: Path) -> None:
    for number in range(MOST):
        (tmp_path / f"f{number}").touch()
    assert matched(f"{tmp_path}/f*")[1]
    (tmp_path / "f").touch()
    fits, complete = matched(f"{tmp_path}/f*")
    assert (len(fits), complete) == (MOST, False)


@pytest.mark.parametrize(("letters", "complete"), [(1000, True), (1001, False)])
def test_a_pattern_that_nobody_writes_is_not_tried(folder: Path, letters: int, complete: bool) -> None:
    assert matched(f"{folder}/{'*' * letters}")[1] is complete
