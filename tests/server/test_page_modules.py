"""The modules of the page as programs see them: formatted, and right by their types."""

import re
import subprocess
from pathlib import Path

import pytest

from toolwright import server

ROOT = Path(__file__).parents[2]
PAGE = Path(server.__file__).parent / "page"
OTHERS = frozenset({"marked.js", "preact.js", "prism.js"})
"""Libraries, as their authors publish them."""
OURS = sorted(file.name for file in PAGE.glob("*.js") if file.name not in OTHERS)
CHECKED = (
    *("--noEmit", "--allowJs", "--checkJs", "--skipLibCheck", "--target", "es2023", "--lib", "es2023,dom,dom.iterable"),
    *("--module", "esnext", "--moduleResolution", "bundler"),
)


def program(name: str) -> str:
    """One of npm, which `make real` installs."""
    found = ROOT / "node_modules" / ".bin" / name
    if not found.exists():
        pytest.skip(f"{name} is not here; make real-servers installs it")
    return str(found)


def ran(*words: str) -> str:
    return subprocess.run(words, cwd=PAGE, capture_output=True, text=True, check=False).stdout


@pytest.mark.slow
def test_the_modules_are_right_by_their_types() -> None:
    told = ran(program("tsc"), *CHECKED, *OURS).splitlines()
    assert [line for line in told if re.match(r"[a-z]+\.js\(", line) and line.partition("(")[0] in OURS] == []


@pytest.mark.slow
def test_the_modules_are_formatted() -> None:
    command = (program("prettier"), "--config", str(ROOT / ".prettierrc.json"), "--list-different", *OURS)
    assert ran(*command).split() == []
