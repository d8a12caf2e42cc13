"""Reports on a command, in words: its output and, where it matters, a bracketed line on how it went."""

import signal
from collections.abc import Iterable, Sequence
from typing import Any

from toolwright.process.jobs.full_screen_programs import is_drawn, plain
from toolwright.process.jobs.jobs import Job
from toolwright.process.running.scope import PROCESSES, TEMPORARY, ProgramEnd

DISPLAY = 30_000
"""Characters of the output that a display is given while the model gets its own share."""
NAMED = 5
"""Processes that are named one by one."""
CUT = "\n\n..."


def text_of(job: Job) -> str:
    """The output as far as memory holds it. What is not text is shown as well as can be, what was drawn as text."""
    text = decode(job.output.head + job.output.tail)
    return plain(text) if is_drawn(text) else text


def decode(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def for_display(text: str) -> str:
    """The beginning of the output, for the finished call."""
    return text if len(text) <= DISPLAY else text[:DISPLAY] + CUT


def so_far(job: Job) -> str:
    """The end of the output, for a display that follows the call."""
    text = decode(job.output.tail or job.output.head)
    return text if len(text) <= DISPLAY else f"...\n\n{text[-DISPLAY:]}"


def with_notes(text: str, notes: Iterable[str]) -> str:
    lines = "\n".join(f"[{note}]" for note in notes if note)
    if not lines:
        return text or "(no output)"
    return text + ("" if not text or text.endswith("\n") else "\n") + lines


def ending(end: ProgramEnd | None) -> str:
    """Tell how the shell ended, if the model should know."""
    if end is None or end.code == 0:
        return ""
    if end.excess:
        return f"ended, because it {_EXCESS[end.excess]}"
    if end.code is not None:
        return f"exit code {end.code}"
    return f"ended by {_signal_name(end.signal)}" if end.signal else "ended from outside"


_EXCESS = {
    "processes": f"had become more than {PROCESSES} processes",
    "memory": "had taken most of the machine's memory",
    "disk": "had all but filled the disk",
    "held": "was about to change a file that could not be looked at in time. Look at the disk that it is on",
    "temp": f"had more than {TEMPORARY // 1024**3} GB of temporary files. Delete some of /tmp, or use the project",
}


def timed_out(milliseconds: int, has_ended: bool, screen: str = "") -> str:
    """`screen` is what is to be said of a program that waited for a terminal, for which more time is no help."""
    ended = "it and all it started were ended" if has_ended else "some of it could not be ended, even by force"
    advice = screen or "Give a longer timeout, or background: true for something that is meant to run on"
    return f"took longer than {milliseconds} ms: {ended}. {advice}"


def left_running(job: Job) -> str:
    left = job.end.left if job.end is not None else ()
    named = ", ".join(process.command[:80] for process in left[:NAMED])
    more = f" and {len(left) - NAMED} more" if len(left) > NAMED else ""
    what = f" ({named}{more})" if named else ""
    return f'{job.name} is still running{what}. Call bash with job: "{job.name}" to see more of it, with stop to end it'


def state_of(job: Job) -> str:
    if not job.is_over:
        return f"{job.name} is still running"
    return f"{job.name} has ended: {ending(job.end) or 'exit code 0'}"


def jobs_for_programs(jobs: Sequence[Job]) -> list[dict[str, Any]]:
    return [{"id": job.name, "command": job.command} for job in jobs]


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
