"""Find the places of a module that can be changed, and what each would become.

Chosen are guards that leave early, comparisons and the whole numbers they compare with, `and`, `or` and `not`, the
conditions of comprehensions, and numbers with a name at the top of a module. Never chosen are:

- conditions of the platform, the version of Python or type checking, the bodies of protocols: no test here can tell;
- assertions and texts with values in them: they are for people;
- comparisons in a chain (`0 < a < b`), limits that are calculated or stand in a class or a signature, patterns of
  `match`, regular expressions, calls, arithmetic and what is returned: mutants of these are as many again and seldom
  show a rule that is held by nothing.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
_ENDS = (ast.Return, ast.Raise, ast.Continue, ast.Break)
_SKIPPED = ("TYPE_CHECKING", "__name__", "sys.platform", "sys.version_info")
"""Conditions that no test of one machine and one Python can tell."""


@dataclass(frozen=True, kw_only=True, order=True)
class Mutant:
    """One change of one place of a file."""

    file: Path
    line: int
    last: int
    """The last line of the place."""
    kind: str
    before: str
    after: str
    start: int
    end: int
    """Where `before` stands in the file, in bytes."""

    def apply(self, source: bytes) -> bytes:
        """Return the file with the change made."""
        return source[: self.start] + self.after.encode() + source[self.end :]


def mutants_of(file: Path) -> list[Mutant]:
    """Return every change that could be made in a file, in the order of its lines."""
    source = file.read_bytes()
    return sorted(_Finder(file, source).all(ast.parse(source)))


class _Finder:
    def __init__(self, file: Path, source: bytes) -> None:
        self._file, self._source = file, source
        self._starts = [0]
        for line in source.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))

    def all(self, tree: ast.Module) -> Iterator[Mutant]:
        skipped = {id(node) for node in _never_run(tree)}
        for node in _walk(tree, skipped):
            yield from self._of_node(node)
        for statement in tree.body:
            yield from self._of_limit(statement)

    def _of_node(self, node: ast.AST) -> Iterator[Mutant]:
        match node:
            case ast.If(test=test, body=[first]) if isinstance(first, _ENDS) and not node.orelse:
                yield from self._change(test, "guard", ast.Constant(value=False))
            case ast.Compare(ops=[op]):
                yield from self._of_comparison(node, op)
            case ast.BoolOp():
                yield from self._of_several(node)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                yield from self._change(node, "not dropped", operand)
            case ast.comprehension(ifs=[condition]):
                yield from self._change(condition, "filter dropped", ast.Constant(value=True))

    def _of_comparison(self, node: ast.Compare, op: ast.cmpop) -> Iterator[Mutant]:
        if other := _COMPARISONS.get(type(op)):
            changed = ast.Compare(left=node.left, ops=[other()], comparators=node.comparators)
            yield from self._change(node, "comparison", changed)
        limit = node.comparators[0]
        if isinstance(limit, ast.Constant) and type(limit.value) is int:
            yield from self._change(limit, "limit", ast.Constant(value=limit.value + 1))

    def _of_several(self, node: ast.BoolOp) -> Iterator[Mutant]:
        op, values = node.op, node.values
        other = ast.Or() if isinstance(op, ast.And) else ast.And()
        yield from self._change(node, "and/or", ast.BoolOp(op=other, values=values))
        for number in range(len(values)):
            rest = values[:number] + values[number + 1 :]
            kept = rest[0] if len(rest) == 1 else ast.BoolOp(op=op, values=rest)
            yield from self._change(node, "condition dropped", kept)

    def _of_limit(self, statement: ast.stmt) -> Iterator[Mutant]:
        """A number with a name of its own at the top of a module."""
        value = statement.value if isinstance(statement, ast.Assign | ast.AnnAssign) else None
        number = value.value if isinstance(value, ast.Constant) else None
        if value and isinstance(number, int | float) and not isinstance(number, bool) and number:
            yield from self._change(value, "limit", ast.Constant(value=number + 1))

    def _change(self, node: ast.expr, kind: str, after: ast.expr) -> Iterator[Mutant]:
        start = self._starts[node.lineno - 1] + node.col_offset
        end = self._starts[(node.end_lineno or 0) - 1] + (node.end_col_offset or 0)
        before = self._source[start:end].decode()
        text = ast.unparse(after)
        if any(name in before for name in _SKIPPED) or text == before:
            return
        yield Mutant(
            file=self._file,
            line=node.lineno,
            last=node.end_lineno or node.lineno,
            kind=kind,
            before=before,
            after=f"({text})" if not isinstance(after, ast.Constant | ast.Name) else text,
            start=start,
            end=end,
        )


def _never_run(tree: ast.Module) -> Iterator[ast.AST]:
    """Yield what stands under `if TYPE_CHECKING` and the like, and the bodies of protocols."""
    for node in ast.walk(tree):
        match node:
            case ast.Assert() | ast.JoinedStr():
                yield node
            case ast.If(test=test) if any(name in ast.unparse(test) for name in _SKIPPED):
                yield node
            case ast.ClassDef(bases=bases) if any("Protocol" in ast.unparse(base) for base in bases):
                yield node


def _walk(node: ast.AST, skipped: set[int]) -> Iterator[ast.AST]:
    if id(node) in skipped:
        return
    yield node
    for child in ast.iter_child_nodes(node):
        yield from _walk(child, skipped)
