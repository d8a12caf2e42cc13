"""The pieces of shell in tree-sitter-bash's corpus, where its source is there (make real)."""

import re
import subprocess
from pathlib import Path

import pytest

from toolwright.shell import analyse

FOLDER = Path(".venv/judges/suites/tree-sitter-bash/test/corpus").absolute()
PIECES = 90
MOST = 3
"""Pieces that bash accepts and that are not understood."""
_RULE = r"^={3,}$\n"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not FOLDER.is_dir(), reason="needs the source of tree-sitter-bash: make real, where GitHub can be reached"
    ),
]


def pieces() -> list[str]:
    found: list[str] = []
    for file in sorted(FOLDER.glob("*.txt")):
        parts = re.split(_RULE, file.read_text("utf-8"), flags=re.MULTILINE)
        found += [re.split(r"^-{3,}$", part, maxsplit=1, flags=re.MULTILINE)[0].strip("\n") for part in parts[2::2]]
    return found


def is_accepted(piece: str) -> bool:
    """Whether bash takes it, at once and when it comes to it: an expansion of zsh is found bad only then."""
    if subprocess.run(["bash", "-O", "extglob", "-n"], input=piece, text=True, capture_output=True).returncode:
        return False
    expansions = re.findall(r"\$\{[^}\n]*\}", piece)
    tried = [subprocess.run(["bash", "-c", f": {one}"], text=True, capture_output=True).stderr for one in expansions]
    return not any("bad substitution" in said for said in tried)


def test_what_bash_accepts_is_understood() -> None:
    every = pieces()
    assert len(every) >= PIECES
    unknown = [piece for piece in every if analyse(piece, cwd="/project", home="/home/someone").verdict == "no"]
    assert len([piece for piece in unknown if is_accepted(piece)]) <= MOST
