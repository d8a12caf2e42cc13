"""The race: another process exchanges a folder of the project for a link that leads out of it, without end."""

import ctypes
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.rounds import rounds

ROUNDS = rounds(40)
"""How often each tool is tried; `make attack` asks for thousands."""

_EXCHANGER = """
import ctypes, os, sys
exchange = ctypes.CDLL(None, use_errno=True).renameat2
one, other = map(os.fsencode, sys.argv[1:])
parent = os.getppid()
print("ready", flush=True)
while os.getppid() == parent:
    for _ in range(1000):
        exchange(-100, one, -100, other, 2)
"""


def require_exchange() -> None:
    """Skip where the system cannot exchange two names in one step."""
    if not sys.platform.startswith("linux") or not hasattr(ctypes.CDLL(None), "renameat2"):
        pytest.skip("needs renameat2")


@contextmanager
def exchanging(folder: Path, link: Path) -> Iterator[None]:
    """While the block runs, the two names change places as fast as the machine can."""
    require_exchange()
    process = subprocess.Popen([sys.executable, "-c", _EXCHANGER, folder, link], stdout=subprocess.PIPE)
    try:
        assert process.stdout is not None
        process.stdout.readline()
        yield
    finally:
        process.kill()
        process.communicate()


def contents(folder: Path) -> dict[str, bytes | str]:
    """Everything below a folder: contents of files, targets of links."""
    found: dict[str, bytes | str] = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if path.is_symlink():
            found[name] = str(path.readlink())
        elif path.is_file():
            found[name] = path.read_bytes()
        else:
            found[name] = "folder"
    return found
