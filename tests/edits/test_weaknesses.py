"""Every weakness known of the reference's edit, by its number, with what we do instead."""

from dataclasses import dataclass

import pytest

from toolwright.edits.replacement import replace
from toolwright.errors import ToolError

NESTED = "function f() {\n  if (x) {\n    y()\n  }\n  z()\n}\n"
CONFIGURE = "function configure() {\n  load()\n  check()\n  apply()\n  save()\n}\n"
LOGGED = "class A:\n    def f(self):\n        g()\n        return 1\n"
METHOD = "class A:\n    def f(self):\n        return 1\n"


@dataclass(frozen=True)
class Case:
    id: str
    content: str
    old: str
    new: str
    wanted: str
    """The content afterwards, or the kind of refusal."""
    everywhere: bool = False


CASES = [
    Case("W-E1", CONFIGURE, "function configure() {\n  invented()\n}", "function configure() {}", "not_found"),
    Case("W-E1", "function c() {\n  removeAll()\n}", "function c() {\n  keep()\n}", "x", "not_found"),
    Case("W-E2", "start\nIMPORTANT\nend\n", "start\nend\n", "start\nEND\n", "not_found"),
    Case("W-E2b", "a\n\nkeep\n  foo()\n", "\nfoo()\n", "\nbar()\n", "a\n\nkeep\n  bar()\n"),
    Case("W-E3", NESTED, "function f() {\n  y()\n}", "function f() {\n  w()\n}", "not_found"),
    Case("W-E3", NESTED, "function f() {\n  y()\n}", "function g() {\n  y()\n}", "not_found"),
    Case("W-E4", "\tfoo();\n  bar\n\t\tfoo();\n", "foo();  ", "baz();", "ambiguous"),
    Case("W-E4", "if a:\n  return\nif b:\n    return\n", "return ", "pass", "ambiguous"),
    Case("W-E4", "a  = 1\nfoo\na   = 1\n", "a = 1", "a = 2", "ambiguous"),
    Case("W-E6", "abc\ndef\n", "\t", "    ", "not_found", everywhere=True),
    Case("W-E6", "abc\ndef\n", "\t", "    ", "ambiguous"),
    Case("W-E7", "foo foo", "foo", "$$-$&", "$$-$& $$-$&", everywhere=True),
    Case("W-E7", "foo bar", "foo", "$$-$&", "$$-$& bar"),
    Case("W-E10", METHOD, "def f(self):\nreturn 1", "def f(self):\n    return 2", METHOD.replace("1", "2")),
    Case("W-E10", METHOD, "def f(self):\nreturn 1", "def f(self):\nreturn 2", METHOD.replace("1", "2")),
    Case("W-E10", METHOD, "def f(self):\nreturn 1", "def f(self):\ng()\nreturn 1", LOGGED),
    Case("W-E11", "max = 10\n", " x = 1 ", " x = 2 ", "not_found"),
    Case("W-E11", "max  = 10\n", "x = 1", "x = 2", "not_found"),
    Case("W-E12", "a = 1\nb = 2\n", "a = 1\\nb = 2", "a = 1\\nb = 3", "a = 1\nb = 3\n"),
    Case("W-E12", 's = "a\\nb"\n', 's = "a\nb"', "x", "not_found"),
    Case("W-E13", "precious", "", "new", "ambiguous"),
    Case("W-E14", "alpha\r\nbeta\r\ngamma\r\n", "alpha\nbeta", "A\nB", "A\r\nB\r\ngamma\r\n"),
    Case("W-E14", "alpha\r\nbeta\r\n", "beta", "b2\nb3", "alpha\r\nb2\r\nb3\r\n"),
    Case("W-E14", "a\nb\n", "a\r\nb", "A\r\nB", "A\nB\n"),
    Case("W-E14", "a\r\nb\nc\n", "b\nc", "B\nC", "a\r\nB\nC\n"),
    Case("W-E14", "a\r\nb\r\n", "a\r\nb\r\n", "a\nb\n", "a\nb\n"),
    Case("W-E15", "s\n1\nX\n3\nY\ne\n", "s\n1\n2\n3\n4\ne", "S\n1\n2\n3\n4\ne", "not_found"),
    Case("W-E15", "s\n1\nX\n3\nY\ne\n", "s\n1\n2\n3\n4\ne", "gone", "not_found"),
    Case("W-E16", "  x()\n    x()\n  x()\n", "x() ", "y()", "  y()\n    y()\n  y()\n", everywhere=True),
    Case("W-E17", "print(“hi”)\n", 'print("hi")', "x", "not_found"),
    Case("E14", "foo( a, b )\nfoo(a,  b)\n", "foo(a, b)", "Z", "foo( a, b )\nZ\n"),
    Case("E19", "    if x:\n        y\n        z\n", "if x:\n    y\n    z", "if x:\n    w", "    if x:\n        w\n"),
    Case("E20", "\tif x:\n\t\ty = 1\n", "    if x:\n        y = 1", "    if x:\n        y = 2", "\tif x:\n\t\ty = 2\n"),
    Case("E20", "\tif x:\n\t\ty\n", "  if x:\n    y", "  if x:\n    if z:\n      y", "\tif x:\n\t\tif z:\n\t\t\ty\n"),
    Case("E21", "a\n\n\n\nb\n", "a\n\nb", "X", "not_found"),
    Case("E22", "A\n1\n2\n3\n4\n5\n6\n7\n8\nZ\n", "A\n1\nZ", "X", "not_found"),
    Case("E23", "import os\n", "\nimport os\n", "\nimport sys\n", "import sys\n"),
    Case("E32", "a\nb\nc", "c\n", "C\n", "a\nb\nC"),
    Case("E32", "a\nb\nc", "c", "C\n", "a\nb\nC\n"),
    Case("E33", "a\n", "a\nb\nc", "x", "not_found"),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.id} {case.old!r}")
def test_known_weaknesses(case: Case) -> None:
    try:
        got = replace(case.content, case.old, case.new, everywhere=case.everywhere).text
    except ToolError as error:
        got = error.kind
    assert got == case.wanted


BLOCK = "def f(a):\n    b = a\n    c = b\n    d = c\n    e = d\n    return e\n"


def test_a_change_beside_no_drift_is_carried_over() -> None:
    """The model misremembers line 3 and changes line 5: line 3 stays as the file has it."""
    old = BLOCK.replace("c = b", "c = b + 1")
    done = replace("x\n" + BLOCK, old, old.replace("e = d", "e = d * 2"))
    assert done.text == "x\n" + BLOCK.replace("e = d", "e = d * 2")
    assert done.strategy == "context"


def test_a_line_the_model_forgot_survives() -> None:
    old = BLOCK.replace("    b = a\n", "")
    done = replace(BLOCK, old, old.replace("return e", "return -e"))
    assert done.text == BLOCK.replace("return e", "return -e")
    assert done.strategy == "block_anchor"


def test_a_change_that_is_already_there_is_not_made_twice() -> None:
    old = BLOCK.replace("c = b", "c = 0")
    with pytest.raises(ToolError) as caught:
        replace(BLOCK, old, BLOCK)
    assert caught.value.kind == "same"


def test_drift_is_refused_where_that_is_set() -> None:
    old = BLOCK.replace("c = b", "c = b + 1")
    with pytest.raises(ToolError) as caught:
        replace(BLOCK, old, old.replace("e = d", "e = d * 2"), drift="refuse")
    assert caught.value.kind == "not_found"
    assert "line 3" in str(caught.value)


def test_where_two_blocks_are_equally_like_none_is_chosen() -> None:
    old = BLOCK.replace("c = b", "c = b + 1")
    with pytest.raises(ToolError) as caught:
        replace(BLOCK * 2, old, old.replace("e = d", "e = d * 2"))
    assert caught.value.kind == "ambiguous"
    assert "lines 1, 7" in str(caught.value)


def test_the_right_end_of_a_block_is_found_past_an_inner_one() -> None:
    content = "fn f() {\n  if (x) {\n    y\n  }\n  one\n  two\n  three\n}\n"
    old = "fn f() {\n  if (x) {\n    y\n  }\n  one\n  TWO\n  three\n}"
    done = replace(content, old, old.replace("    y\n", "    Y\n"))
    assert done.text == content.replace("    y\n", "    Y\n")


def test_new_text_that_already_stands_right_is_left_alone() -> None:
    """Only the old text lost its indentation; the new one has the file's."""
    done = replace(METHOD, "def f(self):\nreturn 1", "    def f(self):\n        return 2")
    assert done.text == METHOD.replace("1", "2")


def test_lines_that_old_and_new_share_stay_as_the_file_has_them() -> None:
    content = "\ta = 1   \n\tb = 2\t\n\tc = 3\n"
    assert replace(content, "a = 1\nb = 2\nc = 3", "a = 1\nb = 2\nc = 4").text == "\ta = 1   \n\tb = 2\t\n\tc = 4\n"


def test_an_empty_file_can_be_filled() -> None:
    assert replace("", "\n", "b").text == "b"


def test_a_collision_says_what_differs() -> None:
    old = BLOCK.replace("c = b", "c = b + 1")
    with pytest.raises(ToolError, match=r'line 3: after "c = b" oldString has " \+ 1", the file nothing'):
        replace(BLOCK, old, old.replace("b + 1", "b + 2"))
