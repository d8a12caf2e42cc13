"""Weakened tests: those deleted, skipped, narrowed, loosened, or that expect something else now."""

import ast
import doctest
import re
from collections.abc import Iterator, Mapping
from dataclasses import field

from toolwright.record import record

_SKIPS = re.compile(
    r"\b(skip|skipif|skipunless|xfail|expectedfailure|importorskip|ignore|disabled|todo)\b", re.IGNORECASE
)
_LOOSE = re.compile(
    r"is not None|isinstance|assertTrue|assertIsNotNone|assertIn\b|toBeDefined|toBeTruthy|pytest\.approx"
    r"|assertAlmostEqual|>=|<=| in |\bor\b|assert True|expect\.any|anything\(|\bok\("
)
_OTHERS = {
    "js": re.compile(
        r"^[ \t]*(?P<mark>(?:x|f)?(?:it|test|describe)(?:\.(?:skip|only|todo|failing|concurrent|each))*)\s*\(\s*"
        r"(?P<quote>['\"`])(?P<name>.*?)(?P=quote)",
        re.MULTILINE,
    ),
    "go": re.compile(r"^func (?P<mark>)(?P<name>(?:Test|Fuzz|Example)\w*)\s*\(", re.MULTILINE),
    "rs": re.compile(
        r"(?P<mark>(?:#\[[^\]]*\]\s*)*#\[(?:\w+::)?test\](?:\s*#\[[^\]]*\])*)\s*(?:async\s+)?fn (?P<name>\w+)"
    ),
}
_ENDINGS = {"mjs": "js", "cjs": "js", "ts": "js", "tsx": "js", "jsx": "js", "mts": "js", "cts": "js"}
_ASSERTS = re.compile(
    r"^.*(?:\bassert\w*!?[\s.(]|\bexpect\s*\(|\bt\.(?:equal|is|deepEqual|ok|Error|Fatal|Errorf|Fatalf)|\brequire\.\w+\().*$",
    re.MULTILINE,
)


@record(frozen=True, slots=True)
class TestCase:
    """One test: whether it is passed over, and what it asserts."""

    __test__ = False

    skipped: bool
    only: bool
    asserts: tuple[str, ...] = field(default=())


@record(frozen=True, slots=True)
class Weakening:
    """Change that weakens a test."""

    kind: str
    name: str
    path: str


_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
_EXAMPLE = re.compile(r"#\s*doctest:.*$", re.MULTILINE)


def weakened(
    path: str, before: str | None, after: str | None, names: set[str], come: Mapping[str, TestCase] | None = None
) -> Iterator[Weakening]:
    """Yield what was done to the tests of one file.

    `names` are those of all tests there are now, `come` the tests that were not there before: one that asserts the same
    or has the same name in another class is the old one under a new name.
    """
    new = come or {}
    names = names | {name for name, one in tests_of(path, before or "").items() if _has_moved(name, one, new)}
    yield from _weaker(path, tests_of(path, before or ""), tests_of(path, after or ""), names)


def weakened_beside(path: str, before: str, after: str, *, doctests: bool) -> Iterator[Weakening]:
    """Yield the same of tests that stand in a file of the work, and of its examples where the check runs those."""
    old = {name: one for name, one in tests_of(path, before).items() if one.asserts}
    yield from _weaker(path, old, tests_of(path, after), set())
    if doctests:
        yield from _weaker(path, examples_of(path, before), examples_of(path, after), set())


def examples_of(path: str, text: str) -> Mapping[str, TestCase]:
    """Return the examples that a doctest would run, by what they call: of a text, or of all docstrings of a module."""
    try:
        if path.endswith(".py"):
            nodes = (one for one in ast.walk(ast.parse(text)) if isinstance(one, _DOCUMENTED))
            text = "\n\n".join(filter(None, map(ast.get_docstring, nodes)))
        examples = doctest.DocTestParser().get_examples(text)
    except (SyntaxError, ValueError, RecursionError):
        return {}
    examples_by_name = dict[str, TestCase]()
    for example in examples:
        name = " ".join(_EXAMPLE.sub("", example.source).split())
        skipped = example.options.get(doctest.SKIP, False)
        examples_by_name[name] = TestCase(skipped, only=False, asserts=(example.exc_msg or example.want.strip(),))
    return examples_by_name


def _has_moved(name: str, was: TestCase, come: Mapping[str, TestCase]) -> bool:
    bare = name.rpartition(".")[2]
    return any(one.rpartition(".")[2] == bare for one in come) or any(
        was.asserts and one.asserts == was.asserts and not one.skipped for one in come.values()
    )


def _weaker(
    path: str, old: Mapping[str, TestCase], new: Mapping[str, TestCase], names: set[str]
) -> Iterator[Weakening]:
    for name, was in old.items():
        now = new.get(name)
        if now is None:
            if name not in names:
                yield Weakening("test_deleted", name, path)
            continue
        if now.skipped and not was.skipped:
            yield Weakening("test_skipped", name, path)
        if now.only and not was.only:
            yield Weakening("test_narrowed", name, path)
        removed = [one for one in was.asserts if one not in now.asserts]
        added = [one for one in now.asserts if one not in was.asserts]
        if not removed:
            continue
        if len(now.asserts) < len(was.asserts) or any(_LOOSE.search(one) for one in added):
            yield Weakening("test_loosened", name, path)
        else:
            yield Weakening("expectation_changed", name, path)


def asserts_in(text: str) -> set[str]:
    """Return the lines that hold something to be so."""
    raised = (line for line in text.splitlines() if "AssertionError" in line)
    return {line.strip() for line in (*_ASSERTS.findall(text), *raised)}


def tests_of(path: str, text: str) -> Mapping[str, TestCase]:
    """Return the tests that a file holds, by name."""
    ending = path.rpartition(".")[2].lower()
    if ending == "py":
        try:
            return dict(_python(ast.parse(text)))
        except (SyntaxError, ValueError, RecursionError):
            return {}
    pattern = _OTHERS.get(_ENDINGS.get(ending, ending))
    return dict(_others(pattern, text)) if pattern else {}


def _python(module: ast.Module, above: str = "", *, skipped: bool = False) -> Iterator[tuple[str, TestCase]]:
    whole = skipped or any(_marks_module(node) for node in module.body)
    for node in module.body:
        yield from _python_tests(node, above, skipped=whole)


def _python_tests(node: ast.stmt, above: str, *, skipped: bool) -> Iterator[tuple[str, TestCase]]:
    if isinstance(node, ast.ClassDef):
        mine = skipped or any(_SKIPS.search(ast.unparse(one)) for one in node.decorator_list)
        mine = mine or any(_marks_module(one) for one in node.body)
        for inner in node.body:
            yield from _python_tests(inner, f"{above}{node.name}.", skipped=mine)
    elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.lower().startswith("test"):
        marked = any(_SKIPS.search(ast.unparse(one)) for one in node.decorator_list)
        asserts, ended = [ast.unparse(one) for one in node.decorator_list if "parametrize" in ast.unparse(one)], False
        for statement in node.body:
            text = ast.unparse(statement)
            if isinstance(statement, ast.Return | ast.Raise) or re.match(
                r"(pytest\.skip|pytest\.xfail|self\.skipTest)\(", text
            ):
                ended = True
            if not ended:
                asserts += [ast.unparse(one) for one in ast.walk(statement) if _asserts(one)]
        yield (
            f"{above}{node.name}",
            TestCase(skipped or marked or (ended and not asserts), only=False, asserts=tuple(asserts)),
        )


def _marks_module(node: ast.stmt) -> bool:
    """Tell whether a statement of a module or class passes over all of its tests."""
    text = ast.unparse(node) if isinstance(node, ast.Assign | ast.Expr | ast.Raise | ast.If) else ""
    if isinstance(node, ast.If) and not text.startswith("if True"):
        return False
    return bool(re.search(r"pytestmark\s*=.*(skip|xfail)|pytest\.skip\(|SkipTest|__test__\s*=\s*False", text))


def _asserts(node: ast.AST) -> bool:
    if isinstance(node, ast.Assert):
        return True
    if isinstance(node, ast.withitem):
        return "raises" in ast.unparse(node).lower()
    return (
        isinstance(node, ast.Expr)
        and re.match(r"(self|np\.testing|mock\w*)\.(assert|fail)\w*", ast.unparse(node)) is not None
    )


def _others(pattern: re.Pattern[str], text: str) -> Iterator[tuple[str, TestCase]]:
    starts = list(pattern.finditer(text))
    for index, match in enumerate(starts):
        end = starts[index + 1].start() if index + 1 < len(starts) else len(text)
        body, mark = text[match.end() : end], match["mark"] or ""
        lines = [line for line in body.splitlines() if not line.strip().startswith(("//", "/*", "*"))]
        plain = "\n".join(lines)
        skips = (
            bool(_SKIPS.search(mark))
            or mark.startswith("x")
            or bool(re.search(r"\bt\.(Skip|SkipNow|Skipf|skip|todo)\(", plain))
        )
        skips = skips or bool(re.search(r"\{\s*(skip|todo)\s*:\s*(true|['\"])", plain))
        only = ".only" in mark or mark.startswith("f") or bool(re.search(r"\{\s*only\s*:\s*true", plain))
        yield match["name"], TestCase(skips, only, tuple(one.strip() for one in _ASSERTS.findall(plain)))
