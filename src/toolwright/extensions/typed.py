"""Plugins that are an Extension themselves: Python files and installed packages, loaded into this process."""

import ast
import importlib.util
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import field, replace
from functools import partial
from pathlib import Path
from typing import Any

from toolwright.config.load import Config
from toolwright.errors import ConfigError
from toolwright.extension import Extension
from toolwright.extensions.plugins import plugin_sources
from toolwright.extensions.python_files import KnownLoader, ProjectCode, only_known
from toolwright.record import record

GROUP = "toolwright.plugins"
"""The entry points by which a package brings an extension."""
NAME = "extension"
"""Name in a file of its extension, or of the function that makes it."""


@record(frozen=True, slots=True, kw_only=True)
class PluginHost:
    """The argument of a function that makes an extension."""

    directory: Path
    worktree: Path
    options: dict[str, Any] = field(default_factory=dict[str, Any])


def typed_extensions(config: Config, folders: Sequence[Path]) -> Iterator[Extension]:
    """The extensions of files that hold one, and of installed packages that the settings name."""
    sources, missing = plugin_sources(config, folders)
    for source in sources:
        if is_typed(source.path):
            host = PluginHost(directory=config.directory, worktree=config.root, options=source.options)
            yield _make_extension(source.name, partial(_loaded, source.path, _project(config)), host)
    for name, _ in missing:
        if (entry := entry_point(name)) is not None:
            yield _make_extension(name, entry.load, PluginHost(directory=config.directory, worktree=config.root))


def is_typed(path: Path) -> bool:
    """Tell whether a file holds an `extension`, going by its text alone."""
    if path.suffix != ".py":
        return False
    try:
        tree = ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return False
    return any(NAME in _names(statement) for statement in tree.body)


def entry_point(name: str) -> Any:
    """The entry point of an installed package, by its name."""
    from importlib.metadata import entry_points

    return next(iter(entry_points(group=GROUP, name=name)), None)


def _names(statement: ast.stmt) -> list[str]:
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
        return [statement.name]
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    targets = [statement.target] if isinstance(statement, ast.AnnAssign) else targets
    return [one.id for one in targets if isinstance(one, ast.Name)]


def _project(config: Config) -> ProjectCode:
    """Return what of the project's code such files may import."""
    exempt = [str(folder.path) for folder in config.folders if folder.level != "project"]
    known = config.known if config.trusted else {}
    return ProjectCode(str(config.root), None if known is None else known.values(), exempt)


def _loaded(path: Path, project: ProjectCode) -> Any:
    name = f"_toolwright_plugin_{abs(hash(path))}"
    spec = importlib.util.spec_from_file_location(name, path, loader=KnownLoader(name, str(path), project))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    with only_known(project):
        spec.loader.exec_module(module)
    return getattr(module, NAME)


def _make_extension(name: str, load: Callable[[], Any], host: PluginHost) -> Extension:
    """The extension, or one in its place that says at the start what is wrong."""
    try:
        value = load()
        extension = value if isinstance(value, Extension) else value(host)
        if not isinstance(extension, Extension):
            raise TypeError(f"expected an Extension, got {type(extension).__name__}")
    except Exception as error:  # noqa: BLE001 - whatever it is, it is told, and the others go on
        return Extension(name=name, origin=name, start=_failing(error))
    # Only a program says of itself that its tools take the place of ours.
    return replace(extension, origin=name, replaces=False)


def _failing(error: Exception) -> Callable[[Any], AbstractAsyncContextManager[None]]:
    frames = traceback.extract_tb(error.__traceback__)
    where = f"line {frames[-1].lineno}: " if len(frames) > 1 else ""

    def start(_: Any) -> AbstractAsyncContextManager[None]:
        raise ConfigError(f"{where}{type(error).__name__}: {error}") from error

    return start
