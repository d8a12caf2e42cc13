"""A second opinion on lines that are not understood: is it the form, or is it no shell at all?

It never turns the question away, for what was not examined may do anything. It makes the question a better one.
"""

from dataclasses import replace

from toolwright.process.running.child import run_child
from toolwright.shell.analysis.analysis import Analysis

TIMEOUT = 2.0


async def explained(analysis: Analysis, shfmt: str) -> Analysis:
    """The analysis of a line that could not be parsed, with what the shfmt at this path says of it."""
    opinion = await second_opinion(analysis.command, shfmt)
    return replace(analysis, reasons=(*analysis.reasons, opinion)) if opinion else analysis


async def second_opinion(command: str, program: str) -> str:
    """One sentence about whether the line is valid shell; nothing where the shfmt at this path does not answer."""
    if "\0" in command:
        return ""
    line = command.encode("utf-8", "replace")
    try:
        ran = await run_child([program, "--language-dialect", "bash"], data=line, seconds=TIMEOUT)
    except (OSError, TimeoutError):
        return ""
    if ran.code == 0:
        return "It is valid shell, of a form that is not examined."
    first, *_ = ran.err.decode("utf-8", "replace").splitlines() or [""]
    return f"It is no valid shell: {first.removeprefix('<standard input>:')}." if first else ""
