"""A change within a line, carried over to a line of the file that is not quite the one it was written for."""

import pytest

from toolwright.edits.tokens import carries, merge_line


@pytest.mark.parametrize(
    ("old", "new", "here", "merged"),
    [
        ("a = 1", "a = 2", "a = 1", "a = 2"),
        ("a = 1", "a = 2", "b = 1", "b = 2"),
        ("a = 1", "a = 2", "a = 3", None),
        ("f(a)", "f(a, b)", "f(a)  # note", "f(a, b)  # note"),
        ("f(a)", "f(a, b)", "g(a)", "g(a, b)"),
        ("f(a)", "f(a, b)", "f(c)", None),
        ("x = f(a)", "y = f(a)", "x = f(b)", "y = f(b)"),
        ("x = f(a)", "y = f(b)", "x = f(b)", "y = f(b)"),
        ("return a", "return a + 1", "return  a", "return  a + 1"),
        ("a+b", "a+c", "a + b", "a + c"),
        ("a, b", "a, b, c", "a, b, d", None),
        ("a", "", "a b", None),
        ("", "a", "b", None),
        ("a b c", "a c", "a x b c", None),
        ("a b c", "a b x c", "a c", None),
        ("let x = 1;", "const x = 1;", "let x: number = 1;", "const x: number = 1;"),
        ("one two three", "one 2 three", "one two three four", "one 2 three four"),
        ("one two three", "zero one two three", "one two three four", "zero one two three four"),
        ("a a a", "a a b", "a a a a", None),
        ("a.b.c", "a.x.c", "a.b.c.d", "a.x.c.d"),
        ("foo(bar)", "foo(qux)", "foo( bar )", "foo( qux )"),
        ("    x = 1", "    x = 2", "        x = 1", "        x = 2"),
        ("a = b", "a = b + d", "a = c + d", None),
        ("a = b", "a = c + d", "a = c", "a = c + d"),
    ],
)
def test_a_change_is_carried_over_unless_it_meets_what_differs(
    old: str, new: str, here: str, merged: str | None
) -> None:
    assert merge_line(old, new, here) == merged


@pytest.mark.parametrize(
    ("old", "here", "new", "carried"),
    [
        ("a b", "a", "b", True),
        ("a b", "a", "a", False),
        ("a b", "a b", "a", False),
        ("a", "b", "c", False),
        ("a", "", "a", True),
        ("", "", "a", False),
    ],
)
def test_a_line_carries_what_the_old_one_has_and_the_file_has_not(old: str, here: str, new: str, carried: bool) -> None:
    assert carries(old, here, new) is carried
