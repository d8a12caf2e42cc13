"""A table of commands with all that an analysis says of each: which files it touches how, and what else it may run.

`effects.txt` has a line per command, and below it, indented, the verdict, every kind of touch with its paths, what it
reaches or may reach on the network, after `also` the texts that rules for commands are applied to besides the line
itself, and after `always` what a lasting approval would store. A line end in a command is `␤`.
"""

from pathlib import Path

import pytest

from toolwright.shell import analyse
from toolwright.shell.analysis.reach import reach_of

TABLE = Path(__file__).with_name("effects.txt")


def effects_of(line: str) -> str:
    """Return everything that the analysis of a command says, in one line."""
    command = line.replace("␤", "\n")
    analysis = analyse(command, cwd="/p", home="/h")
    touches = [f"{kind} {' '.join(paths)}" for kind, paths in analysis.touched.items() if paths]
    texts = (text for one in analysis.commands for text in (*one.implied, *one.suspected) if text != command)
    reach = reach_of(analysis)
    always = (pattern for one in analysis.commands for pattern in one.always)
    lists = {"reaches": reach.known, "may reach": reach.possible, "also": texts, "always": always}
    named = {name: " | ".join(dict.fromkeys(values)) for name, values in lists.items()}
    parts = [analysis.verdict, *touches, *(f"{name} {values}" for name, values in named.items() if values)]
    return "; ".join(parts).replace("\n", "␤")


def cases() -> list[tuple[str, str]]:
    lines = [line for line in TABLE.read_text().splitlines() if line and not line.startswith("# ")]
    return [(line, effects.strip()) for line, effects in zip(lines[::2], lines[1::2], strict=True)]


@pytest.mark.parametrize(("line", "effects"), cases())
def test_every_file_that_a_command_touches_is_named_and_how(line: str, effects: str) -> None:
    assert effects_of(line) == effects
