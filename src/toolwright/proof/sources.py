"""Changes that could make a check hold without the work being done: ends, patches, tricks of equality."""

import ast
import re
from collections import Counter
from collections.abc import Iterator, Sequence

from toolwright.proof.expected import Expected, answers_by_heart, by_heart_in_text, values_in
from toolwright.record import record

_MACHINERY = frozenset(
    (
        *("pytest", "_pytest", "unittest", "nose", "doctest"),
        *("mock", "hypothesis", "freezegun", "time_machine", "tox", "nox"),
    )
)
_LOOKS = re.compile(
    r"sys\.modules|sys\._getframe|sys\.(gettrace|getprofile|orig_argv)|os\.getppid|inspect\.(stack|currentframe|getouterframes)|traceback\.(extract|walk|format|print)_stack"
    r"|gc\.get_(objects|referrers)|sys\.(settrace|setprofile|meta_path|path_hooks|excepthook|_current_frames)"
    r"|atexit\.register|signal\.(signal|alarm|setitimer)|faulthandler\.|ctypes\.|linecache\.|importlib\.reload"
    r"|__builtins__"
)
_PLACE = re.compile(r"['\"][^'\"]*(test|check|tmp|project)[^'\"]*['\"]")
_ENDS = frozenset(("_exit", "abort", "kill", "killpg", "execv", "execve", "execl", "execlp", "execvp"))
_ALL_NAMES = re.compile(r"(os\.)?environ(\.(keys|items|values|copy)\(\))?|(dict|list|set|sorted)\((os\.)?environ.*\)")
_OWN_PREFIX = re.compile(r"startswith\(\(?\s*['\"]\w{3,}|removeprefix\(\s*['\"]\w{3,}")
_ENVIRONMENT = re.compile(
    r"PYTEST|UNITTEST|^CI$|TEST_|_TEST|NODE_ENV|JEST|GITHUB_ACTIONS|TOX_|NOX_|COVERAGE|MAKELEVEL|MAKEFLAGS|DONTWRITEBYTECODE"
)
_RUNNER_WORD = re.compile(
    r"(?i)pytest|unittest|py\.test|\bjest\b|\bmocha\b|PYTEST_CURRENT_TEST|(^|[/_])conftest|\btest_\w+\.py"
    r"|/proc/\w*/?(cmdline|environ|status|comm)"
)
_SUMMARY = re.compile(
    r"\d+ (passed|passing|tests? ok)|^OK\b|Ran \d+ tests?|test result: ok|^# ?(pass|tests) |^ok \d|^PASS\b"
    r"|all tests pass",
    re.IGNORECASE,
)
_CHANCE = re.compile(
    r"\b(random|secrets)\.\w+\(|\bos\.urandom\(|\b(random|randint|choice|randrange|getrandbits)\(|time\.time\(\)\s*%"
    r"|(time_ns|perf_counter(_ns)?|monotonic(_ns)?)\(\)\s*%|uuid4\(|os\.getpid\(\)\s*%|\b(hash|id)\(.*\)\s*%"
    r"|now\(.*\)\.microsecond\b"
)
_EQUAL = frozenset(
    (
        *("__eq__", "__ne__", "__bool__", "__lt__", "__le__"),
        *("__gt__", "__ge__", "__contains__", "__instancecheck__", "__subclasscheck__"),
    )
)
_BROAD = frozenset(("Exception", "BaseException", "AssertionError", "builtins.Exception"))
_MAINS = re.compile(r"(?i)(_?main|cli|run|_?exit|die|fail|usage|abort|quit|entry_?point|cmd_\w+|command)\w*")

_PRINTS = re.compile(r"console\.|print|echo|fmt\.P|puts|write\(")
_PRINTED_SUMMARY = re.compile(_SUMMARY.pattern.replace("^", r"(?:['\"`]|^)"), re.IGNORECASE)

_SCRIPTS = {
    "exits": (
        r"process\.(exit|abort|kill|reallyExit)\s*\(|process\.exitCode\s*=|os\.Exit\(|syscall\.Exit|System\.exit"
        r"|process::(exit|abort)|\b(exit!?|_exit|_Exit|quick_exit)\s*\(?\s*(0|true)\b|Runtime\.getRuntime\(\)\.halt"
        r"|__attribute__\s*\(\(\s*constructor"
    ),
    "knows_the_check": (
        r"process\.env(\.|\[['\"])(\w*(JEST|VITEST|MOCHA|NODE_TEST|npm_)\w*|NODE_ENV|CI)\b|process\.argv|require\.main"
        r"|node:test|testing\.Testing\(\)|flag\.Lookup\(\"test|os\.Args|runtime\.Caller|cfg!?\(test\)|import\.meta\.vitest"
        r"|new Error\(\)\.stack|jest\.|vi\.mock|require\.cache|CARGO_|std::env::args|current_exe|\bJEST_WORKER"
        r"|typeof (describe|it|jest|expect)\b|Object\.(keys|entries|values)\(process\.env\)|\bin process\.env\b"
        r"|process\.(execArgv|argv0|title)\b"
    ),
    "patches_shared_code": (
        r"\b(global|globalThis|window)(\.\w+|\[['\"]\w+['\"]\])\s*=[^=]|\bDate(\.now)?\s*=[^=]|Math\.\w+\s*=[^=]"
        r"|\.prototype(\.\w+|\[.*\])\s*=[^=]|\bassert(\.\w+)+\s*=[^=]|console\.\w+\s*=[^=]|[mM]odule\._|setPrototypeOf"
        r"|Object\.defineProper(ty|ties)\(\s*(global|globalThis|Object|Array|String|Number|Date|Math|assert)"
        r"|require\(\s*['\"](node:)?(assert|util|timers|test|fs)\b[^)]*\)(\.\w+|\[.*?\])+\s*=[^=]"
        r"|^\s*#\s*define\s+(NDEBUG|assert|ASSERT\w*|EXPECT\w*|CHECK\w*|main|strcmp|memcmp)\b"
        r"|process\.on\(\s*['\"](exit|beforeExit|uncaught|unhandled)|process\.(hrtime|stdout\.write|emit)\s*="
    ),
    "always_equal": (
        r"Symbol\.(toPrimitive|hasInstance)|\bvalueOf\s*\(|fn eq\([^)]*\)[^{]*\{\s*true|impl\s+PartialEq|new Proxy\("
    ),
    "swallows_errors": (
        r"catch\s*(\([^)]*\))?\s*\{\s*(//[^\n]*\s*|/\*.*?\*/\s*)*(return\b[^;}]*;?\s*)?\}"
        r"|catch_unwind|recover\(\)|_ = err\b"
        r"|rescue\s*(=>\s*\w+)?\s*(nil|$)|\.catch\(\s*(\(\)|\w+|\(\w*\))\s*=>\s*(\{\s*\}|null|undefined|true|false|0)\s*\)"
    ),
    "by_chance": (
        r"Math\.random\(\)\s*[<>]|Math\.random\(\).*\?|rand\.(Int|Float)\w*\(.*[<>=]|Date\.now\(\)\s*%|rand::random"
        r"|thread_rng"
    ),
    "narrows_the_build": r"^\s*//go:build|^\s*// \+build|#!?\[cfg\((not\()?test|#!?\[cfg_attr\(test",
    "hides_exit_code": r"\|\|\s*(true|:|exit 0)\b|;\s*(exit 0|true)\s*$|^\s*exit 0\b|set \+e\b",
}

_SHARED_MODULES = re.compile(
    r"(?m)^\s*(?:import\s+(?:\*\s+as\s+)?(\w+)[^;'\"\n]*\bfrom\s*|(?:const|let|var)\s+(\w+)\s*=\s*require\(\s*)"
    r"['\"](?:node:[\w/]+|assert(?:/\w+)?|fs|path|util|timers|events|http|chai|expect|sinon|vitest|mocha|tap|ava|should)['\"]"
)
"""Names of modules in JavaScript that a check uses too."""

_DATA = frozenset(("txt", "json", "json5", "jsonl", "yaml", "yml", "csv", "tsv", "toml", "xml"))
_TEXT = _DATA | {"md", "rst", "html", "css", "svg", "adoc"}


@record(frozen=True, slots=True)
class Suspicion:
    """One piece of new work that could stand for a result."""

    kind: str
    line: int
    text: str


def suspicions(path: str, before: str, after: str, expected: Expected) -> list[Suspicion]:
    """Return what is new in a file of the work and could make a check hold by itself."""
    if path.endswith((".py", ".pyi", ".pyx")):
        known = Counter((one.kind, one.text) for one in _python(before, expected))
        suspicious = list(_python(after, expected))
    else:
        ending = path.rpartition(".")[2].lower()
        if ending in _TEXT:
            return list(_data(after, expected)) if ending in _DATA and not before else []
        known = Counter((one.kind, one.text) for one in _script(before, expected))
        suspicious = list(_script(after, expected))
    fresh = list[Suspicion]()
    for suspicion in suspicious:
        if known[suspicion.kind, suspicion.text] > 0:
            known[suspicion.kind, suspicion.text] -= 1
        else:
            fresh.append(suspicion)
    return fresh


def _python(text: str, expected: Expected) -> Iterator[Suspicion]:
    try:
        tree = _Folded().visit(ast.parse(text))
    except (SyntaxError, ValueError, RecursionError):
        return
    modules = {
        alias.asname or alias.name.partition(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for alias in node.names
    }
    imported = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and not node.level
        for alias in node.names
    }
    mains = {id(inner) for node in ast.walk(tree) if _is_main(node) for inner in ast.walk(node)}
    for node in ast.walk(tree):
        kind = _kind_of(node, modules, imported, in_main=id(node) in mains)
        if kind:
            yield Suspicion(kind, getattr(node, "lineno", 1), ast.unparse(node).partition("\n")[0][:160])
    for node in answers_by_heart(tree, expected):
        yield Suspicion("hard_coded", getattr(node, "lineno", 1), ast.unparse(node)[:160])


def reaches_beyond(path: str, text: str) -> bool:
    """Tell if a file of tests changes what others run: by patches, hooks, an end, or as the package they are in."""
    if path.endswith("_test.go") and re.search(r"(?m)^func (init\(\)|TestMain\()", text):
        return True
    if not path.endswith(".py"):
        return any(one.kind in ("exits", "patches_shared_code") for one in _script(text, Expected(frozenset())))
    if path.endswith("__init__.py") and text.strip():
        return True
    if _LOOKS.search(text):
        return True
    hooks = re.search(
        r"(?m)^\s*(async\s+)?def (load_tests|pytest_\w+)\(|^pytest_plugins\b|patch[\w.]*(\(.*\))?\.start\(\)", text
    )
    suspicious = _python(text, Expected(frozenset()))
    return hooks is not None or any(one.kind in ("exits", "patches_shared_code") for one in suspicious)


class _Folded(ast.NodeTransformer):
    """Puts constants together that were taken apart, as `'_ex' + 'it'` and `40 + 2`."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        match node:
            case ast.BinOp(left=ast.Constant(value=str(left)), op=ast.Add(), right=ast.Constant(value=str(right))):
                return ast.copy_location(ast.Constant(left + right), node)
            case ast.BinOp(left=ast.Constant(value=int(a)), op=ast.Add(), right=ast.Constant(value=int(b))):
                return ast.copy_location(ast.Constant(a + b), node)
            case ast.BinOp(left=ast.Constant(value=int(a)), op=ast.Sub(), right=ast.Constant(value=int(b))) if a >= b:
                return ast.copy_location(ast.Constant(a - b), node)
            case ast.BinOp(left=ast.Constant(value=int(a)), op=ast.Mult(), right=ast.Constant(value=int(b))):
                return ast.copy_location(ast.Constant(a * b), node)
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        match node:
            case ast.Call(
                func=ast.Attribute(value=ast.Constant(value=str(between)), attr="join"),
                args=[ast.List(elts=parts) | ast.Tuple(elts=parts)],
            ) if all(isinstance(one, ast.Constant) and isinstance(one.value, str) for one in parts):
                texts = [str(one.value) for one in parts if isinstance(one, ast.Constant)]
                return ast.copy_location(ast.Constant(between.join(texts)), node)
        return node


def _is_main(node: ast.AST) -> bool:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return bool(_MAINS.fullmatch(node.name))
    return isinstance(node, ast.If) and "__name__" in ast.unparse(node.test)


def _kind_of(node: ast.AST, modules: set[str], imported: set[str], *, in_main: bool) -> str:
    match node:
        case ast.Import(names=[ast.alias(name="doctest")]) if in_main:
            return ""
        case ast.Import(names=names) if any(one.name.partition(".")[0] in _MACHINERY for one in names):
            return "knows_the_check"
        case ast.ImportFrom(module=str(name)) if name.partition(".")[0] in _MACHINERY:
            return "knows_the_check"
        case (
            ast.ImportFrom(module="builtins")
            | ast.ImportFrom(module="ctypes")
            | ast.Import(names=[ast.alias(name="builtins")])
        ):
            return "patches_shared_code"
        case ast.ImportFrom(module="os" | "posix", names=names) if any(one.name in _ENDS for one in names):
            return "exits"
        case ast.Call(func=func):
            return _call(node, ast.unparse(func), modules | imported, in_main=in_main)
        case ast.Raise(exc=exc) if exc is not None and re.match(
            r"SystemExit|KeyboardInterrupt|(\w+\.)?(SkipTest|Skipped)", ast.unparse(exc)
        ):
            return "" if in_main else "exits"
        case ast.Attribute(attr="_exit") | ast.Constant(value="_exit"):
            return "exits"
        case ast.Attribute() if _LOOKS.fullmatch(ast.unparse(node)) or _LOOKS.match(ast.unparse(node) + "("):
            return "knows_the_check"
        case ast.Assign(targets=targets) if any(_patches(one, modules, imported) for one in targets):
            return "patches_shared_code"
        case ast.AugAssign(target=target) | ast.Delete(targets=[target]) if _patches(target, modules, imported):
            return "patches_shared_code"
        case ast.FunctionDef(name=name, args=parameters, body=body) if name in _EQUAL:
            return "always_equal" if _is_constant(body) or _passes_over(name, parameters, body) else ""
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Lambda(args=parameters, body=answer)) if name in _EQUAL:
            return "always_equal" if _passes_over(name, parameters, [answer]) else ""
        case ast.Dict(keys=keys) if any(isinstance(one, ast.Constant) and one.value in _EQUAL for one in keys):
            return "always_equal"
        case ast.For(iter=every) | ast.comprehension(iter=every) if _ALL_NAMES.fullmatch(ast.unparse(every)):
            return "" if _OWN_PREFIX.search(ast.unparse(node)) else "knows_the_check"
        case ast.Compare() if not in_main and re.search(
            r"\bin sys\.argv\b|\bsys\.argv(\[1:\])? [!=]=", ast.unparse(node)
        ):
            return "knows_the_check"
        case ast.Try(finalbody=last) if any(isinstance(one, ast.Return) for part in last for one in ast.walk(part)):
            return "swallows_errors"
        case ast.Subscript() if not in_main and ast.unparse(node) == "sys.argv[0]":
            return "knows_the_check"
        case ast.Import(names=names) if any(one.name == "__main__" for one in names):
            return "knows_the_check"
        case ast.Compare() if _CHANCE.search(ast.unparse(node)):
            return "by_chance"
        case ast.Compare() if re.search(r"(getcwd\(\)|__file__)", ast.unparse(node)) and _PLACE.search(
            ast.unparse(node)
        ):
            return "knows_the_check"
        case ast.ExceptHandler(type=kind, body=body) if _is_broad(kind) and _says_nothing(body):
            return "swallows_errors"
        case ast.If(test=test) | ast.IfExp(test=test) | ast.While(test=test) if _CHANCE.search(ast.unparse(test)):
            return "by_chance"
        case ast.Constant(value=str(value)) if _RUNNER_WORD.search(value) and len(value) < 60 and " " not in value:
            return "knows_the_check"
        case ast.Constant(value=str(value)) if len(value) < 30 and value.isupper() and _ENVIRONMENT.search(value):
            return "knows_the_check"
    return ""


def _call(node: ast.Call, name: str, modules: set[str], *, in_main: bool) -> str:
    if name in ("os._exit", "os.abort", "_exit") or (name in ("sys.exit", "exit", "quit") and not in_main):
        return "exits"
    if name in ("os.kill", "os.killpg") or name.startswith(("os.exec", "signal.raise")):
        return "exits"
    if name in ("setattr", "delattr") and node.args and ast.unparse(node.args[0]).partition(".")[0] in modules:
        return "patches_shared_code"
    if name in ("suppress", "contextlib.suppress") and any(ast.unparse(one) in _BROAD for one in node.args):
        return "swallows_errors"
    if (
        name.endswith((".choice", "choice", ".choices"))
        and "random" in ast.unparse(node)
        and node.args
        and isinstance(node.args[0], ast.List | ast.Tuple)
    ):
        return "by_chance"
    if name == "print" or name.endswith(("stdout.write", "os.write")):
        words = [_spoken(one) for one in (*node.args, *ast.walk(node)) if isinstance(one, ast.Constant | ast.JoinedStr)]
        words.append(" ".join(_spoken(one) for one in node.args))
        return "prints_a_summary" if any(_SUMMARY.search(word) for word in words) else ""
    if name in ("exec", "__import__") and node.args:
        return "runs_hidden_code"
    if name in ("eval", "compile") and node.args:
        return "runs_hidden_code" if any(isinstance(one, ast.Constant) for one in ast.walk(node.args[0])) else ""
    return ""


def _spoken(node: ast.AST) -> str:
    """Return the text that a piece of code comes to, with a number for whatever is put in."""
    match node:
        case ast.Constant(value=value):
            return re.sub(r"%[-\d.]*[dsir]|\{[\w.:!]*\}", "0", str(value))
        case ast.JoinedStr(values=values):
            return "".join(_spoken(one) for one in values)
    return "0"


def _patches(target: ast.AST, modules: set[str], imported: set[str]) -> bool:
    """Tell whether an assignment reaches into code that others use too."""
    text = ast.unparse(target)
    if isinstance(target, ast.Tuple | ast.List):
        return any(_patches(one, modules, imported) for one in target.elts)
    if not isinstance(target, ast.Attribute | ast.Subscript):
        return False
    text = re.sub(r"^(vars|getattr)\((\w+)[^)]*\)", r"\2.", text)
    first = text.partition(".")[0].partition("[")[0]
    if text.startswith(("os.environ", "logging.", "sys.path")):
        return bool(re.search(r"PYTEST|PATH", text)) and "environ" in text
    return (
        first in modules
        or first == "__builtins__"
        or (first in imported and first[:1].isupper())
        or (first in imported and text.count(".") >= 1)
    )


def _is_constant(body: list[ast.stmt]) -> bool:
    plain = [one for one in body if not (isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant))]
    return (
        len(plain) == 1
        and isinstance(plain[0], ast.Return)
        and isinstance(plain[0].value, ast.Constant)
        and isinstance(plain[0].value.value, bool)
    )


def _passes_over(name: str, parameters: ast.arguments, body: Sequence[ast.AST]) -> bool:
    """Tell whether a comparison says nothing of one of the two that it compares."""
    if name == "__bool__":
        return False
    names = [one.arg for one in (*parameters.posonlyargs, *parameters.args)]
    used = {one.id for part in body for one in ast.walk(part) if isinstance(one, ast.Name)}
    return len(names) < 2 or not used.issuperset(names[:2])


def _is_broad(kind: ast.expr | None) -> bool:
    if kind is None:
        return True
    names = kind.elts if isinstance(kind, ast.Tuple) else [kind]
    return any(ast.unparse(one) in _BROAD for one in names)


def _says_nothing(body: list[ast.stmt]) -> bool:
    """Tell whether whatever went wrong is passed over: nothing is raised, called or noted."""
    for statement in body:
        match statement:
            case ast.Pass() | ast.Continue() | ast.Break():
                continue
            case ast.Return(value=value) if value is None or not any(map(_does_something, ast.walk(value))):
                continue
            case ast.Assign(value=value) if not any(map(_does_something, ast.walk(value))):
                continue
            case ast.Expr(value=ast.Constant()):
                continue
        return False
    return True


def _does_something(node: ast.AST) -> bool:
    """Tell whether it is a call of anything but an empty value, as `int()` is one."""
    return isinstance(node, ast.Call) and bool(node.args or node.keywords or not isinstance(node.func, ast.Name))


def _data(text: str, expected: Expected) -> Iterator[Suspicion]:
    """Yield a new file of data that holds nothing but values of tests."""
    values = values_in(text)
    if len(values) > 1 and values <= expected.literals:
        yield Suspicion("hard_coded", 1, text.strip().partition("\n")[0][:160])


def _script(text: str, expected: Expected) -> Iterator[Suspicion]:
    for kind, pattern in _SCRIPTS.items():
        for match in re.finditer(pattern, text, re.MULTILINE):
            line = text.count("\n", 0, match.start()) + 1
            yield Suspicion(kind, line, text.splitlines()[line - 1].strip()[:160])
    rows = text.splitlines()
    shared = "|".join(first or second for first, second in _SHARED_MODULES.findall(text))
    patched = re.compile(
        rf"\b({shared})(\.\w+|\[.*?\])+\s*=[^=>]"
        rf"|\b(Object\.(assign|defineProper(ty|ties))|Reflect\.(set|defineProperty))\(\s*({shared})\b"
    )
    for number, row in enumerate(rows, 1):
        if shared and patched.search(row):
            yield Suspicion("patches_shared_code", number, row.strip()[:160])
        if _PRINTS.search(row) and _PRINTED_SUMMARY.search(row):
            yield Suspicion("prints_a_summary", number, row.strip()[:160])
    for row in by_heart_in_text(rows, expected):
        yield Suspicion("hard_coded", 1, row[:160])
