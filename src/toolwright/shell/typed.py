"""What is typed into a program that is running, as a command line to be judged."""

import re
import shlex

from toolwright.record import record

_SHELL = re.compile(r"(?:\S*/)?(?:bash|sh|dash|zsh|ksh)(?:\s+-[il]+|\s+--login|\s+--norc|\s+--noprofile)*")
_SIMPLE = re.compile(r"[^;&|<>(){}\n]+")


@record(frozen=True, slots=True, kw_only=True)
class Typed:
    """A line for `analyse`, and what the same shell has been told before it."""

    command: str
    before: str = ""


def typed(program: str, earlier: str, text: str) -> Typed:
    """The line that stands once `text` is added to what was typed `earlier` into a job that runs `program`.

    Pieces of a line are one line, however they arrive. A shell goes on from where it is by then; any other program is
    judged as if it had been started with that line as its input.
    """
    whole = earlier + text
    start = earlier.rfind("\n") + 1
    if _SHELL.fullmatch(program.strip()):
        return Typed(command=whole[start:], before=earlier[:start])
    quoted = shlex.quote(whole[start:].rstrip("\n"))
    if _SIMPLE.fullmatch(program):
        return Typed(command=f"{program} <<< {quoted}")
    return Typed(command=f"{{ {program}\n}} <<< {quoted}")
