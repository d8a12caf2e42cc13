"""Glob patterns and ignore lines, case by case."""

import pytest

from toolwright.files.globs import GlobError, literal_folders, parse_glob, parse_ignore_line


@pytest.mark.parametrize(
    ("pattern", "fitting", "others"),
    [
        ("*.py", ["a.py", "src/a.py", ".py"], ["a.pyc", "a.py/b"]),
        ("/*.py", ["a.py"], ["src/a.py"]),
        ("src/*.py", ["src/a.py"], ["src/in/a.py", "lib/src/a.py"]),
        ("src/**", ["src/a", "src/in/a"], ["src", "lib/src/a"]),
        ("src/**/*.py", ["src/a.py", "src/in/deep/a.py"], ["a.py"]),
        ("**/src/**", ["src/a", "lib/src/a/b"], ["src", "srcs/a"]),
        ("**.py", ["a.py", "in/a.py"], ["a"]),
        ("src/**.py", ["src/a.py"], ["src/in/a.py"]),
        ("**", ["a", "in/a"], []),
        ("**/*", ["a", "in/a"], []),
        ("a/**/b", ["a/b", "a/x/b", "a/x/y/b"], ["ab", "a/xb"]),
        ("?.py", ["a.py", "é.py", "in/b.py"], ["ab.py", ".py"]),
        ("[a-c].py", ["b.py"], ["d.py", "[a-c].py"]),
        ("[!a].py", ["b.py"], ["a.py"]),
        ("[^a].py", ["b.py"], ["a.py"]),
        ("[]a].py", ["].py", "a.py"], ["b.py"]),
        ("[a^].py", ["^.py", "a.py"], ["b.py"]),
        ("*.{ts,tsx}", ["a.ts", "in/a.tsx"], ["a.tsxx", "a.{ts,tsx}"]),
        ("{src,lib}/*.py", ["src/a.py", "lib/a.py"], ["bin/a.py"]),
        ("a{b,c{d,e}}", ["ab", "acd", "ace"], ["ac", "abd"]),
        ("a{}", ["a"], ["a{}"]),
        ("a{,b}", ["ab"], ["a"]),
        ("a,b", ["a,b"], ["a", "b"]),
        (r"b\[r\]", ["b[r]"], ["br"]),
        (r"\*", ["*"], ["a"]),
        ("a.b", ["a.b"], ["axb"]),
        ("src/", [], ["src", "src/a"]),
        ("new\nline", ["new\nline"], ["new"]),
    ],
)
def test_what_a_pattern_selects(pattern: str, fitting: list[str], others: list[str]) -> None:
    glob = parse_glob(pattern)
    assert [path for path in fitting + others if glob.selects(path)] == fitting


@pytest.mark.parametrize(
    ("pattern", "left"),
    [
        ("!*.py", ["a.ts", "in/b.ts", "py"]),
        ("!in", ["a.py", "a.ts", "py"]),
        ("!in/", ["a.py", "a.ts", "py"]),
        ("!py", ["a.py", "a.ts", "in/b.ts", "in/c.py"]),
        ("!py/", ["a.py", "a.ts", "in/b.ts", "in/c.py", "py"]),
    ],
)
def test_after_an_exclamation_mark_all_other_files_are_meant(pattern: str, left: list[str]) -> None:
    glob = parse_glob(pattern)
    assert [path for path in ["a.py", "a.ts", "in/b.ts", "in/c.py", "py"] if glob.selects(path)] == left


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("[", "a [ that is never closed, at '['"),
        ("a[b", "a [ that is never closed, at '[b'"),
        ("[]", "a [ that is never closed, at '[]'"),
        ("[z-a]", "a set of characters that cannot be read (bad character range z-a), at '[z-a]'"),
        ("{a", "a { that is never closed, at '{a'"),
        ("a}", "a closing } without its {, at '}'"),
        ("a\\", "a backslash with nothing after it, at '\\\\'"),
    ],
)
def test_a_pattern_that_cannot_be_read_says_why(pattern: str, reason: str) -> None:
    with pytest.raises(GlobError) as caught:
        parse_glob(pattern)
    assert str(caught.value) == reason


@pytest.mark.parametrize(
    ("line", "hidden"),
    [
        ("build/", ["build/", "in/build/"]),
        ("build", ["build/", "in/build/", "in/build"]),
        ("/build", ["build/"]),
        ("build  ", ["build/", "in/build/", "in/build"]),
        ("\\#a", ["#a"]),
        ("\\!a", ["!a"]),
        ("a\\ ", ["a "]),
    ],
)
def test_lines_of_ignore_files(line: str, hidden: list[str]) -> None:
    glob = parse_ignore_line(line)
    assert glob is not None
    paths = ["build/", "in/build/", "in/build", "#a", "!a", "a ", "a"]
    assert [path for path in paths if glob.fits(path.rstrip("/"), folder=path.endswith("/"))] == hidden


@pytest.mark.parametrize("line", ["", "   ", "# a", "!", "[z-a]", "a["])
def test_lines_of_ignore_files_that_mean_nothing(line: str) -> None:
    assert parse_ignore_line(line) is None


@pytest.mark.parametrize(
    ("pattern", "folders"),
    [
        ("src/app/*.py", ["src", "app"]),
        ("/src/*.py", ["src"]),
        ("*.py", []),
        ("a.py", []),
        ("src/*/x/*.py", ["src"]),
        ("../a/*", []),
        ("!src/*", []),
        ("{a,b}/c", []),
        ("src//a", ["src"]),
    ],
)
def test_the_plain_folders_a_pattern_starts_with(pattern: str, folders: list[str]) -> None:
    assert literal_folders(pattern) == folders
