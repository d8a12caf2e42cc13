"""A slot: one worker on one machine, which is given one run after the other until none is left or it is lost."""

import asyncio
import time
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import field
from pathlib import Path
from typing import Any

from toolwright.deadline import time_limit, to_the_end
from toolwright.errors import ToolwrightError, UsageError
from toolwright.evaluate.results import TaskResult, file_name
from toolwright.evaluate.tasks import Task
from toolwright.fleet.bases import Base, Bases
from toolwright.fleet.cluster import Cluster, Node, one_line
from toolwright.fleet.folders import unpack
from toolwright.fleet.movable import RunDone, RunOrder
from toolwright.fleet.saved import Saved, SavedSteps
from toolwright.fleet.worker import WorkerInfo, WorkerReport
from toolwright.record import record
from toolwright.version import VERSION

TRIES = 3
"""Workers that may be lost in the same step of a run; after that it is the run that ends them."""
REST = 10.0
"""Seconds in which a machine that was not fit gets no run."""
PARTING = 30.0
"""Seconds that a worker has to leave nothing behind."""


@record(slots=True)
class FleetRun:
    """One run of a task on its way through the fleet."""

    task: Task
    number: int
    tries: int = 0
    """Workers that were lost since it last came a step further."""


@record(slots=True, kw_only=True, eq=False)
class SharedWork:
    """State that all slots share: the runs that wait, where their steps are kept, and where results go."""

    cluster: Cluster
    steps: SavedSteps
    logs: Path
    waiting: "deque[FleetRun]"
    bases: Bases
    keep: Path | None
    opening: Mapping[str, Any]
    limits: Any
    results: "asyncio.Queue[TaskResult]" = field(default_factory=lambda: asyncio.Queue[TaskResult]())
    unstarted: list[str] = field(default_factory=list[str])
    """Why workers could not be started, since one last could."""
    _resting: dict[str, float] = field(default_factory=dict[str, float])

    def is_resting(self, node: Node) -> bool:
        return self._resting.get(node.id, 0.0) > time.monotonic()

    def rest(self, node: Node) -> None:
        self._resting[node.id] = time.monotonic() + REST

    def lose(self, run: FleetRun, worker: str, reason: str) -> None:
        """A worker is gone: the run waits for another, unless it has cost too many."""
        run.tries += 1
        self.note(run, [f"{_now()} {worker} is lost: {reason}"])
        if run.tries < TRIES:
            self.waiting.appendleft(run)
            return
        self.fail(run, worker, f"{run.tries} workers were lost in the same step; the last one: {reason}")

    def fail(self, run: FleetRun, worker: str, reason: str) -> None:
        self.results.put_nowait(TaskResult(id=run.task.id, repeat=run.number, worker=worker, error=reason))

    def note(self, run: FleetRun, lines: "list[str] | tuple[str, ...]") -> None:
        """Add to the log of a run."""
        if not lines:
            return
        with (
            suppress(OSError),
            (self.logs / f"{file_name(run.task.id, run.number)}.log").open("a", errors="replace") as log,
        ):
            log.writelines(f"{line}\n" for line in lines)


@record(slots=True, eq=False)
class WorkerSlot:
    """One worker and what it works on."""

    work: SharedWork
    node: Node
    is_starting: bool = True
    _worker: Any = None
    _name: str = ""

    async def take_runs(self) -> None:
        work = self.work
        try:
            if await self._started():
                while work.waiting and await self._serve(work.waiting.popleft()):
                    pass
        finally:
            self.is_starting = False
            await self._part()

    async def _started(self) -> bool:
        """Start a worker, and tell whether there is one now."""
        work = self.work
        try:
            self._worker = work.cluster.start_worker(self.node, work.limits)
            described: WorkerInfo = await self._worker.describe.remote()
        except Exception as error:  # noqa: BLE001 - whatever a machine lacks comes out here
            work.unstarted.append(f"on {self.node.address}: {one_line(error)}")
            work.rest(self.node)
            return False
        finally:
            self.is_starting = False
        if described.version != VERSION:
            raise UsageError(
                f"{described.name} has toolwright {described.version}, but here it is {VERSION}. Install the same on"
                " every machine."
            )
        self._name = described.name
        work.unstarted.clear()
        return True

    async def _serve(self, run: FleetRun) -> bool:
        """Have one run carried out; whether the worker is there for another."""
        work = self.work
        try:
            base = await work.bases.of(run.task)
            saved = await asyncio.to_thread(work.steps.load, run.task.id, run.number)
        except (ToolwrightError, OSError) as error:
            work.fail(run, self._name, str(error))
            return True
        if saved is not None and saved.base != base.id:
            # The task begins from something else by now, which what was saved does not fit.
            work.steps.drop(run.task.id, run.number)
            saved = None
        try:
            report = await self._advanced(run, base, saved)
        except UsageError:
            raise
        except Exception as error:  # noqa: BLE001 - an error of our own there, or a process that is gone
            if work.cluster.is_lost(error):
                work.lose(run, self._name, one_line(error))
            else:
                work.fail(run, self._name, f"The program broke: {one_line(error)}")
            return False
        if report.done is None:
            work.rest(self.node)
            work.lose(run, self._name, report.unfit)
            return False
        await self._keep(run, report.done)
        work.results.put_nowait(report.done.result)
        return True

    async def _advanced(self, run: FleetRun, base: Base, saved: Saved | None) -> WorkerReport:
        """Let a run go from step to step; each is safe here before the next begins."""
        work = self.work
        order = RunOrder(
            task=run.task,
            number=run.number,
            name=base.name,
            base=base.id,
            saved=saved,
            opening=work.opening,
            keep=work.keep is not None,
        )
        work.note(run, [f"{_now()} given to {self._name} ({self.node.address}), {_from(saved)}"])
        report: WorkerReport = await self._worker.begin.remote(order, base.packed)
        work.note(run, report.log)
        while report.step is not None:
            await asyncio.to_thread(work.steps.add, run.task.id, run.number, report.step)
            run.tries = 0
            report = await self._worker.advance.remote()
            work.note(run, report.log)
        return report

    async def _keep(self, run: FleetRun, done: RunDone) -> None:
        if self.work.keep is not None and done.kept is not None:
            await asyncio.to_thread(unpack, done.kept, self.work.keep / file_name(run.task.id, run.number))

    async def _part(self) -> None:
        """Let the worker clear away what it has, if it still can, and end it. To be stopped does not keep from it."""
        if self._worker is None:
            return
        try:
            await to_the_end(self._cleared())
        finally:
            self.work.cluster.kill(self._worker)

    async def _cleared(self) -> None:
        with suppress(Exception):
            async with time_limit(PARTING):
                await self._worker.close.remote()


def _now() -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S")


def _from(saved: Saved | None) -> str:
    return "from the beginning" if saved is None else f"after step {saved.steps}"
