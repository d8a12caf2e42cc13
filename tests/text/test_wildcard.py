"""The wildcards of rules: a table of cases, and equivalence with the plainest matcher there is."""

import functools

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.waiting import bounded_work
from toolwright.text.wildcard import matches

CASES = [
    ("ls", "ls *", True),
    ("ls -la", "ls *", True),
    ("ls ", "ls *", True),
    ("ls  x", "ls *", True),
    ("lsof", "ls *", False),
    ("lsof", "ls*", True),
    ("ls", "ls*", True),
    ("git", "git * *", False),
    ("git status", "git * *", True),
    ("git status x", "git * *", True),
    ("git push", "git push *", True),
    ("git pushx", "git push *", False),
    ("ls a x", "ls * x", True),
    ("ls x", "ls * x", False),
    ("rm -rf /", "rm -rf *", True),
    ("rm -r -f /", "rm -rf *", False),
    ("a\nb", "a*b", True),
    ("foo", "FOO", False),
    ("file1.txt", "file?.txt", True),
    ("file12.txt", "file?.txt", False),
    ("src/a/b.ts", "src/*", True),
    ("src", "src/*", False),
    ("src/", "src/*", True),
    ("src/a", "src/**", True),
    ("src/a/b", "src/**/b", True),
    ("src/b", "src/**/b", False),
    ("a.b", "a.b", True),
    ("aXb", "a.b", False),
    ("a+b", "a+b", True),
    ("(x)", "(x)", True),
    ("x[1]", "x[1]", True),
    ("x1", "x[1]", False),
    ("{a}", "{a,b}", False),
    ("a", "!a", False),
    ("a\\b", "a\\b", True),
    ("a\\b", "a/b", False),
    ("a *", "a \\*", False),
    ("", "", True),
    ("", "*", True),
    ("x", "", False),
    ("/etc", "/etc*", True),
    ("/etcetera/x", "/etc*", True),
    ("/etc/x", "/etc/*", True),
    ("/etc", "/etc/*", False),
    ("/a/.env", "*.env", True),
    ("/a/b.env", "*.env", True),
    ("/a/.env.local", "*.env.*", True),
    ("/a/.env.example", "*.env.example", True),
    ("/a/.envrc", "*.env", False),
    ("/a/.envrc", "*.env.*", False),
    ("env", "*.env", False),
    ("mcp_x_tool", "mcp_*", True),
    ("*", "*", True),
    ("echo a > b", "* > *", True),
    ("$HOME/x", "$HOME/*", True),
    ("x\n", "x", False),
    ("\n", "?", True),
]


@pytest.mark.parametrize(("text", "pattern", "expected"), CASES)
def test_the_table(text: str, pattern: str, expected: bool) -> None:
    assert matches(text, pattern) is expected


def test_case_counts_unless_it_is_told_not_to() -> None:
    assert not matches("/a/.ENV", "*.env")
    assert matches("/a/.ENV", "*.env", any_case=True)
    assert matches("STRASSE", "strasse", any_case=True)


SHORT = st.text(alphabet="ab *?/.\n[", max_size=9)


@given(text=SHORT, pattern=SHORT)
@example(text="a", pattern="a *")
@example(text="a", pattern="* *")
@example(text="", pattern=" *")
def test_it_agrees_with_a_naive_matcher(text: str, pattern: str) -> None:
    assert matches(text, pattern) == naive(text, pattern)


@given(text=st.text(max_size=40))
def test_every_text_without_wildcards_matches_itself_and_the_star(text: str) -> None:
    assert matches(text, "*")
    plain = text.replace("*", "").replace("?", "")
    assert matches(plain, plain)


def test_no_pattern_makes_it_slow() -> None:
    with bounded_work():
        assert not matches("a" * 20_000 + "c", "*a" * 30 + "b")
        assert not matches("ab" * 10_000, "*a*b" * 20 + "c")


def naive(text: str, pattern: str) -> bool:
    if pattern.endswith(" *") and _fits(text, pattern[:-2]):
        return True
    return _fits(text, pattern)


@functools.cache
def _fits(text: str, pattern: str) -> bool:
    if not pattern:
        return not text
    if pattern[0] == "*":
        return _fits(text, pattern[1:]) or (bool(text) and _fits(text[1:], pattern))
    return bool(text) and pattern[0] in ("?", text[0]) and _fits(text[1:], pattern[1:])
