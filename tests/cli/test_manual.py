"""The manual page: every command with its options, in a form that man can show."""

import shutil
import subprocess

import pytest

from tests.cli.conftest import Tw
from toolwright.cli import COMMANDS


def test_the_manual_page_has_every_command_and_option(tw: Tw) -> None:
    page = tw("completion", "man").out
    assert all(f".B tw {command}\n" in page for command in COMMANDS)
    assert '.SS "tw session search"' in page
    assert "\\-\\-everywhere" in page
    assert not [line for line in page.splitlines() if line.startswith(("'", "..."))]


@pytest.mark.skipif(shutil.which("groff") is None, reason="groff is not installed")
def test_the_manual_page_is_laid_out_without_a_warning(tw: Tw) -> None:
    page = tw("completion", "man").out
    done = subprocess.run(["groff", "-K", "utf8", "-man", "-ww", "-z"], input=page, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
