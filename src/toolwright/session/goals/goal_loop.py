"""Prompts with a goal: the model works on until it is reached, as long as it gets anywhere and the budget lasts."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolwright.errors import UsageError
from toolwright.files.store import Files
from toolwright.messages import TextPart, new_part
from toolwright.proof.baseline import stored_baseline, take_baseline
from toolwright.proof.conditions import check_conditions
from toolwright.proof.evidence import Evidence, Reason, describe, evidence_of
from toolwright.proof.goal import CheckRun, Goal
from toolwright.proof.progress import GoalProgress
from toolwright.proof.tree import TreeScanner
from toolwright.record import record
from toolwright.session.budget import Budget
from toolwright.session.goals.checks import Checker
from toolwright.session.goals.ledger import WorkComparison
from toolwright.session.goals.recorded_commands import recorded_runs
from toolwright.session.prompt import Prompt
from toolwright.session.result import NOT_REACHED, TurnError, TurnResult, joined
from toolwright.text.ids import new_id

if TYPE_CHECKING:
    from toolwright.session.session import Session

_LIMIT = "limit"
Ask = Callable[[Prompt], Awaitable[TurnResult[Any]]]


async def answered_until(session: "Session", goal: Goal, prompt: Prompt, ask: Ask) -> TurnResult[Any]:
    """Answer a prompt, and prompt again as long as a condition does not hold. UsageError for one that cannot be met."""
    checker = Checker(home=session.home, tree=TreeScanner(session.home.directory))
    budget = prompt.budget or session.turns.settings.budget
    work = _Work(session, goal, checker, budget, time.monotonic())
    prompt.check()
    check_conditions(goal, str(session.home.directory))
    await work.begin()
    result = await work.carry_on(prompt, ask)
    if result.evidence is not None and result.evidence.verdict == "proven":
        work.baseline_file.unlink(missing_ok=True)
    return result


@record(slots=True)
class _Work:
    """One goal on its way."""

    session: "Session"
    goal: Goal
    checker: Checker
    budget: Budget
    started: float
    runs: tuple[CheckRun, ...] = ()
    """All so far."""
    _ledger: WorkComparison | None = None

    @property
    def baseline_file(self) -> Path:
        return self.session.home.use(Files).journal.goal_path(self.session.id)

    async def begin(self) -> None:
        """Run the conditions before the model is asked, so that one which cannot be run costs nothing."""
        root = self.session.home.directory
        name = "\n".join(one.name for one in self.goal.conditions)
        # What was done towards the same goal before a restart, or before it was given up, is judged with the rest.
        baseline = await asyncio.to_thread(stored_baseline, self.baseline_file, name)
        if baseline is None:
            files = await self.checker.files()
            baseline = await asyncio.to_thread(take_baseline, root, files, self.baseline_file, name)
        self._ledger = WorkComparison.of(self.checker, self.goal, baseline)
        for condition in self.goal.conditions:
            run = await self.checker.check(condition, self._seconds())
            if run.status in ("not_run", "timed_out"):
                self.baseline_file.unlink(missing_ok=True)
            if run.status == "not_run":
                raise UsageError(f"The condition {condition.name!r} cannot be run: {run.output.strip()[-500:]}")
            if run.status == "timed_out":
                raise UsageError(
                    f"The condition {condition.name!r} did not end within {run.seconds:.0f} seconds. Give one that"
                    " does, or more time: --until-seconds N."
                )
            self.runs = (*self.runs, run)
        self._ledger.first = self.runs

    async def carry_on(self, prompt: Prompt, ask: Ask) -> TurnResult[Any]:
        progress, whole = GoalProgress(), None
        while True:
            result = await ask(replace(prompt, budget=self._left(whole)))
            whole = result if whole is None else joined(whole, result)
            if result.error is not None and result.error.kind != _LIMIT:
                unfinished = Reason(kind="not_finished", text=f"The work was broken off: {result.error}")
                return replace(whole, evidence=evidence_of(self.runs, [unfinished]))
            if whole.steps and result.message_id and len(self.runs) == len(self.goal.conditions):
                await self._note(prompt.message_id, self.runs)
            last = await self._check()
            await self._note(result.message_id, last)
            evidence = await self._evidence(result, whole, last)
            whole = replace(whole, evidence=evidence)
            if evidence.verdict == "proven":
                return replace(whole, error=None)
            if result.error is not None or result.finish == "refused":
                return whole
            doubts = [one.text for one in evidence.reasons if one.weight != "note"]
            if why := self._spent(whole) or progress.stands_still(last, doubts):
                return replace(whole, error=TurnError(_given_up(why, evidence), NOT_REACHED))
            prompt = replace(
                prompt, text=_render_failures(last, evidence), command=None, files=(), mentions=False, verbatim=True
            )
            prompt = replace(prompt, message_id=new_id("msg"))

    async def _check(self) -> list[CheckRun]:
        """Every condition on the files as they are now."""
        last = [await self.checker.check(one, self._seconds()) for one in self.goal.conditions]
        self.runs = (*self.runs, *last)
        if any(one.rewrote for one in last) and all(one.held for one in last):
            # It has changed files itself, as formatters do: what counts is whether it holds on what it came to.
            last = [await self.checker.check(one, self._seconds()) for one in self.goal.conditions]
            self.runs = (*self.runs, *last)
        return last

    async def _evidence(self, result: TurnResult[Any], whole: TurnResult[Any], last: Sequence[CheckRun]) -> Evidence:
        """Return the verdict on the files as they are now, and keep it with the message."""
        assert self._ledger is not None
        reasons = await self._ledger.reasons(self.session.id, result.text, last, self.runs, recorded_runs(whole.calls))
        evidence = evidence_of(self.runs, reasons)
        if result.message_id:
            text = f"Evidence: {evidence.verdict.replace('_', ' ')}."
            keys, metadata = new_part(self.session.id, result.message_id), {"evidence": evidence.as_json()}
            self.session.conversation.put(TextPart(**keys, text=text, synthetic=True, ignored=True, metadata=metadata))
            await self.session.conversation.settled()
        return evidence

    async def _note(self, message_id: str, runs: Sequence[CheckRun]) -> None:
        """Keep what was checked with the message that it was checked after."""
        conversation = self.session.conversation
        for run in runs:
            text = f"Checked: `{run.command}` {'holds' if run.held else 'does not hold'}: {describe(run)}."
            keys, metadata = new_part(self.session.id, message_id), {"check": run.as_json()}
            conversation.put(TextPart(**keys, text=text, synthetic=True, ignored=True, metadata=metadata))
        await conversation.settled()

    def _seconds(self) -> float:
        """Return how long the next check may take."""
        limit = self.budget.seconds
        left = self.goal.seconds if limit is None else limit - (time.monotonic() - self.started)
        return max(1.0, min(self.goal.seconds, left))

    def _left(self, whole: TurnResult[Any] | None) -> Budget:
        """The budget without what is used up."""
        used, limits = whole, self.budget
        seconds = None if limits.seconds is None else max(0.001, limits.seconds - (time.monotonic() - self.started))
        if used is None:
            return replace(limits, seconds=seconds)
        return Budget(
            steps=None if limits.steps is None else max(1, limits.steps - used.steps),
            tokens=None if limits.tokens is None else max(1, limits.tokens - used.tokens.total),
            cost=None if limits.cost is None else max(1e-9, limits.cost - used.cost),
            seconds=seconds,
        )

    def _spent(self, whole: TurnResult[Any]) -> str:
        """Name the part of the budget that is used up."""
        used = (
            ("steps", whole.steps, self.budget.steps),
            ("tokens", whole.tokens.total, self.budget.tokens),
            ("dollars", whole.cost, self.budget.cost),
            ("seconds", time.monotonic() - self.started, self.budget.seconds),
        )
        spent = next(((what, limit) for what, amount, limit in used if limit and amount >= limit), None)
        return f"the budget of {spent[1]:g} {spent[0]} is used up" if spent else ""


def _render_failures(last: Sequence[CheckRun], evidence: Evidence) -> str:
    """Render for the model which conditions do not hold, and what speaks against those that do."""
    notes = [f"`{one.command}` does not hold yet: {describe(one)}." for one in last if not one.held]
    outputs = [f"It printed:\n{one.output.strip()}" for one in last if not one.held and one.output.strip()]
    if not notes:
        doubts = [f"- {one.text}" for one in evidence.reasons if one.weight != "note"]
        notes = ["The check holds, but that proves nothing yet:\n" + "\n".join(doubts)]
    return "\n\n".join((*notes, *outputs, "Work on until it holds. Leave the check and its tests as they are."))


def _given_up(why: str, evidence: Evidence) -> str:
    reasons = "; ".join(one.text.rstrip(".") for one in evidence.reasons if one.weight != "note")
    return f"The goal was not reached: {why}. {reasons}." if reasons else f"The goal was not reached: {why}."
