"""A second opinion on lines that are not understood: is it the form, or is it no shell at all?

It never turns the question away, for what was not examined may do anything. It makes the question a better one.
"""

import asyncio
import shutil
import sys
from dataclasses import replace
from pathlib import Path

from toolwright.shell.analysis import Analysis

TIMEOUT = 2.0


async def explained(analysis: Analysis) -> Analysis:
    """The analysis with what shfmt says of a line that could not be parsed; unchanged for all others."""
    if analysis.verdict != "no":
        return analysis
    opinion = await second_opinion(analysis.command)
    return replace(analysis, reasons=(*analysis.reasons, opinion)) if opinion else analysis


async def second_opinion(command: str) -> str:
    """One sentence about whether the line is valid shell; nothing where shfmt is not installed or does not answer."""
    program = shutil.which("shfmt", path=str(Path(sys.executable).parent)) or shutil.which("shfmt")
    if program is None or "\0" in command:
        return ""
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        program, "--language-dialect", "bash", stdin=pipe, stdout=asyncio.subprocess.DEVNULL, stderr=pipe
    )
    try:
        async with asyncio.timeout(TIMEOUT):
            _, errors = await process.communicate(command.encode("utf-8", "replace"))
    except TimeoutError:
        return ""
    finally:
        if process.returncode is None:
            process.kill()
            await asyncio.shield(process.wait())
    if process.returncode == 0:
        return "It is valid shell, of a form that is not examined."
    first, *_ = errors.decode("utf-8", "replace").splitlines() or [""]
    return f"It is no valid shell: {first.removeprefix('<standard input>:')}." if first else ""
