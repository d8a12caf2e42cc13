"""Each way to run something, in each place where a word may stand: bash runs nothing that the analysis has not said."""

import itertools
import tempfile
from pathlib import Path

import pytest

from tests.attacks.fuzz_shell import Range, surprise
from tests.attacks.shell.contexts import CONTEXTS, PAYLOADS
from tests.rounds import rounds
from toolwright.shell import analyse

pytestmark = pytest.mark.slow


def test_bash_runs_nothing_of_them_that_was_not_said() -> None:
    with tempfile.TemporaryDirectory() as folder:
        field = Range(Path(folder))
        found = list[str]()
        for context, payload in list(itertools.product(CONTEXTS, PAYLOADS))[:: rounds(5, 1)]:
            script = context.replace("@", payload)
            analysis = analyse(script, cwd=str(field.work), home="/nowhere")
            said = any(text == "rm victim" for one in analysis.commands for text in (one.shown, *one.implied))
            if analysis.verdict == "understood" and not said and (problem := surprise(script, analysis, field)):
                found.append(problem)
    assert found == []
