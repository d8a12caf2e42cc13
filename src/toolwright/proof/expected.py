"""Values that tests give to the work and expect of it: an answer that only these values get is no answer."""

import ast
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field

from toolwright.record import record

_ENTRY = re.compile(r"""['"`]([^'"`]*\d[^'"`\d]+\d[^'"`]*)['"`]\s*[:,]\s*(-?\d[\d.]*|'[^']*'|"[^"]*")""")
"""An entry of a table in other languages, whose key is made of several numbers."""
_TRIVIAL = frozenset(("0", "1", "-1", "2", "None", "True", "False", "''", "[]", "()", "{}", "b''", "0.0", "1.0"))
_LITERAL = re.compile(r"-?\b\d+(?:\.\d+)?\b|'(?:\\.|[^'\\\n])*'|\"(?:\\.|[^\"\\\n])*\"")


@record(frozen=True, slots=True)
class Expected:
    """Literals that stand in tests: all, and those of each call with what is expected of it."""

    literals: frozenset[str]
    functions: frozenset[str] = field(default=frozenset())
    """Names that tests call with literals."""


def expected_of(tests: Iterable[tuple[str, str]]) -> Expected:
    """Return what the tests say, each given with its path."""
    literals, functions = set[str](), set[str]()
    for path, text in tests:
        if not path.endswith(".py"):
            literals |= {_plain(one) for one in _LITERAL.findall(text)}
            continue
        try:
            tree = ast.parse(text)
        except (SyntaxError, ValueError, RecursionError):
            continue
        for node in ast.walk(tree):
            if value := literal(node):
                literals.add(value)
            if isinstance(node, ast.Call) and any(literal(one) for one in node.args):
                functions.add(ast.unparse(node.func).rpartition(".")[2])
    return Expected(frozenset(literals) - _TRIVIAL, frozenset(functions))


def literal(node: ast.AST) -> str:
    """Return a value that is written out, in one form; nothing for what is none."""
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return ""
    return repr(value)


def answers_by_heart(tree: ast.AST, expected: Expected) -> Iterator[ast.AST]:
    """Yield the pieces that give the very answer of a test to the very values of the test."""
    tables = {
        target.id: node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Dict)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            names = {one.arg for one in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)} - {
                "self",
                "cls",
            }
            if _constant_answer(node, names, expected):
                yield node
            for inner in ast.walk(node):
                if _branch(inner, names, expected) or _table(inner, names, expected, tables):
                    yield inner


def _constant_answer(node: ast.FunctionDef | ast.AsyncFunctionDef, names: set[str], expected: Expected) -> bool:
    """Tell if a function that takes something gives back a value of a test whatever it is given."""
    body = [one for one in node.body if not (isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant))]
    if not names or node.name not in expected.functions or len(body) != 1 or not isinstance(body[0], ast.Return):
        return False
    return body[0].value is not None and literal(body[0].value) in expected.literals


def _branch(node: ast.AST, names: set[str], expected: Expected) -> bool:
    match node:
        case ast.If(test=test, body=[ast.Return(value=value)]) | ast.IfExp(test=test, body=value) if value is not None:
            return literal(value) in expected.literals and any(
                one in expected.literals for one in _compared(test, names)
            )
        case ast.match_case(pattern=pattern, body=[ast.Return(value=value)]) if value is not None:
            cases = [literal(one.value) for one in ast.walk(pattern) if isinstance(one, ast.MatchValue)]
            return literal(value) in expected.literals and any(one in expected.literals for one in cases)
    return False


def _compared(test: ast.expr, names: set[str]) -> Iterator[str]:
    """Yield the values that a condition compares what was given with, as it was given."""
    for node in ast.walk(test):
        if (
            not isinstance(node, ast.Compare)
            or len(node.ops) != 1
            or not isinstance(node.ops[0], ast.Eq | ast.In | ast.Is)
        ):
            continue
        used = {one.id for one in ast.walk(node.left) if isinstance(one, ast.Name)}
        plain = isinstance(node.left, ast.Name | ast.Tuple | ast.List)
        if plain and used and used <= names:
            whole = node.comparators[0]
            yield literal(whole)
            if isinstance(whole, ast.Tuple | ast.List | ast.Set):
                yield from (literal(one) for one in whole.elts)


def _table(node: ast.AST, names: set[str], expected: Expected, tables: Mapping[str, ast.Dict]) -> bool:
    """Tell whether an argument is looked up in a table that holds nothing but values of tests."""
    table, key = None, None
    if isinstance(node, ast.Subscript):
        table, key = node.value, node.slice
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "get" and node.args:
        table, key = node.func.value, node.args[0]
    if isinstance(table, ast.Name) and table.id in tables:
        # A table with a name may well be the work itself; one of sums or pairs of numbers hardly is.
        table = tables[table.id]
        if not all(isinstance(one, ast.Tuple) or (one and re.search(r"\d", literal(one))) for one in table.keys):
            return False
    if not isinstance(table, ast.Dict) or key is None or not table.keys:
        return False
    key_names = {one.id for one in ast.walk(key) if isinstance(one, ast.Name)}
    known = [one is not None and _is_known(one, expected) for one in table.keys]
    values = [literal(one) in expected.literals for one in table.values]
    return bool(key_names) and key_names <= names and all(known) and any(values)


def _is_known(key: ast.expr, expected: Expected) -> bool:
    """Tell whether a key is a value of a test, or made of such."""
    if isinstance(key, ast.Constant) and isinstance(key.value, str) and literal(key) not in expected.literals:
        parts = [_plain(one) for one in re.findall(r"-?\d+", key.value)]
    elif isinstance(key, ast.Tuple):
        parts = [literal(one) for one in key.elts]
    else:
        return literal(key) in expected.literals
    return _are_known(parts, expected)


def _are_known(parts: Sequence[str], expected: Expected) -> bool:
    return any(one in expected.literals for one in parts) and all(one in expected.literals | _TRIVIAL for one in parts)


def by_heart_in_text(lines: Iterable[str], expected: Expected) -> Iterator[str]:
    """Yield lines of other languages that compare with a value of a test and answer with another."""
    rows = list(lines)
    for line in rows:
        for key, value in _ENTRY.findall(line):
            parts = [_plain(one) for one in re.findall(r"-?\d+", key)]
            if _are_known(parts, expected) and _plain(value) in expected.literals:
                yield line.strip()
    for index, line in enumerate(rows):
        if not re.search(r"\b(if|case|when|switch)\b.*(==|\bcase\b|=>|\beq\b)|\?|=>", line):
            continue
        piece = (
            line
            if re.search(r"\breturn\b|\?|=>", line)
            else f"{line} {rows[index + 1] if index + 1 < len(rows) else ''}"
        )
        if not re.search(r"\breturn\b|\?|=>", piece):
            continue
        head, _, tail = re.sub(r"\breturn\b|=>|\?(?=[^:]*:)", "\0", piece, count=1).partition("\0")
        asked, answered = ([_plain(one) for one in _LITERAL.findall(part)] for part in (head, tail))
        if any(one in expected.literals for one in asked) and any(one in expected.literals for one in answered):
            yield line.strip()


def values_in(text: str) -> set[str]:
    """Return the values that a file of data holds, as literals; numbers within words are values too."""
    words = (word for one in _LITERAL.findall(text) for word in re.split(r"[^\w.-]+", one.strip("'\"")) if word)
    return {_plain(word) if re.fullmatch(r"-?\d+(\.\d+)?", word) else repr(word) for word in words} - _TRIVIAL


def _plain(text: str) -> str:
    try:
        return repr(ast.literal_eval(text))
    except (ValueError, SyntaxError):
        return text
