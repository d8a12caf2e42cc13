"""Large pages, converted by a process of its own with limits of its own.

A page may be made so that its conversion takes minutes, and whatever converts it can do nothing else meanwhile.
"""

import json
import sys
from typing import Any

from toolwright.errors import ToolError
from toolwright.files.query import SearchRun
from toolwright.process.running.child import Child
from toolwright.web.convert import Fits, Form, convert

LARGE = 256 * 1024
"""Characters up to which a page is converted here: even one made for it then takes less than two tenths of a second."""
SECONDS = 10
"""Processor time that a page may take."""
LONGEST = 30.0
"""Seconds that it may take on a busy machine."""
_MEMORY = 2 * 1024**3
_CHILD = """
import json, sys
sys.path[:] = json.loads(sys.argv[1])
from toolwright.web.apart import convert_for_parent
convert_for_parent()
"""


def converted(html: str, form: Form, base: str, fits: Fits = lambda _: True, run: SearchRun | None = None) -> str:
    """The page as text, as `convert` makes it, or a ToolError if it takes too long. It ends with the run."""
    if len(html) <= LARGE:
        return convert(html, form, base, fits)
    argv = [sys.executable, "-I", "-c", _CHILD, json.dumps(sys.path)]
    # The address is not among the arguments, which everybody on the machine can see.
    sent = json.dumps([form, base, SECONDS]).encode() + b"\n" + html.encode("utf-8", "surrogatepass")
    try:
        child = Child(argv, takes_input=True)
        with (run or SearchRun()).killing(child.kill):
            reply: Any = json.loads(child.finish(sent, LONGEST).out)
    except (OSError, TimeoutError, ValueError) as error:
        problem = f"Turning {base} into {form} takes more time or memory than any real page does. Use format html."
        raise ToolError(problem, "too_large") from error
    if problem := reply.get("problem"):
        raise ToolError(problem, reply["kind"])
    whole, main_first = str(reply["whole"]), str(reply["main_first"])
    return whole if fits(whole) else main_first


def _convert_both(html: str, form: Form, base: str) -> dict[str, Any]:
    wholes = list[str]()

    def fits(text: str) -> bool:
        wholes.append(text)
        return False

    try:
        main_first = convert(html, form, base, fits)
    except ToolError as error:
        return {"problem": str(error), "kind": error.kind}
    return {"whole": wholes[0], "main_first": main_first}


def convert_for_parent() -> None:
    """Convert what comes from standard input, within limits: a line that says how, and the page."""
    import resource

    how, _, page = sys.stdin.buffer.read().partition(b"\n")
    form, base, seconds = json.loads(how)
    limits = ((resource.RLIMIT_AS, _MEMORY), (resource.RLIMIT_CPU, seconds), (resource.RLIMIT_CORE, 0))
    for kind, most in limits:
        there = resource.getrlimit(kind)[1]
        limit = most if there == resource.RLIM_INFINITY else min(most, there)
        resource.setrlimit(kind, (limit, limit))
    sys.stdout.write(json.dumps(_convert_both(page.decode("utf-8", "surrogatepass"), form, base)))
