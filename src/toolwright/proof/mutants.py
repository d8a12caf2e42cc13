"""A few breakages of the changed lines: a check that does not notice any of them says nothing about the change."""

import ast
import difflib
import re
from collections.abc import Iterator, Sequence

from toolwright.record import record

_SWAPS = (
    (r"===", "!=="),
    (r"!==", "==="),
    (r"(?<![=!<>])==(?!=)", "!="),
    (r"!=(?!=)", "=="),
    (r"(?<![<=-])>=", "<"),
    (r"<=(?!>)", ">"),
    (r"(?<=[\w)\]]) \+ (?=[\w(\"'\[])", " - "),
    (r"(?<=[\w)\]]) - (?=[\w(])", " + "),
    (r"(?<=[\w)\]]) \* (?=[\w(])", " / "),
    (r"\btrue\b", "false"),
    (r"\bfalse\b", "true"),
    (r"&&", "||"),
    (r"\+=", "-="),
    (r"(?<=[\w)\]]) < (?=[\w(])", " >= "),
    (r"(?<=[\w)\]]) > (?=[\w(])", " <= "),
    (r"(?<![\w.])\d+(?![\w.])", "987654"),
    (r"(['\"`])(?:\\.|(?!\1).)+\1", r"\1broken\1"),
)
CODE = frozenset(
    (
        *("py", "js", "mjs", "cjs", "ts", "mts", "cts", "tsx", "jsx", "go", "rs", "c", "h", "cc", "cpp", "java"),
        *("kt", "rb", "php", "cs", "swift", "scala", "lua", "pl", "ex"),
    )
)
"""Endings of files whose lines are broken."""


@record(frozen=True, slots=True)
class Mutant:
    """One file with one changed line broken."""

    path: str
    line: int
    text: str


def changed_lines(before: str, after: str) -> list[int]:
    """Return the lines of a file that are new or other than they were, from 1."""
    matcher = difflib.SequenceMatcher(None, before.splitlines(), after.splitlines(), autojunk=False)
    return [
        number + 1 for tag, _, _, start, end in matcher.get_opcodes() if tag != "equal" for number in range(start, end)
    ]


def code_lines(path: str, text: str, lines: Sequence[int]) -> list[int]:
    """Return those of the lines that something can be executed of, within functions."""
    if not path.endswith(".py"):
        rows = text.splitlines()
        return [
            one
            for one in lines
            if one <= len(rows)
            and re.search(r"\w", rows[one - 1])
            and not rows[one - 1].strip().startswith(("//", "#", "*", "/*"))
        ]
    wanted, starts = set(lines), set[int]()
    for _, statement in _statements(text):
        first = statement.lineno
        span = (
            range(first, first + 1)
            if isinstance(statement, _BLOCKS)
            else range(first, (statement.end_lineno or first) + 1)
        )
        if wanted & set(span):
            starts.add(first)
    return sorted(starts)


def mutants(path: str, before: str, after: str) -> Iterator[Mutant]:
    """Yield a file with its changed lines broken, one after the other; those that matter most first."""
    lines = changed_lines(before, after)
    if path.endswith(".py"):
        yield from _python(path, after, lines)
    else:
        yield from _others(path, after, lines)


_BLOCKS = (ast.If, ast.For, ast.While, ast.With, ast.Try, ast.Match, ast.AsyncFor, ast.AsyncWith)


def _statements(text: str) -> Iterator[tuple[ast.AST, ast.stmt]]:
    """Yield every statement within a function, with that function."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        waiting = list(function.body)
        while waiting:
            node = waiting.pop(0)
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                continue
            if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
                yield function, node
            for name in ("body", "orelse", "finalbody"):
                waiting += getattr(node, name, [])
            waiting += [inner for handler in getattr(node, "handlers", []) for inner in handler.body]
            waiting += [inner for case in getattr(node, "cases", []) for inner in case.body]


def _python(path: str, text: str, lines: Sequence[int]) -> Iterator[Mutant]:
    rows, wanted = text.splitlines(keepends=True), set(code_lines(path, text, lines))
    changed = [(function, one) for function, one in _statements(text) if one.lineno in wanted]
    turn = dict[int, int]()
    order = list[tuple[int, int, ast.stmt]]()
    # The last statement of a changed function is most often its answer; then come those before it.
    for function, statement in sorted(changed, key=lambda pair: -pair[1].lineno):
        turn[id(function)] = turn.get(id(function), -1) + 1
        order.append((turn[id(function)], statement.lineno, statement))
    for _, _, statement in sorted(order, key=lambda entry: entry[:2]):
        first, last = statement.lineno - 1, (statement.end_lineno or statement.lineno)
        row = rows[first]
        space = row[: len(row) - len(row.lstrip())]
        if row.strip().startswith(("elif", "else", "except", "finally", "case")):
            continue
        broken = f"{space}raise RuntimeError('broken to see whether the check notices')\n"
        kept = "".join(rows[first:last]) if isinstance(statement, _BLOCKS) else ""
        yield Mutant(path, statement.lineno, "".join((*rows[:first], broken, kept, *rows[last:])))


def _others(path: str, text: str, lines: Sequence[int]) -> Iterator[Mutant]:
    rows = text.splitlines(keepends=True)
    for number in sorted(code_lines(path, text, lines), key=lambda one: ("return" not in rows[one - 1], one)):
        row = rows[number - 1]
        if re.match(r"\s*(import|from|use|package|export \{|const \w+ = require|#include)", row):
            continue
        for pattern, other in _SWAPS:
            broken = re.sub(pattern, other, row, count=1)
            if broken != row:
                yield Mutant(path, number, "".join((*rows[: number - 1], broken, *rows[number:])))
                break
