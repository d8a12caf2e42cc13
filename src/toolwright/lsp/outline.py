"""Symbols that a file defines, with the lines they take, from the answer of a server or Python's own parser."""

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from typing import Any

from toolwright.errors import ToolError
from toolwright.lsp.positions import Positions
from toolwright.record import record

KINDS = (
    *("symbol", "file", "module", "namespace", "package", "class", "method", "property", "field", "constructor"),
    *("enum", "interface", "function", "variable", "constant", "string", "number", "boolean", "array", "object"),
    *("key", "null", "enum-member", "struct", "event", "operator", "type-parameter"),
)
"""What the protocol numbers the kinds of symbols by."""
_CODE = frozenset({"function", "method", "constructor"})
_BLOCKS = _CODE | {"class", "enum", "interface", "struct"}
_DEEPEST = 50
_TOLD = 10


@record(frozen=True, slots=True, kw_only=True)
class Symbol:
    """One thing that a file defines; lines and characters count from 1."""

    path: str
    """Its name after the names of all that it is in, as in `Class.method`."""
    name: str
    kind: str
    line: int
    character: int
    """Where its name stands."""
    first: int
    last: int
    """The lines it takes, with its decorators."""
    depth: int = 0

    @property
    def lines(self) -> str:
        return f"lines {self.first}-{self.last}" if self.last > self.first else f"line {self.first}"

    @property
    def is_variable(self) -> bool:
        return self.kind in ("variable", "constant")

    def holds(self, line: int) -> bool:
        return self.first <= line <= self.last

    def is_called(self, name: str) -> bool:
        """Return whether this is its name, as far as it is given."""
        mine, wanted = self.path.replace("::", "."), name.replace("::", ".")
        return mine == wanted or mine.endswith(f".{wanted}")


def kind_of(item: Any) -> str:
    """The word for the kind that a server gives as a number."""
    kind = item.get("kind")
    return KINDS[kind] if isinstance(kind, int) and 0 < kind < len(KINDS) else "symbol"


def read_symbols(items: Iterable[Any], text: Positions, within: Symbol | None = None) -> Iterator[Symbol]:
    """The symbols in what a server answered about a file, in its order, each before those in it.

    The variables of a function are nothing that the file defines, and are left out.
    """
    depth = 0 if within is None else within.depth + 1
    for item in items if depth < _DEEPEST else ():
        location = item.get("location") if isinstance(item, dict) else None
        whole = location.get("range") if isinstance(location, dict) else None
        whole = item.get("range", whole) if isinstance(item, dict) else None
        if not isinstance(whole, dict):
            continue
        name, holder = str(item.get("name")), within.path if within else str(item.get("containerName") or "")
        line, character = text.shown(item.get("selectionRange", whole)["start"])
        first, end = whole["start"]["line"] + 1, whole["end"]
        # What ends before the first character of a line ends with the line before.
        last = end["line"] + (1 if end["character"] or end["line"] + 1 == first else 0)
        symbol = Symbol(
            path=f"{holder}.{name}" if holder else name,
            name=name,
            kind=kind_of(item),
            line=line,
            character=character,
            first=first,
            last=min(last, max(first, text.lines)),
            depth=depth,
        )
        if not (symbol.is_variable and within is not None and within.kind in _CODE and symbol.first == symbol.last):
            yield symbol
            yield from read_symbols(item.get("children") or (), text, symbol)


def python_symbols(text: Positions) -> list[Symbol]:
    """The symbols of a Python file, without a server. ToolError if it cannot be parsed."""
    try:
        return list(_defined(ast.parse(text.text), text))
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ToolError(f"What the file defines is not known, since it cannot be parsed: {error}.") from error


def _defined(holder: ast.AST, text: Positions, *, within: str = "", depth: int = 0) -> Iterator[Symbol]:
    for node in ast.iter_child_nodes(holder):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            kind = "class" if isinstance(node, ast.ClassDef) else "method" if _is_class(holder) else "function"
            symbol = _symbol(node, node.name, kind, text, within=within, depth=depth)
            yield symbol
            yield from _defined(node, text, within=symbol.path, depth=depth + 1)
        elif isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(holder, ast.Module | ast.ClassDef):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for name in (target.id for target in targets if isinstance(target, ast.Name)):
                kind = "constant" if name.isupper() else "field" if _is_class(holder) else "variable"
                yield _symbol(node, name, kind, text, within=within, depth=depth)
        elif isinstance(node, ast.stmt | ast.ExceptHandler | ast.match_case):
            yield from _defined(node, text, within=within, depth=depth)


def _is_class(holder: ast.AST) -> bool:
    return isinstance(holder, ast.ClassDef)


def _symbol(node: ast.stmt, name: str, kind: str, text: Positions, *, within: str, depth: int) -> Symbol:
    match = re.search(rf"\b{re.escape(name)}\b", text.line(node.lineno - 1))
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return Symbol(
        path=f"{within}.{name}" if within else name,
        name=name,
        kind=kind,
        line=node.lineno,
        character=match.start() + 1 if match else node.col_offset + 1,
        first=min((node.lineno, *(one.lineno for one in decorators))),
        last=node.end_lineno or node.lineno,
        depth=depth,
    )


def find_symbol(symbols: Sequence[Symbol], name: str, line: int) -> Symbol:
    """The symbol of this name; of several, or without a name, the one around the line. ToolError if that is none."""
    if not name:
        return _around(symbols, line)
    called = [symbol for symbol in symbols if symbol.is_called(name)]
    fitting = [symbol for symbol in called if symbol.path == name] or called
    if len(fitting) > 1:
        fitting = [symbol for symbol in fitting if symbol.holds(line)] or fitting
    if not fitting:
        near = get_close_matches(name, {known for one in symbols for known in (one.name, one.path)}, n=3)
        hint = f"Did you mean {' or '.join(near)}?" if near else "documentSymbol lists what there is."
        raise ToolError(f"The file defines no {name!r}. {hint}", "not_found")
    if len(fitting) > 1:
        listed = ", ".join(f"{one.path} ({one.lines})" for one in fitting[:_TOLD])
        raise ToolError(f"{name!r} is several: {listed}. Name it as in Class.name, or give a line of it.", "ambiguous")
    return fitting[0]


def _around(symbols: Sequence[Symbol], line: int) -> Symbol:
    """The innermost function or class that holds a line, or else the outermost symbol that does."""
    holding = [symbol for symbol in symbols if symbol.holds(line)]
    blocks = [symbol for symbol in holding if symbol.kind in _BLOCKS]
    if not holding:
        raise ToolError(f"Nothing that the file defines holds line {line}. Give its name as query.", "not_found")
    return max(blocks, key=lambda one: one.first) if blocks else min(holding, key=lambda one: one.depth)
