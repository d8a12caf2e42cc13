"""A short run of the fuzzer with a fixed seed, and every script that once surprised."""

from pathlib import Path

import pytest

from tests.attacks.fuzz_shell import Range, fuzz, surprise
from toolwright.shell import analyse

COUNT = 700
SEED = 20261115
LEAST_RUN = 100

FOUND = [
    "compgen -C 'rm victim'",
    "env -S 'rm vthen c&&m'",
    "echo victim x a | xargs -n 1 sudo rm",
    "mapfile -C 'rm victim' -c 1 a <<< x",
    "foo >&'$(touch pwn)'",
    "foo >&'rm \"$1\"'",
    "env -S 'rm victim'{a,b}",
    "env -S '-u X rm' victim",
    ">&-rm victim",
    "cat <<$\n$(rm victim)\n$",
    "x=rm; local x=ls; $x victim",
    "printf %s r 'm victim' | sh",
    "set -e; ! x=ls; $x victim",
]


@pytest.mark.slow
def test_bash_does_nothing_that_was_not_said() -> None:
    score = fuzz(seed=SEED, count=COUNT)
    assert score.surprises == []
    assert score.understood > LEAST_RUN


@pytest.mark.parametrize("script", FOUND)
def test_what_once_surprised_does_so_no_more(script: str, tmp_path: Path) -> None:
    tmp_path.parent.chmod(0o755)
    field = Range(tmp_path)
    analysis = analyse(script, cwd=str(field.work), home="/nowhere")
    assert analysis.verdict != "understood" or surprise(script, analysis, field) == ""
