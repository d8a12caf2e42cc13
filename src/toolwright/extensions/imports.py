"""Code of a project that its tools and plugins import: known before it runs, and looked at with the trust."""

import hashlib
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from toolwright.config.load import Config
from toolwright.deadline import time_limit
from toolwright.errors import ToolError
from toolwright.machine.folders import Folders

if TYPE_CHECKING:
    from toolwright.extensions.hosts import Hosts

JAVASCRIPT = (".js", ".ts", ".mjs", ".mts")
PATIENCE = 30.0
"""Seconds for a file to be imported."""
MOST = 1000
"""Files that one file may be made from."""
LARGEST = 4 * 1024 * 1024
_IMPORT = re.compile(r"""(?:from|import|require)\s*\(?\s*["'](\.{1,2}/[^"'\n]+)["']""")
_ENDINGS = ("", ".ts", ".mts", ".js", ".mjs", ".cjs", ".json", "/index.ts", "/index.js", "/index.mjs")


async def imported_code(config: Config, folders: Folders, hosts: "Hosts") -> tuple[list[str], list[str]]:
    """Return what of a project its tools and plugins import, by path from its root, and what could not be found out.

    Files in Python are imported for it. Those whose packages are not installed yet are left until they are.
    """
    imported, problems = set[str](), list[str]()
    for file in _code_of(config):
        try:
            if _is_ready(file, folders):
                async with time_limit(PATIENCE):
                    imported |= {os.path.relpath(one, config.root) for one in await hosts.imports(file)}
        except (ToolError, TimeoutError, OSError) as error:
            problems.append(f"{file.name}: {str(error) or f'it took longer than {PATIENCE:g} seconds'}")
    return sorted(name for name in imported if not name.startswith("..")), problems


def _code_of(config: Config) -> list[Path]:
    """Return the files of a project that are tools or plugins."""
    from toolwright.extensions.plugins import ENDINGS, plugin_sources

    folders = [folder.path for folder in config.folders if folder.level == "project"]
    kinds = [folder / kind for folder in folders for kind in ("tool", "tools")]
    tools = [file for kind in kinds if kind.is_dir() for file in sorted(kind.iterdir()) if file.suffix in ENDINGS]
    plugins = [source.path for source in plugin_sources(config, folders)[0]]
    return [file for file in (*tools, *plugins) if file.is_relative_to(config.root) and file.suffix in ENDINGS]


def _is_ready(file: Path, folders: Folders) -> bool:
    """Tell whether nothing has to be installed to import a file."""
    from toolwright.extensions.environments import needs_of

    if file.suffix != ".py":
        return True
    key = needs_of(file, file.read_text("utf-8", "replace")).key
    return not key or (folders.data / "environments" / key / "complete").exists()


def javascript_imports(file: Path) -> list[Path]:
    """Return the files that a file in JavaScript imports by their paths, and so on, going by their text."""
    imported, waiting = dict[Path, None](), [file]
    while waiting and len(imported) < MOST:
        for path in _imported(waiting.pop()):
            if path not in imported and path != file:
                imported[path] = None
                waiting.append(path)
    return list(imported)


def _imported(file: Path) -> Iterator[Path]:
    try:
        text = file.read_bytes()[:LARGEST].decode("utf-8", "replace")
    except OSError:
        return
    for match in _IMPORT.finditer(text):
        base = str(file.parent / match[1])
        names = [base + ending for ending in _ENDINGS]
        names += [f"{base[:-2]}ts"] if base.endswith("js") else []
        if (there := next((name for name in names if Path(name).is_file()), None)) is not None:
            yield Path(there).resolve()


def hash_of(file: Path) -> str:
    """Return the hash by which content is trusted; empty for what cannot be read."""
    try:
        return hashlib.sha256(file.read_bytes()).hexdigest()
    except OSError:
        return ""
