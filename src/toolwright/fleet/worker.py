"""A worker: the process on some machine that carries out one order after the other, as a Ray actor."""

import asyncio
import logging
import platform
from collections import deque

from toolwright.evaluate.places import sweep
from toolwright.evaluate.running import worker_name
from toolwright.fleet.limits import ProviderLimits
from toolwright.fleet.movable import DiskFull, MovableRun, RunDone, RunOrder
from toolwright.fleet.saved import SavedStep
from toolwright.record import record
from toolwright.version import VERSION

LINES = 5000
"""Lines of a log that wait to be fetched."""


@record(frozen=True, slots=True, kw_only=True)
class WorkerReport:
    """Report of a worker: a step, the end of the run, or why it cannot be done here; and what it has logged."""

    step: SavedStep | None = None
    done: RunDone | None = None
    unfit: str = ""
    log: tuple[str, ...] = ()


@record(frozen=True, slots=True, kw_only=True)
class WorkerInfo:
    """Identity of a worker."""

    name: str
    version: str
    python: str


class Worker:
    """One run at a time: `begin` and `advance` return at the next step, and the run waits there to be called again.

    So whoever has heard of a step decides that it goes on; a worker that nobody asks for any more does nothing more.
    """

    def __init__(self, limits: "ProviderLimits | None" = None) -> None:
        self._limits = limits
        self._reports: asyncio.Queue[WorkerReport] = asyncio.Queue()
        self._heard = asyncio.Event()
        self._running: asyncio.Task[None] | None = None
        self._lines = LogLines()
        logger = logging.getLogger("toolwright")
        logger.setLevel(logging.INFO)
        logger.addHandler(self._lines)

    async def describe(self) -> WorkerInfo:
        await asyncio.to_thread(sweep)
        return WorkerInfo(name=worker_name(), version=VERSION, python=platform.python_version())

    async def begin(self, order: RunOrder, packed: bytes | None) -> WorkerReport:
        """Begin a run, or go on with it where it was left elsewhere."""
        self._lines.taken()
        self._heard.clear()
        self._running = asyncio.create_task(self._run(order, packed))
        return await self._next()

    async def advance(self) -> WorkerReport:
        """Go on: what was told last is safe."""
        self._heard.set()
        return await self._next()

    async def close(self) -> None:
        """Stop, and leave nothing behind."""
        if self._running is not None:
            self._running.cancel()
            await asyncio.gather(self._running, return_exceptions=True)
        await asyncio.to_thread(sweep)

    async def _next(self) -> WorkerReport:
        """The next report; a run that broke is told as it broke."""
        assert self._running is not None
        getting = asyncio.ensure_future(self._reports.get())
        await asyncio.wait([getting, self._running], return_when=asyncio.FIRST_COMPLETED)
        if not getting.done() and self._reports.empty():
            getting.cancel()
            self._running.result()
        return await getting

    async def _run(self, order: RunOrder, packed: bytes | None) -> None:
        try:
            done = await MovableRun(order, packed, self._tell, self._limits).carry_out()
        except DiskFull as error:
            self._put(WorkerReport(unfit=str(error)))
        else:
            self._put(WorkerReport(done=done))

    async def _tell(self, step: SavedStep) -> None:
        self._heard.clear()
        self._put(WorkerReport(step=step))
        await self._heard.wait()

    def _put(self, report: WorkerReport) -> None:
        self._reports.put_nowait(
            WorkerReport(step=report.step, done=report.done, unfit=report.unfit, log=self._lines.taken())
        )


class LogLines(logging.Handler):
    """Keeps what is logged until it is taken."""

    def __init__(self) -> None:
        super().__init__()
        self.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
        self._kept: deque[str] = deque(maxlen=LINES)

    def emit(self, record: logging.LogRecord) -> None:
        self._kept.append(self.format(record))

    def taken(self) -> tuple[str, ...]:
        lines = tuple(self._kept)
        self._kept.clear()
        return lines
