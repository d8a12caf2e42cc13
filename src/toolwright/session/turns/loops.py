"""Loops: a prompt that is put again and again, each time or only where something has become so; and when it is due."""

import asyncio
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import field, replace
from pathlib import Path
from typing import Literal

from toolwright.errors import ToolwrightError, UsageError
from toolwright.files.search import find_files
from toolwright.record import record
from toolwright.session.asking import answered
from toolwright.session.goals.checks import NOT_RUN, run_quietly
from toolwright.session.prompt import Prompt
from toolwright.session.session import Session, SessionOwner
from toolwright.text.ids import new_id, now

TIMES, MOST_TIMES = 10, 1000
"""Rounds of a loop, unless another number is given, and at most."""
MOST = 8
"""Loops of a session at once."""
WATCHED = 10_000
"""Files that one pattern may watch."""
CHECK_SECONDS = 600.0
"""Longest time that a command that is watched may take."""
_LONGEST = 24 * 3600
_UNITS = {"": 1, "s": 1, "m": 60, "h": 3600}
_OPTION = re.compile(r"--(times|if-fails|if-output|if-changed)(?:=|\s+)('[^']*'|\"[^\"]*\"|\S+)\s*")

State = Literal["waiting", "working", "done", "failed", "stopped"]


@record(frozen=True, slots=True, kw_only=True)
class LoopPlan:
    """Schedule of the rounds: when they are due, and how many there are."""

    seconds: float
    """From the end of one to the beginning of the next."""
    times: int = TIMES
    if_fails: str = ""
    """A command: a round is due where it fails."""
    if_output: str = ""
    """A command: a round is due where it prints something else than the last time."""
    if_changed: str = ""
    """A path or a pattern of paths: a round is due where such a file has changed."""

    def __post_init__(self) -> None:
        if not 0 < self.times <= MOST_TIMES:
            raise UsageError(f"--times takes a number from 1 to {MOST_TIMES}.")
        if sum(map(bool, (self.if_fails, self.if_output, self.if_changed))) > 1:
            raise UsageError("Only one of --if-fails, --if-output and --if-changed can be given.")

    @property
    def condition(self) -> str:
        """Return what makes a round due, for people."""
        watched = (
            (self.if_fails, "where `{}` fails"),
            (self.if_output, "where `{}` prints something else"),
            (self.if_changed, "where {} has changed"),
        )
        return next((words.format(what) for what, words in watched if what), "")


def seconds_of(text: str) -> float:
    """Return a time such as 30s, 10m or 2h in seconds."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([smh]?)", text.strip())
    seconds = float(match[1]) * _UNITS[match[2]] if match else 0.0
    if not 0 < seconds <= _LONGEST:
        raise UsageError(f"--every takes a time up to 24h, such as 30s, 10m or 2h, not {text!r}.")
    return seconds


def plan_of(text: str) -> tuple[LoopPlan, str]:
    """Return what is typed behind /loop, `10m --if-fails 'make test' PROMPT`, as a plan and the prompt."""
    every, _, rest = text.strip().partition(" ")
    seconds, options, rest = seconds_of(every), dict[str, str](), rest.lstrip()
    while option := _OPTION.match(rest):
        options[option[1].replace("-", "_")] = option[2].strip("'\"") if option[2][0] in "'\"" else option[2]
        rest = rest[option.end() :]
    times = options.pop("times", str(TIMES))
    if not times.isdecimal():
        raise UsageError(f"--times takes a number from 1 to {MOST_TIMES}, not {times!r}.")
    if not rest.strip():
        raise UsageError("/loop takes a time and a prompt, such as /loop 10m look for new reports.")
    return LoopPlan(seconds=seconds, times=int(times), **options), rest.strip()


@record(slots=True, kw_only=True)
class RoundTrigger:
    """Tells whether a round is due now. What changes is compared with the time before; the first look finds nothing."""

    plan: LoopPlan
    _seen: str | None = None

    async def is_due(self, home: SessionOwner) -> bool:
        plan = self.plan
        if plan.if_fails:
            return (await _run(home, plan.if_fails))[0] != 0
        if not (plan.if_output or plan.if_changed):
            return True
        if plan.if_output:
            present = (await _run(home, plan.if_output))[1]
        else:
            present = await _stamps(home.directory, plan.if_changed)
        before, self._seen = self._seen, present
        return before not in (None, present)


async def _run(home: SessionOwner, command: str) -> tuple[int | None, str]:
    """Run a command that is watched, in the box; raise UsageError where it cannot be run, which is no failure."""
    result = await run_quietly(home, command, CHECK_SECONDS, "Watch")
    code = result.metadata.get("exit")
    if result.error is not None or code in NOT_RUN:
        raise UsageError(f"`{command}` cannot be run: {result.output.strip()[-500:]}")
    return code, str(result.metadata.get("output", ""))


async def _stamps(folder: Path, pattern: str) -> str:
    """Return what the files of a pattern look like from outside."""
    plain = not re.search(r"[*?\[{]", pattern)
    paths = [pattern] if plain else (await find_files(folder, pattern, limit=WATCHED)).paths

    def stamps() -> Iterator[str]:
        for path in sorted(paths):
            with suppress(OSError):
                status = (folder / path).stat()
                yield f"{path} {status.st_mtime_ns} {status.st_size} {status.st_ino}"

    return await asyncio.to_thread(lambda: "\n".join(stamps()))


@record(slots=True, kw_only=True, eq=False)
class PromptLoop:
    """One of them, at work or over."""

    name: str
    session: Session
    prompt: Prompt
    watch: RoundTrigger
    began: int
    rounds: int = 0
    state: State = "waiting"
    reason: str = ""
    """Why it has ended, where that was not after its last round."""
    work: "asyncio.Task[None] | None" = None

    @property
    def plan(self) -> LoopPlan:
        return self.watch.plan

    @property
    def is_over(self) -> bool:
        return self.state not in ("waiting", "working")

    def end(self, state: State, reason: str = "") -> None:
        if not self.is_over:
            self.state, self.reason = state, reason


@record(slots=True)
class Loops:
    """All of one workspace. They end with their session, and with the program."""

    known: list[PromptLoop] = field(default_factory=list[PromptLoop])

    def of(self, session_id: str) -> list[PromptLoop]:
        """Return those of a session, the oldest first."""
        return [one for one in self.known if one.session.id == session_id]

    @property
    def at_work(self) -> list[PromptLoop]:
        return [one for one in self.known if not one.is_over]

    def begin(self, session: Session, prompt: Prompt, plan: LoopPlan) -> PromptLoop:
        """Put a prompt again and again from now on."""
        others = self.of(session.id)
        if sum(not one.is_over for one in others) >= MOST:
            raise UsageError(f"{MOST} loops are at work in this session, which is the limit. Stop one first.")
        name = f"loop-{len(others) + 1}"
        loop = PromptLoop(name=name, session=session, prompt=prompt, watch=RoundTrigger(plan=plan), began=now())
        self.known.append(loop)
        loop.work = asyncio.create_task(_rounds(loop))
        return loop

    async def stop(self, loop: PromptLoop, reason: str = "") -> None:
        """Have no more rounds of it. One that is under way comes to its end."""
        is_working = loop.state == "working"
        loop.end("stopped", reason)
        if loop.work is not None and not is_working:
            loop.work.cancel()
            await asyncio.wait([loop.work])

    async def forget(self, session_id: str) -> None:
        """Let go of those of a session that is closed, and whose turn has been stopped."""
        await asyncio.gather(*(self.stop(one) for one in self.of(session_id)))
        self.known = [one for one in self.known if one.session.id != session_id]

    async def close(self) -> None:
        """Have no more rounds of any."""
        await asyncio.gather(*map(self.stop, self.at_work))


async def _rounds(loop: PromptLoop) -> None:
    session = loop.session
    try:
        while not loop.is_over:
            # What the person wants comes first; the round is looked at again the next time.
            if not session.turns.busy and await loop.watch.is_due(session.home):
                await _round(loop)
            if not loop.is_over:
                await asyncio.sleep(loop.plan.seconds)
    except ToolwrightError as error:
        loop.end("failed", str(error))


async def _round(loop: PromptLoop) -> None:
    loop.rounds, loop.state = loop.rounds + 1, "working"
    result = await answered(loop.session, replace(loop.prompt, message_id=new_id("msg")))
    if result.error is not None:
        loop.end("stopped" if result.error.kind == "aborted" else "failed", str(result.error))
    elif loop.rounds >= loop.plan.times:
        loop.end("done")
    elif loop.state == "working":
        loop.state = "waiting"
