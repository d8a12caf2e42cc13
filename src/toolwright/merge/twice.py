"""Names that a module defines more than once in one place: of two definitions only the last one counts."""

import ast
from collections import Counter
from collections.abc import Iterator, Sequence


def defined_twice(tree: ast.Module) -> set[str]:
    """Return the functions and classes, with the classes they are in, that are defined more than once."""
    return set(_twice(tree.body, ""))


def defined(tree: ast.Module) -> set[str]:
    """Return the functions and classes that are defined, with the classes they are in."""
    return set(_names(tree.body, ""))


def _names(body: Sequence[ast.stmt], above: str) -> Iterator[str]:
    for statement in body:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield above + statement.name
            if isinstance(statement, ast.ClassDef):
                yield from _names(statement.body, f"{above}{statement.name}.")


def _twice(body: Sequence[ast.stmt], above: str) -> Iterator[str]:
    definitions = [one for one in body if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)]
    counts = Counter(one.name for one in definitions if not _may_repeat(one))
    yield from (above + name for name, count in counts.items() if count > 1)
    for definition in definitions:
        if isinstance(definition, ast.ClassDef):
            yield from _twice(definition.body, f"{above}{definition.name}.")


def _may_repeat(definition: ast.stmt) -> bool:
    """Tell whether a definition is one of several on purpose: overloads, setters, registered functions."""
    return bool(getattr(definition, "decorator_list", ()))
