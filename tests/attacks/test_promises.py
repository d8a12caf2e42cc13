"""Every test that the page about security names is there, and every file of attacks stands behind a promise."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "security.md").read_text("utf-8")
ROWS = [line for line in PAGE.partition("## Promises")[2].partition("## What is not")[0].splitlines() if "`" in line]
NAMED = sorted(set(re.findall(r"`((?:test_|tests/)[^`]+)`", PAGE)))


@cache
def _functions() -> dict[str, str]:
    """Every test there is, with the file it is in."""
    files = sorted((ROOT / "tests").rglob("test_*.py"))
    trees = {file: ast.parse(file.read_text("utf-8")) for file in files}
    return {
        node.name: str(file.relative_to(ROOT))
        for file, tree in trees.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_")
    }


@pytest.mark.parametrize("name", NAMED)
def test_a_test_that_is_named_exists(name: str) -> None:
    if name.startswith("tests/"):
        assert (ROOT / name).exists()
        return
    function, bracket, case = name.removesuffix("]").partition("[")
    assert function in _functions()
    if bracket:
        from tests.attacks.sandbox.catalogue import ATTACKS

        assert case in ATTACKS


def test_every_promise_names_a_test() -> None:
    rows = [row for row in ROWS if row.startswith("|")]
    assert [row for row in rows if not re.search(r"\| `test", row)] == []
    assert len(rows) > 30


def test_every_file_of_attacks_stands_behind_a_promise() -> None:
    named = {name if name.startswith("tests/") else _functions()[name.partition("[")[0]] for name in NAMED}
    attacks = {str(file.relative_to(ROOT)) for file in (ROOT / "tests" / "attacks").rglob("test_*.py")}
    assert attacks - named - {"tests/attacks/test_promises.py"} == set()
