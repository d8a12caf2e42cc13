"""A short run of the fuzzer with a fixed seed, and every script that once surprised."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.attacks.fuzz_shell import Range, fuzz, surprise
from tests.rounds import rounds
from toolwright.shell import analyse

COUNT = rounds(250, 700)
SEED = 20261115
LEAST_RUN = COUNT // 7

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
    "bash bash -c -e 'rm victim x'",
    "[[ -n <(rm victim) ]]",
    "echo ${x:-0<\\\n(rm victim)}",
    "compgen ${x[@]}-C 'rm victim'",
    "sh -c 'rm \"$1\"' $y a victim",
    'f() { rm "$2"; }; f ?i* a',
    "a=(1)#; unset 'a[$(touch pwn)]'",
    "a=(1)#b; rm victim",
    "sh -c \"bash &>:c 'rm vict<<-Eim'\"",
    'x=\'a[$(touch pwn)]\'; [ "${x%"${x#r}"}"-v "$x" ]',
    "nice rm>( )y=mtim",
    "r<( )m victim",
    "sh -c '[[ a > victim ]]'",
]


@pytest.mark.slow
def test_bash_does_nothing_that_was_not_said() -> None:
    score = fuzz(seed=SEED, count=COUNT)
    assert score.surprises == []
    assert score.understood > LEAST_RUN


@pytest.fixture
def field() -> Iterator[Range]:
    """Where a user with fewer rights can look in, unlike the folders that pytest makes."""
    with tempfile.TemporaryDirectory() as folder:
        yield Range(Path(folder))


def test_the_stand_ins_write_down_what_they_are_called_with(field: Range) -> None:
    calls, changed = field.run("rm victim; echo x | cat > new; rm 'a b' | env ls")
    assert sorted(calls) == [["cat"], ["env", "ls"], ["ls"], ["rm", "a b"], ["rm", "victim"]]
    assert changed == ["new"]


@pytest.mark.parametrize("script", FOUND)
def test_what_once_surprised_does_so_no_more(script: str, field: Range) -> None:
    analysis = analyse(script, cwd=str(field.work), home="/nowhere")
    assert analysis.verdict != "understood" or surprise(script, analysis, field) == ""
