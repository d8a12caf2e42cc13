"""ripgrep and the walker give the same answers, over trees, ignore files and patterns of every kind."""

import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from tests.files.tool_case import lay_out
from tests.rounds import rounds
from toolwright.files.dialect import PatternError
from toolwright.files.query import Engine, Query, Run
from toolwright.files.ripgrep import Ripgrep, find_ripgrep
from toolwright.files.walk import FolderWalker

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


@pytest.fixture(scope="module")
def lines_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("shelf")
    (folder / "lines.txt").write_bytes(LINES.encode())
    return folder


@pytest.mark.parametrize("small", [False, True])
def test_files_stay_apart_where_line_ends_of_two_characters_are_looked_for(
    tmp_path: Path, ripgrep: Ripgrep, small: bool
) -> None:
    lay_out(tmp_path, {f"{name}.txt": f"{name}\r\nneedle\r\n" for name in "abc"})
    if small:
        ripgrep.small.add(tmp_path)
    found = ripgrep.matches(Query(base=tmp_path, pattern="needle$"), Run())
    assert sorted(found) == [(f"{name}.txt", 1, b"2:3:needle\r") for name in "abc"]


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    tree=TREES,
    ignores=IGNORE_FILES,
    git=st.booleans(),
    ignored=st.booleans(),
    start=st.sampled_from(["", "a", "build"]),
)
def test_the_same_files(
    ripgrep: Ripgrep, tree: dict[str, str], ignores: dict[str, str], git: bool, ignored: bool, start: str
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = _grow(Path(folder), tree, ignores, git=git)
        if (root / start).is_dir():
            assert _files(ripgrep, root / start, ignored) == _files(FolderWalker(), root / start, ignored)


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    tree=TREES,
    ignores=IGNORE_FILES,
    include=st.lists(st.builds("{}{}".format, st.sampled_from(["", "", "!"]), GLOBS), max_size=2),
    start=st.sampled_from([".", ".", "a", "build"]),
)
def test_the_same_matches(
    ripgrep: Ripgrep, tree: dict[str, str], ignores: dict[str, str], include: list[str], start: str
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = _grow(Path(folder), tree, ignores, git=True)
        if (root / start).is_dir():
            query = Query(pattern="needle", base=root, start=start, include=tuple(include))
            assert _matches(ripgrep, query) == _matches(FolderWalker(), query)


PIECES = st.sampled_from(
    [
        *(
            "a",
            "b",
            "é",
            ".",
            "^",
            "$",
            "|",
            "(",
            ")",
            "(?:",
            "(?i)",
            "(?i:",
            "(?-i)",
            "(?P<n>",
            "(?<n>",
            "(?=",
            "(?<!",
        ),
        *("*", "+", "?", "{2}", "{1,2}", "{,2}", "{", "}", "[ab]", "[^ab]", "[a-c]", "[]a]", "[[:alpha:]]", "[", "]"),
        *("\\b", "\\B", "\\d", "\\w", "\\s", "\\S", "\\.", "\\t", "\\x41", "\\x{e9}", "\\u00e9", "\\pL", "\\p{Lu}"),
        *(
            "\\PL",
            "\\1",
            "\\z",
            "\\A",
            "\\q",
            "\\<",
            "\\>",
            "\\b{start}",
            "\\/",
            "\\-",
            "-",
            " ",
            "#",
            "&&",
            "~",
            "\\[",
        ),
    ]
)
LINES = "a\nb\nab\naab\nABé\n\n é b\na.b\tc\n1 2\nE[a]\n{2}\nx-y#\n(a|b)\r\nab\r\n~&&/\\\n"


@pytest.mark.slow
@settings(max_examples=rounds(50, 200), deadline=None)
@given(pattern=st.lists(PIECES, min_size=1, max_size=6).map("".join))
def test_the_same_meaning_of_patterns(ripgrep: Ripgrep, lines_folder: Path, pattern: str) -> None:
    assume(r"$\z\A" not in pattern)  # ripgrep finds it nowhere, though it finds `\z\A` in every empty line
    query = Query(pattern=pattern, base=lines_folder)
    walked = _matches_or_trouble(FolderWalker(), query)
    assume("where ripgrep is installed" not in str(walked))
    assume("a closing ) without its (" not in str(walked))  # ripgrep puts brackets around the pattern and takes it
    found = _matches_or_trouble(ripgrep, query)
    assert isinstance(found, PatternError) if isinstance(walked, PatternError) else found == walked


@settings(max_examples=50, deadline=None)
@given(text=st.text(st.sampled_from("ab.*[](){}|\\^$-é~&# \t"), min_size=1, max_size=4))
def test_the_same_literal_text(ripgrep: Ripgrep, lines_folder: Path, text: str) -> None:
    query = Query(pattern=text, base=lines_folder, literal=True)
    assert _matches(ripgrep, query) == _matches(FolderWalker(), query)


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


def _files(engine: Engine, root: Path, ignored: bool) -> list[str]:
    return sorted(engine.files(root, Run(), ignored=ignored))


def _matches(engine: Engine, query: Query) -> object:
    return sorted((found.path, found.total, found.lines) for found in engine.matches(query, Run()))


def _matches_or_trouble(engine: Engine, query: Query) -> object:
    try:
        return _matches(engine, query)
    except PatternError as error:
        return error
