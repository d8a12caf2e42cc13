"""Writes docs/reference.md: every public name with its types, from the source. Run it where one has changed."""

import ast
import importlib
import inspect
import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent
from typing import Any, is_typeddict

import toolwright
from toolwright.session.prompt import PromptOptions

PAGE = Path(__file__).with_name("reference.md")
HEAD = """\
# Reference

Every public name with its types, written by `docs/reference.py` from the source; `tests/test_docs.py` holds it to that.
What the names are for stands in [python.md](python.md) and the pages it leads to.
"""
MODULES = tuple(f"toolwright{end}" for end in ("", ".testing", ".structured", ".client", ".adapters.functions"))
METHODS = {
    "Workspace": "call session prompt stream decide run waiting use left_out close",
    "Session": "prompt stream call decide run messages waiting resume go_on abort permit info close",
}
"""Of the classes that have more than a program calls."""
WIDEST = 110


def page() -> str:
    """Return the page as it should be."""
    passages = [HEAD]
    for module in MODULES:
        loaded = importlib.import_module(module)
        names = [name for name in _names(loaded) if name[0] != "_"]
        passages.append(f"## {module}\n")
        if module == "toolwright":
            passages.append(_passage("PromptOptions", PromptOptions))
        passages += [_passage(name, getattr(loaded, name)) for name in sorted(names, key=str.lower)]
    return "\n".join(passages)


def _names(module: Any) -> list[str]:
    listed: list[str] | None = getattr(module, "__all__", None)
    if listed is not None:
        return listed
    return [name for name, one in vars(module).items() if getattr(one, "__module__", "") == module.__name__]


def _passage(name: str, thing: Any) -> str:
    lines = [f"### {name}\n"]
    if inspect.isclass(thing):
        lines += _of_class(name, thing)
    elif inspect.isfunction(thing):
        lines += _of_function(name, thing)
    else:
        lines.append(f"```py\n{name} = {_shown(thing)}\n```\n")
    return "\n".join(lines)


def _of_class(name: str, kind: type) -> Iterator[str]:
    yield f"{_first(kind.__doc__)}\n"
    fields = list(_fields(kind))
    if fields:
        yield "| field | type | default | what it is |\n|---|---|---|---|"
        yield from fields
        yield ""
    methods = list(_methods(name, kind))
    if methods:
        yield "\n".join(("```py", *methods)).rstrip("\n")
        yield "```\n"


def _tree(thing: Any) -> Any:
    return ast.parse(dedent(inspect.getsource(thing))).body[0]


def _fields(kind: type) -> Iterator[str]:
    if "__dataclass_fields__" not in kind.__dict__ and not is_typeddict(kind):
        return
    for base in [kind] if is_typeddict(kind) else reversed(kind.__mro__):
        if "__dataclass_fields__" not in base.__dict__ and not is_typeddict(base):
            continue
        body = _tree(base).body
        for above, below in zip(body, [*body[1:], None], strict=True):
            if isinstance(above, ast.AnnAssign) and isinstance(above.target, ast.Name) and above.target.id[0] != "_":
                if not _is_given(above):
                    continue
                text = below.value if isinstance(below, ast.Expr) else None
                said = text.value if isinstance(text, ast.Constant) else ""
                default = "" if above.value is None else f"`{_default(above.value)}`"
                kind_of = _cell(ast.unparse(above.annotation).strip("'"))
                yield f"| `{above.target.id}` | `{kind_of}` | {default} | {_cell(' '.join(str(said).split()))} |"


def _is_given(field: ast.AnnAssign) -> bool:
    """Whether it is one that is given, and not worked out."""
    return "init=False" not in (ast.unparse(field.value) if field.value else "")


def _default(value: ast.expr) -> str:
    text = ast.unparse(value)
    if not text.startswith("field("):
        return _cell(text)
    call = value if isinstance(value, ast.Call) else None
    given = {one.arg: ast.unparse(one.value) for one in call.keywords} if call else {}
    factory = given.get("default_factory", "").partition("[")[0]
    known = {"dict": "{}", "list": "[]", "": given.get("default", "")}
    return known.get(factory, "..." if factory.startswith("lambda") else f"{factory}()")


def _methods(name: str, kind: type) -> Iterator[str]:
    wanted = METHODS[name].split() if name in METHODS else None
    known = set[str]()
    for base in kind.__mro__:
        if not base.__module__.startswith("toolwright"):
            continue
        for node in _tree(base).body:
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) or node.name in known:
                continue
            if (node.name not in wanted if wanted else node.name[0] == "_") or _is_overload(node):
                continue
            known.add(node.name)
            yield from _signature(node)


def _is_overload(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return any(ast.unparse(one) == "overload" for one in node.decorator_list)


def _signature(node: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[str]:
    """A method as it is called, with the first sentence about it."""
    about = _first(ast.get_docstring(node))
    if about:
        yield f"# {about}"
    if any(ast.unparse(one) in ("property", "cached_property") for one in node.decorator_list):
        yield f"{node.name}: {_plain(node.returns)}\n"
        return
    for listed in (node.args.posonlyargs, node.args.args):
        listed[:] = [one for one in listed if one.arg not in ("self", "cls")]
    waits = "await " if isinstance(node, ast.AsyncFunctionDef) else ""
    result = f" -> {_plain(node.returns)}" if node.returns else ""
    line = f"{waits}{node.name}({ast.unparse(node.args)}){result}".replace("'", '"')
    yield f"{line if len(line) <= WIDEST else _broken(waits, node, result)}\n"


def _broken(waits: str, node: ast.FunctionDef | ast.AsyncFunctionDef, result: str) -> str:
    """The same with each parameter on a line of its own."""
    arguments, ends, last = node.args, list[str](), 0
    text, depth = ast.unparse(arguments), 0
    for position, letter in enumerate(text):
        depth += (letter in "([{") - (letter in ")]}")
        if letter == "," and depth == 0:
            ends.append(text[last:position].strip())
            last = position + 1
    ends.append(text[last:].strip())
    listed = "".join(f"    {one},\n" for one in ends)
    return f"{waits}{node.name}(\n{listed}){result}".replace("'", '"')


def _of_function(name: str, function: Any) -> Iterator[str]:
    if name == "open_workspace":
        yield "Opens a [Workspace](#workspace). The arguments are told in [python.md](python.md).\n"
        node = next(one for one in _tree(toolwright.Workspace).body if getattr(one, "name", "") == "__init__")
        node.name, node.returns, node.body = name, ast.Name("Workspace"), [ast.Pass()]
    else:
        node = _tree(function)
    yield "```py"
    yield from (line.rstrip("\n") for line in _signature(node))
    yield "```\n"


def _plain(returns: ast.expr | None) -> str:
    return "" if returns is None else ast.unparse(returns).strip("'")


def _shown(thing: Any) -> str:
    text = str(thing).replace("toolwright.", "").replace("session.turn_events.", "")
    return text if len(text) <= WIDEST else text.replace(" | ", "\n    | ")


def _first(text: str | None) -> str:
    """The first paragraph of a docstring."""
    return " ".join((text or "").strip().split("\n\n")[0].split())


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
    sys.stdout.write(f"{PAGE} is written\n")
