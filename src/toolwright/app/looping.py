"""Loops as people see them: a list of them, and which one is meant by a name."""

from typing import TYPE_CHECKING

from toolwright.app.words import first_line, plural
from toolwright.errors import UsageError
from toolwright.record import record

if TYPE_CHECKING:
    from toolwright.session.turns.loops import PromptLoop
    from toolwright.workspace import Workspace


@record(frozen=True, slots=True, kw_only=True)
class LoopView:
    """One of them; some may be over."""

    name: str
    prompt: str
    seconds: float
    """From the end of one round to the beginning of the next."""
    condition: str = ""
    """Condition that makes a round due."""
    rounds: int = 0
    times: int
    state: str
    """waiting (for the next round), working, done, failed or stopped."""
    reason: str = ""
    """Why it has ended, where that was not after its last round."""

    @property
    def line(self) -> str:
        """Return all that is worth knowing, in one line."""
        when = f"every {_time(self.seconds)}{' ' + self.condition if self.condition else ''}"
        why = f" · {first_line(self.reason)}" if self.reason else ""
        rounds = f"{self.rounds} of {plural(self.times, 'round')}"
        return f"{self.name:<8} {self.state:<8} {when}: {first_line(self.prompt)} ({rounds}){why}"


def _time(seconds: float) -> str:
    """Return a time as it is typed."""
    size, unit = next((one for one in ((3600, "h"), (60, "m")) if seconds % one[0] == 0), (1, "s"))
    return f"{seconds / size:g}{unit}"


def loops_of(workspace: "Workspace", session_id: str) -> list[LoopView]:
    """Return the loops of a session, the oldest first."""
    if "loops" not in workspace.__dict__:
        return []
    return [view_of_loop(one) for one in workspace.loops.of(session_id)]


def loops_at_work(workspace: "Workspace") -> "list[PromptLoop]":
    """Return the loops of all sessions that are not over."""
    return workspace.loops.at_work if "loops" in workspace.__dict__ else []


def view_of_loop(loop: "PromptLoop") -> LoopView:
    """Return what people see of a loop."""
    return LoopView(
        name=loop.name,
        prompt=loop.prompt.text,
        seconds=loop.plan.seconds,
        condition=loop.plan.condition,
        rounds=loop.rounds,
        times=loop.plan.times,
        state=loop.state,
        reason=loop.reason,
    )


async def stop_loops(workspace: "Workspace", session_id: str, name: str = "") -> list[str]:
    """Stop the loop of a name, or all of a session; return which."""
    known = workspace.loops.of(session_id) if "loops" in workspace.__dict__ else []
    meant = [one for one in known if not one.is_over and name in ("", one.name)]
    if not meant:
        at_work = ", ".join(one.name for one in known if not one.is_over)
        what = f"no loop {name!r}" if name else "no loop"
        raise UsageError(f"There is {what} at work in this session{f'. There are: {at_work}' if at_work else ''}.")
    for loop in meant:
        await workspace.loops.stop(loop)
    return [one.name for one in meant]
