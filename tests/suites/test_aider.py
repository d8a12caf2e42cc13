"""Aider's tests of replacing a piece of text that fits nearly, where its source is installed (make real)."""

import ast
import unittest
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from toolwright.edits.replacement import replace
from toolwright.errors import ToolError

FOLDER = Path(".venv/judges/suites/aider").absolute()
FILE = "tests/basic/test_editblock.py"
CASES = 6
REFUSED = {
    "test_replace_multiple_matches": "ambiguous",
    "test_replace_multiple_matches_missing_whitespace": "ambiguous",
    "test_replace_part_with_missing_leading_whitespace_including_blank_line": "not_found",
}
"""Two places fit, of which aider takes the first; a blank line is to go that is not there."""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not FOLDER.is_dir(), reason="needs the source of aider: make real"),
]


def cases() -> dict[str, Any]:
    """Those tests that replace something, with our way to do it in the place of theirs."""
    tree = ast.parse((FOLDER / FILE).read_text("utf-8"))
    found = {
        node.name: node
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_replace_")
    }
    room: dict[str, Any] = {"eb": SimpleNamespace(replace_most_similar_chunk=replaced)}
    exec(compile(ast.Module(body=list(found.values()), type_ignores=[]), FILE, "exec"), room)
    return {name: room[name] for name in found if "chunk" not in name}


def replaced(whole: str, part: str, new: str) -> str:
    return replace(whole, part, new, drift="merge").text


def test_pieces_are_replaced_as_aider_does_it_or_refused() -> None:
    every = cases()
    assert len(every) == CASES
    refused = {}
    for name, test in every.items():
        try:
            test(unittest.TestCase())
        except ToolError as error:
            refused[name] = error.kind
    assert refused == REFUSED
