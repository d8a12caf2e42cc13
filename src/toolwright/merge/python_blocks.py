"""A Python module as blocks: its imports, functions, classes and assignments, each with what stands above it."""

import ast
from collections import Counter
from collections.abc import Sequence

from toolwright.merge.blocks import Key, NamedBlock
from toolwright.text.diff import split_lines

LARGEST = 1024 * 1024
"""Letters of a module that is parsed."""


class NotPython(ValueError):
    """The text is no Python that this interpreter reads."""


def parsed(text: str) -> ast.Module:
    """Return the syntax tree; NotPython if there is none."""
    if len(text) > LARGEST or "\r" in text.replace("\r\n", ""):
        raise NotPython("it is too long, or its lines end in a way of their own")
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise NotPython(str(error)) from error


def module_blocks(text: str) -> list[NamedBlock]:
    """Return the blocks of a module; together they are its text."""
    return _blocks(split_lines(text), parsed(text).body, 0)


def class_blocks(text: str) -> list[NamedBlock]:
    """Return the blocks of one class: its head, and its members; together they are its text."""
    import textwrap

    lines = split_lines(text)
    body = parsed(textwrap.dedent(text)).body
    if len(body) != 1 or not isinstance(body[0], ast.ClassDef):
        raise NotPython("it is not one class")
    members = body[0].body
    first = _first_line(members[0]) - 1
    if first < body[0].lineno:
        raise NotPython("it is a class in one line")
    while first > 0 and lines[first - 1].lstrip().startswith("#"):
        first -= 1
    return [NamedBlock(("head",), "".join(lines[:first])), *_blocks(lines, members, first)]


def _blocks(lines: Sequence[str], statements: Sequence[ast.stmt], start: int) -> list[NamedBlock]:
    """Cut the lines from `start` on behind each statement. Statements that share a line stay together."""
    seen = Counter[Key]()
    blocks = list[NamedBlock]()
    at, keys = start, list[Key]()
    for number, statement in enumerate(statements):
        keys.append(_key(statement))
        end = statement.end_lineno or statement.lineno
        following = statements[number + 1] if number + 1 < len(statements) else None
        if following is not None and _first_line(following) <= end:
            continue
        key = keys[0] if len(keys) == 1 else ("line", *(word for one in keys for word in one))
        seen[key] += 1
        blocks.append(NamedBlock((*key, str(seen[key])) if seen[key] > 1 else key, "".join(lines[at:end])))
        at, keys = end, []
    if at < len(lines):
        blocks.append(NamedBlock(("end",), "".join(lines[at:])))
    return blocks


def _key(statement: ast.stmt) -> Key:
    match statement:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return (name,)
        case ast.ImportFrom(module=module, level=level):
            return ("from", "." * level + (module or ""))
        case ast.Import(names=names):
            # By another name it is another import.
            return ("import", *(ast.unparse(one) for one in names))
        case ast.Assign(targets=[target]) | ast.AnnAssign(target=target):
            return (ast.unparse(target),)
        case ast.Expr(value=ast.Constant(value=str())):
            return ("docstring",)
        case _:
            return (ast.unparse(statement).partition("\n")[0],)


def _first_line(statement: ast.stmt) -> int:
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return min([statement.lineno, *(one.lineno for one in statement.decorator_list)])
    return statement.lineno
