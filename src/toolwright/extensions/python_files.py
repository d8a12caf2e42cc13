"""Files with Python tools and plugins: loaded from their sources, told apart from all else in them, and run.

A part of the program that runs them (python_host.py), so only the standard library is needed.
"""

import asyncio
import hashlib
import importlib.abc
import importlib.machinery
import importlib.util
import inspect
import json
import os
import sys
import traceback
import types
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

Json = dict[str, Any]


class PluginFailure(Exception):
    """An answer that is an error."""

    def __init__(self, message: str, **data: Any) -> None:
        super().__init__(message)
        self.data = data


class ProjectCode:
    """The project around the files, and which of its code may run: what was looked at when it was trusted."""

    def __init__(self, root: str, known: Iterable[str] | None, exempt: Iterable[str] = ()) -> None:
        """`known` are hashes of content; None lets all of it run. `exempt` are folders in it that are not its own."""
        self.root = os.path.realpath(root)
        self._known = None if known is None else frozenset(known)
        own = (sys.prefix, sys.base_prefix, sys.exec_prefix, str(Path(__file__).parents[1]))
        exempt = (os.path.realpath(folder) for folder in (*exempt, *own))
        # An installation around the project makes nothing in it exempt.
        self._exempt = tuple(folder for folder in exempt if _is_below(folder, self.root))
        self.refused: Callable[[str], None] = _nobody

    def holds(self, path: str) -> bool:
        """Tell whether a file is the project's own code."""
        real = os.path.realpath(path)
        return _is_below(real, self.root) and not any(_is_below(real, folder) for folder in self._exempt)

    def check(self, path: str, data: bytes) -> None:
        """Raise ImportError for code of the project that is not as it was when that was trusted."""
        if self._known is None or not self.holds(path) or hashlib.sha256(data).hexdigest() in self._known:
            return
        self.refuse(path)

    def refuse(self, path: str) -> NoReturn:
        self.refused(path)
        name = os.path.relpath(os.path.realpath(path), self.root)
        raise ImportError(f"{name} has changed since you trusted the project, or was no part of it; see tw trust")


def _nobody(_path: str) -> None:
    """For a project of which nobody wants to know what it refused."""


def _is_below(path: str, folder: str) -> bool:
    return f"{path}{os.sep}".startswith(f"{folder.rstrip(os.sep)}{os.sep}")


class KnownFinder(importlib.abc.MetaPathFinder):
    """Has the others find a module, and lets code of the project through as it was trusted."""

    def __init__(self, project: ProjectCode) -> None:
        self._project = project

    def find_spec(
        self, fullname: str, path: Any = None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        others = (finder for finder in sys.meta_path if finder is not self)
        specs = (finder.find_spec(fullname, path, target) for finder in others if hasattr(finder, "find_spec"))
        spec = next((one for one in specs if one is not None), None)
        if spec is None or not spec.origin or not self._project.holds(spec.origin):
            return spec
        if isinstance(spec.loader, importlib.machinery.SourceFileLoader):
            spec.loader = KnownLoader(fullname, spec.origin, self._project)
        elif isinstance(spec.loader, importlib.machinery.ExtensionFileLoader):
            self._project.check(spec.origin, Path(spec.origin).read_bytes())
        else:
            self._project.refuse(spec.origin)
        return spec


@contextmanager
def only_known(project: ProjectCode) -> Iterator[None]:
    """Import within this only what is known of a project."""
    finder = KnownFinder(project)
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)


def import_file(path: str, project: ProjectCode) -> types.ModuleType:
    """Import a file and return its module; a PluginFailure names the line that broke."""
    name = f"_toolwright_file_{abs(hash(path))}"
    for folder in (str(Path(path).parent), str(Path(path).parent.parent)):
        if folder not in sys.path:
            sys.path.insert(0, folder)
            _read_source_in(folder)
    spec = importlib.util.spec_from_file_location(name, path, loader=KnownLoader(name, path, project))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException as error:
        del sys.modules[name]
        raise PluginFailure(f"{path}:{_line_of(error, path)}: {_last_line(error)}") from error
    return module


class SourceLoader(importlib.machinery.SourceFileLoader):
    """Loads what a file says. Bytecode beside it need not be that, and would change the project if we left it there."""

    def get_code(self, fullname: str) -> types.CodeType:  # noqa: ARG002 - as the protocol of importlib has it
        return self.source_to_code(self.get_data(self.path), self.path)


class KnownLoader(SourceLoader):
    """Loads what a file says, as it is when it is looked at whether that may run."""

    def __init__(self, fullname: str, path: str, project: ProjectCode) -> None:
        super().__init__(fullname, path)
        self._project = project

    def get_code(self, fullname: str) -> types.CodeType:  # noqa: ARG002 - as the protocol of importlib has it
        data = self.get_data(self.path)
        self._project.check(self.path, data)
        return self.source_to_code(data, self.path)


def _read_source_in(folder: str) -> None:
    """Import what is in a folder and below it from sources alone."""
    find = importlib.machinery.FileFinder.path_hook(
        (importlib.machinery.ExtensionFileLoader, importlib.machinery.EXTENSION_SUFFIXES),
        (SourceLoader, importlib.machinery.SOURCE_SUFFIXES),
    )

    def hook(path: str) -> Any:
        if path != folder and not path.startswith(f"{folder}/"):
            raise ImportError
        return find(path)

    sys.path_hooks.insert(0, hook)
    sys.path_importer_cache.pop(folder, None)


def entry_point(name: str) -> Any:
    from importlib.metadata import entry_points

    for entry in entry_points(group="toolwright.plugins"):
        if entry.name == name:
            return entry.load()
    raise PluginFailure(f"No installed package brings a plugin {name!r}.")


def _line_of(error: BaseException, path: str) -> int:
    if isinstance(error, SyntaxError) and error.filename == path:
        return error.lineno or 1
    frames = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == path]
    return (frames[-1] if frames else 1) or 1


def _last_line(error: BaseException) -> str:
    return "".join(traceback.format_exception_only(error)).strip().splitlines()[-1]


def own_modules(path: str, project: ProjectCode) -> list[str]:
    """Return the files beside a tool, and in the project, that are loaded by now: a change there is one of it."""
    folder = str(Path(path).parent.parent)
    loaded = (getattr(module, "__file__", None) for module in list(sys.modules.values()))
    files = {file for file in loaded if file and (_is_below(file, folder) or project.holds(file))}
    return sorted({file for file in files if "site-packages" not in file} | {path})


def is_tool(value: Any) -> bool:
    if isinstance(value, type):
        return False
    get = _getter(value)
    if all(get(name) is not None for name in ("description", "args", "execute")):
        return callable(get("execute"))
    return type(value).__name__ == "Tool" and type(value).__module__ == "toolwright.definition"


def belongs(value: Any, module: types.ModuleType) -> bool:
    """Tell whether a tool was made in this file, not imported into it."""
    function = getattr(value, "function", None)
    return function is None or function.__module__ == module.__name__


def _getter(value: Any) -> Callable[[str], Any]:
    return value.get if isinstance(value, dict) else lambda name: getattr(value, name, None)


def described(name: str, value: Any) -> Json:
    get = _getter(value)
    if get("execute") is None:
        return {
            "name": name,
            "description": value.description,
            "parameters": value.parameters,
            "asks": bool(value.asks),
            "act": value.act,
            "reaches": value.reaches,
            "about": value.about,
            "untrusted": value.untrusted,
            "permission": "" if value.permission == value.id else value.permission,
        }
    properties = {key: dict(schema) for key, schema in get("args").items()}
    required = [key for key, schema in properties.items() if "default" not in schema]
    parameters = {"type": "object", "properties": properties, "required": required}
    return {
        "name": name,
        "description": str(get("description")),
        "parameters": parameters,
        "asks": "ask" in _names_in(get("execute")),
        "act": get("act"),
    }


def _names_in(function: Any) -> set[str]:
    """The names that a function's code uses, those of the functions inside of it too."""

    def names(code: types.CodeType) -> Iterator[str]:
        yield from code.co_names
        for constant in code.co_consts:
            if isinstance(constant, types.CodeType):
                yield from names(constant)

    code = getattr(inspect.unwrap(getattr(function, "__func__", function)), "__code__", None)
    return set(names(code)) if code is not None else set()


async def run(tool: Any, arguments: Json, context: Any) -> Any:
    execute = _getter(tool)("execute")
    if execute is None:
        return await tool.run(context, tool.parse(arguments))
    if inspect.iscoroutinefunction(execute):
        return await execute(arguments, context)
    answer = await threads.run(execute, arguments, context)
    return await answer if inspect.isawaitable(answer) else answer


def result_of(answer: Any) -> Json:
    if isinstance(answer, str):
        return {"output": answer}
    get = _getter(answer)
    if isinstance(output := get("output") if isinstance(answer, dict) or hasattr(answer, "output") else None, str):
        if (error := get("error")) is not None and not isinstance(answer, dict):
            raise error
        files = [
            one if isinstance(one, dict) else {"mime": one.mime, "url": one.url, "filename": one.filename}
            for one in get("attachments") or ()
        ]
        result = {
            "output": output,
            "title": get("title") or "",
            "metadata": get("metadata") or {},
            "attachments": files,
        }
        return result | ({"truncated": get("truncated")} if get("truncated") is not None else {})
    try:
        return {"output": json.dumps(answer, ensure_ascii=False)}
    except (TypeError, ValueError) as problem:
        raise PluginFailure(
            f"It returned {type(answer).__name__}, which is no text, record or JSON: {problem}."
        ) from problem


class Threads:
    """Runs plain functions beside the loop, and knows how many still do."""

    def __init__(self) -> None:
        self.running = 0

    async def run(self, function: Callable[..., Any], *arguments: Any) -> Any:
        return await asyncio.to_thread(self._counted, function, *arguments)

    def _counted(self, function: Callable[..., Any], *arguments: Any) -> Any:
        self.running += 1
        try:
            return function(*arguments)
        finally:
            self.running -= 1


threads = Threads()
