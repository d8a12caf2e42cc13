"""Runs of the user's own server: begun, gone on with after its end, noted when they are over; and its own end."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from toolwright.app.looping import loops_at_work, view_of_loop
from toolwright.app.runs import BackgroundRun, Runs
from toolwright.errors import ToolwrightError
from toolwright.http_server.refusal import HttpRefusal
from toolwright.messages import Assistant
from toolwright.proof.goal import goal_of
from toolwright.session.asking import answered, go_on
from toolwright.session.prompt import Prompt
from toolwright.session.result import TurnResult
from toolwright.session.session import Session
from toolwright.session.turns.resuming import ask_again
from toolwright.text.ids import new_id, now

if TYPE_CHECKING:
    from toolwright.server.serving import Serving
    from toolwright.session.turns.loops import PromptLoop

log = logging.getLogger(__name__)

IDLE = 600.0
"""Seconds after which a server ends that nobody uses and in which nothing works."""
_GO_ON = "The program that you worked in has ended, and was started again. Go on."
_NEWEST = 50
"""Runs that are over and still listed."""


class OwnRuns:
    """The runs of one server."""

    def __init__(self, serving: "Serving", runs: Runs) -> None:
        self._serving, self.runs = serving, runs
        self._working: dict[str, asyncio.Task[None]] = {}

    @property
    def busy(self) -> bool:
        return bool(self._working or self._loops())

    def _loops(self) -> "list[PromptLoop]":
        """The loops that are at work in any of the sessions of the server."""
        opened = self._serving.projects.workspaces.values()
        return [one for there in opened for one in loops_at_work(there)]

    def begin(self, session: Session, prompt: Prompt, until: str) -> BackgroundRun:
        """Have a prompt answered, and remember it from the first moment on."""
        run = BackgroundRun(
            session=session.id,
            name=session.info.slug,
            directory=str(session.home.directory),
            prompt=prompt.text,
            began=now(),
            until=until,
        )
        self.runs.put(run)
        self._work(run, lambda: answered(session, prompt))
        return run

    async def go_on(self) -> None:
        """Go on with everything that the end of an earlier server has broken off."""
        for run in self.runs.unfinished():
            if run.session in self._working:
                continue
            try:
                workspace = await self._serving.projects.of(run.directory)
                session = await workspace.sessions.open(run.session)
            except (HttpRefusal, ToolwrightError) as error:
                # One folder that is gone, or broken, keeps no other run from going on.
                log.warning("the run %s cannot go on: %s", run.session, error)
                self.runs.end(run, "failed", now(), f"It could not go on after the server had ended: {error}")
                continue
            if _is_answered(session) and not run.until:
                self.runs.end(run, "done", now())
            else:
                self._work(run, partial(_gone_on, session, run))

    def listed(self) -> list[dict[str, Any]]:
        """Return what people see of the runs, with who waits for an answer and what is being done."""
        from toolwright.record import fields_of

        asking = {name for _, one in self._serving.questions for name in (one.session_id, *one.callers)}
        loops = {one.session.id: view_of_loop(one).line for one in self._loops()}
        every = self.runs.all()
        newest = {one.session for one in [one for one in every if one.is_over][-_NEWEST:]}
        return [
            fields_of(one)
            | ({"state": "looping", "loop": loops[one.session]} if one.session in loops else {})
            | ({"state": "waiting"} if one.session in asking else {})
            for one in every
            if not one.is_over or one.session in newest or one.session in loops
        ]

    def _work(self, run: BackgroundRun, answer: "Callable[[], Awaitable[TurnResult[Any]]]") -> None:
        task = asyncio.create_task(self._carry_out(run, answer))
        self._working[run.session] = task
        task.add_done_callback(lambda _: self._working.pop(run.session, None))

    async def _carry_out(self, run: BackgroundRun, answer: "Callable[[], Awaitable[TurnResult[Any]]]") -> None:
        state, problem = "done", ""
        try:
            result = await answer()
            if result.error is not None:
                state, problem = "stopped" if result.error.kind == "aborted" else "failed", str(result.error)
        except ToolwrightError as error:
            state, problem = "failed", str(error)
        # What ends with the server goes on with the next one.
        if not self._serving.ending:
            self.runs.end(run, state, now(), problem)


async def end_when_idle(serving: "Serving", seconds: float, stop: Callable[[], None]) -> None:
    """Stop a server in which nothing has been at work, and to which nobody has listened, for so long."""
    quiet, step = 0.0, max(seconds / 10, 0.05)
    while quiet < seconds:
        await asyncio.sleep(step)
        used = serving.own is not None and serving.own.busy
        used = used or any(serving.statuses.values()) or any(one.listeners for one in serving.channels.values())
        quiet = 0.0 if used or serving.questions else quiet + step
    stop()


def _is_answered(session: Session) -> bool:
    last = session.messages[-1].info if session.messages else None
    return isinstance(last, Assistant) and last.error is None and last.finish not in (None, "", "tool-calls")


async def _gone_on(session: Session, run: BackgroundRun) -> "TurnResult[Any]":
    if session.conversation.last_user() is None:
        prompt = Prompt(text=run.prompt, message_id=new_id("msg"), until=goal_of(run.until or None))
        return await answered(session, prompt)
    if session.waiting:
        return await ask_again(session)
    if run.until:
        prompt = Prompt(text=_GO_ON, verbatim=True, mentions=False, message_id=new_id("msg"), until=goal_of(run.until))
        return await answered(session, prompt)
    return await go_on(session)
