"""Ignore files hide the same from a list and from a search, over trees and patterns of every kind."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.files.tool_case import lay_out
from toolwright.files.ignore import Ignore
from toolwright.files.query import Query, SearchRun
from toolwright.files.ripgrep import Ripgrep, find_ripgrep

NAMES = st.sampled_from(["a", "b", "ab", "a.py", "b.py", "a.b.c", ".h", "build", "A", "x y", "[a]", "{b}", "a!"])
PATHS = st.lists(NAMES, min_size=1, max_size=4).map("/".join)
GLOBS = st.one_of(
    st.lists(
        st.sampled_from(
            ["a", "b", ".py", "*", "**", "/", "?", "[ab]", "[!a]", "{a,b}", "{a,*.py}", "build", "\\*", "h"]
        ),
        min_size=1,
        max_size=5,
    ).map("".join),
    PATHS,
)
IGNORE_LINES = st.builds(
    "{}{}{}".format, st.sampled_from(["", "", "!", "/", "\\!"]), GLOBS, st.sampled_from(["", "/", " "])
)
IGNORE_FILES = st.dictionaries(
    st.tuples(
        st.sampled_from(["", "", "a/", "build/", "a/b/"]),
        st.sampled_from([".gitignore", ".gitignore", ".ignore", ".rgignore", ".git/info/exclude"]),
    ).map("".join),
    st.lists(IGNORE_LINES, max_size=4).map("\n".join),
    max_size=4,
)
TREES = st.dictionaries(
    PATHS, st.sampled_from(["needle\n", "x\nneedle y\nneedle", "no\n", "needle\0", ""]), max_size=12
)


@pytest.fixture(scope="module")
def ripgrep() -> Ripgrep:
    program = find_ripgrep()
    assert program is not None
    return Ripgrep(program)


@pytest.mark.parametrize("small", [False, True])
def test_files_stay_apart_where_line_ends_of_two_characters_are_looked_for(
    tmp_path: Path, ripgrep: Ripgrep, small: bool
) -> None:
    lay_out(tmp_path, {f"{name}.txt": f"{name}\r\nneedle\r\n" for name in "abc"})
    if small:
        ripgrep.small.add(tmp_path)
    found = ripgrep.matches(Query(base=tmp_path, pattern="needle$"), SearchRun())
    assert sorted(found) == [(f"{name}.txt", 1, b"2:3:needle\r") for name in "abc"]


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    tree=TREES,
    ignores=IGNORE_FILES,
    git=st.booleans(),
    start=st.sampled_from(["", "a", "build"]),
)
def test_the_same_files(ripgrep: Ripgrep, tree: dict[str, str], ignores: dict[str, str], git: bool, start: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = _grow(Path(folder), tree, ignores, git=git) / start
        if root.is_dir():
            assert sorted(ripgrep.files(root, SearchRun(), ignored=False)) == sorted(
                _shown(root, "", Ignore.above(root))
            )


def _grow(folder: Path, tree: dict[str, str], ignores: dict[str, str], *, git: bool) -> Path:
    """The files that can be there together: a name that is a folder elsewhere gives way."""
    root = folder / "project"
    (root / ".git" if git else root).mkdir(parents=True)
    for name, text in (tree | ignores).items():
        path = root / name
        if any(parent.is_file() for parent in path.parents) or path.is_dir():
            continue
        lay_out(root, {name: text})
    return root


def _shown(root: Path, inside: str, above: Ignore) -> Iterator[str]:
    """The files that no rule hides, by their paths from the root."""
    folder = root / inside
    entries = sorted(folder.iterdir())
    ignore = above.enter(str(folder), (entry.name for entry in entries))
    for entry in entries:
        if entry.name == ".git" or ignore.hides(str(entry), folder=entry.is_dir()):
            continue
        path = str(entry.relative_to(root))
        if entry.is_dir():
            yield from _shown(root, path, ignore)
        else:
            yield path
