"""Each way to run something, in each place where a word may stand: bash runs nothing that the analysis has not said."""

import itertools
import tempfile
from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.attacks.fuzz_shell import Range, surprise
from tests.attacks.shell.contexts import CONTEXTS, PAYLOADS
from tests.rounds import rounds
from toolwright.shell import analyse

pytestmark = pytest.mark.slow


def test_bash_runs_nothing_of_them_that_was_not_said() -> None:
    scripts = [context.replace("@", payload) for context, payload in itertools.product(CONTEXTS, PAYLOADS)]
    assert surprises(scripts[:: rounds(5, 1)]) == []


def test_nor_does_a_line_that_is_continued_anywhere() -> None:
    scripts = [context.replace("@", "$(rm victim)") for context in CONTEXTS]
    continued = [f"{one[:at]}\\\n{one[at:]}" for one in scripts for at in range(1, len(one))]
    assert surprises(continued[:: rounds(7, 1)]) == []


def surprises(scripts: Iterable[str]) -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        field = Range(Path(folder))
        return list(filter(None, (_surprise(script, field) for script in scripts)))


def _surprise(script: str, field: Range) -> str:
    analysis = analyse(script, cwd=str(field.work), home="/nowhere")
    said = any(text == "rm victim" for one in analysis.commands for text in (one.shown, *one.implied))
    return "" if said or analysis.verdict != "understood" else surprise(script, analysis, field)
