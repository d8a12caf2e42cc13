"""Lines that cannot be parsed get a better reason, and are asked about all the same."""

import asyncio
import shutil
import sys
from pathlib import Path

import pytest

from toolwright.shell import analyse
from toolwright.shell.analysis.shfmt import explained, second_opinion

SHFMT = shutil.which("shfmt", path=str(Path(sys.executable).parent)) or shutil.which("shfmt") or ""
pytestmark = pytest.mark.skipif(not SHFMT, reason="shfmt is not installed")


async def test_a_valid_line_of_a_form_that_is_not_examined_is_called_so() -> None:
    analysis = await explained(analyse("rm !(keep)", cwd="/p", home="/h"), SHFMT)
    assert analysis.verdict == "no"
    assert analysis.reasons[-1] == "It is valid shell, of a form that is not examined."


async def test_a_broken_line_is_called_broken_with_the_place() -> None:
    assert (await second_opinion("echo 'a", SHFMT)).startswith("It is no valid shell: 1:6")


async def test_a_cancelled_question_leaves_no_process() -> None:
    task = asyncio.create_task(second_opinion("echo " + "x" * 50_000, SHFMT))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
