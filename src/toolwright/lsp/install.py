"""Installing a language server into our own folder, when the user asks for it and never otherwise."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from toolwright.errors import UsageError
from toolwright.lsp.servers import LanguageServer, known_servers
from toolwright.machine.private_files import make_folder
from toolwright.process.programs.lookup import Lookup
from toolwright.process.programs.nodejs import EXTRA, npm_command
from toolwright.process.running.child import run_child_sync

SECONDS = 600.0
"""Seconds that each of its steps may take."""


def install(name: str, folder: Path, lookup: Lookup, environment: Mapping[str, str]) -> str:
    """Install a server; what was done, in a sentence. UsageError says what stands in the way."""
    server = next((one for one in known_servers() if one.id == name), None)
    if server is None:
        installable = ", ".join(one.id for one in known_servers() if one.npm or one.pypi)
        raise UsageError(f"There is no language server {name!r} to install. There are: {installable}.")
    make_folder(folder)
    for command in _commands(server, folder, lookup):
        try:
            ran = run_child_sync(command, env=lookup.around(environment), seconds=SECONDS)
        except (OSError, TimeoutError) as error:
            raise UsageError(f"{name} could not be installed: {command[0]}: {error}.") from error
        if ran.code:
            problem = (ran.err or ran.out).decode("utf-8", "replace").strip()[-500:]
            raise UsageError(f"{name} could not be installed: {problem or f'exit code {ran.code}'}")
    return f"{name} is installed in {folder}."


def _commands(server: LanguageServer, folder: Path, lookup: Lookup) -> list[list[str]]:
    if server.pypi:
        return _python(folder / "python", server.pypi, lookup)
    if not server.npm:
        raise UsageError(
            f"{server.id} comes from neither PyPI nor npm. Install it by its own instructions, on the PATH."
        )
    npm = npm_command(lookup)
    if not npm:
        fault = lookup.why_not("npm")
        raise UsageError(
            f"{server.id} comes from npm. {fault or 'That is not here'}. Install Node.js first, or {EXTRA} by pip."
        )
    # Scripts of packages are not run: no server in the list needs them.
    return [[*npm, "install", "--prefix", str(folder), "--no-audit", "--no-fund", "--ignore-scripts", *server.npm]]


def _python(place: Path, package: str, lookup: Lookup) -> list[list[str]]:
    """Into a virtual environment of its own, by uv if it is there and else by pip."""
    python = place / "bin" / "python"
    uv = lookup.find("uv")
    if uv is not None:
        make = [] if python.exists() else [[uv, "venv", "--quiet", "--python", sys.executable, str(place)]]
        return [*make, [uv, "pip", "install", "--quiet", "--upgrade", "--python", str(python), package]]
    make = [] if os.access(python, os.X_OK) else [[sys.executable, "-P", "-m", "venv", str(place)]]
    return [*make, [str(python), "-P", "-m", "pip", "install", "--quiet", "--upgrade", package]]
