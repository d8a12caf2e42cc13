"""Symbols as servers and Python's parser tell of them."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolwright.errors import ToolError
from toolwright.lsp.outline import python_symbols, read_symbols
from toolwright.lsp.positions import Positions

TEXT = Positions("class A:\n    def f(self):\n        x = 1\n        y = (\n            2)\n    z = 3\n")


def item(name: str, kind: int, first: int, last: int, *children: Any, **more: Any) -> dict[str, Any]:
    place = {"start": {"line": first - 1, "character": 0}, "end": {"line": last - 1, "character": 3}}
    return {"name": name, "kind": kind, "range": place, "selectionRange": place, "children": list(children), **more}


def test_symbols_are_listed_with_their_paths_and_without_the_variables_of_functions() -> None:
    inside = [item("x", 13, 3, 3), item("y", 13, 4, 5)]
    answer = [item("A", 5, 1, 6, item("f", 6, 2, 5, *inside), item("z", 13, 6, 6))]
    found = list(read_symbols(answer, TEXT))
    assert [(one.path, one.lines, one.depth) for one in found] == [
        ("A", "lines 1-6", 0),
        ("A.f", "lines 2-5", 1),
        ("A.f.y", "lines 4-5", 2),
        ("A.z", "line 6", 1),
    ]


def test_the_older_form_of_an_answer_is_read_too() -> None:
    place = {"start": {"line": 1, "character": 4}, "end": {"line": 5, "character": 0}}
    answer = [{"name": "f", "kind": 6, "containerName": "A", "location": {"uri": "file:///a", "range": place}}]
    [symbol] = read_symbols(answer, TEXT)
    assert (symbol.path, symbol.first, symbol.last, symbol.character) == ("A.f", 2, 5, 5)


def test_a_range_beyond_the_text_ends_with_it() -> None:
    [symbol] = read_symbols([item("f", 12, 6, 900)], TEXT)
    assert symbol.last <= TEXT.lines


@pytest.mark.parametrize("text", ["def f(:\n", "x = '\0'\n", "(" * 5000])
def test_what_is_no_python_is_said(text: str) -> None:
    with pytest.raises(ToolError, match="cannot be parsed"):
        python_symbols(Positions(text))


@settings(deadline=None, max_examples=50)
@given(
    st.lists(
        st.sampled_from(["def f():", "class A:", "    pass", "    def g(self):", "        pass", "x = 1", "@d", ""])
    )
)
def test_the_lines_of_python_symbols_are_lines_of_the_text(lines: list[str]) -> None:
    text = Positions("\n".join(lines))
    try:
        found = python_symbols(text)
    except ToolError:
        return
    for symbol in found:
        assert 1 <= symbol.first <= symbol.line <= symbol.last <= text.lines
        assert symbol.name in text.line(symbol.line - 1)
