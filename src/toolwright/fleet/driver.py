"""Gives the runs of tasks to the workers of a cluster, on as many slots as it has."""

import asyncio
import tempfile
from collections import deque
from collections.abc import AsyncGenerator, Iterable, Mapping
from concurrent.futures import Future
from contextlib import AsyncExitStack, suppress
from dataclasses import field
from pathlib import Path
from signal import SIGTERM, getsignal, signal
from threading import Thread, current_thread, main_thread
from typing import Any

from toolwright.deadline import time_limit
from toolwright.errors import ToolwrightError, UsageError
from toolwright.evaluate.results import TaskResult
from toolwright.evaluate.tasks import Task
from toolwright.fleet.bases import Bases
from toolwright.fleet.cluster import Cluster, Node, connect
from toolwright.fleet.limits import Limit
from toolwright.fleet.saved import SavedSteps
from toolwright.fleet.slot import TRIES, FleetRun, SharedWork, WorkerSlot
from toolwright.record import record

PATIENCE = 90.0
"""Seconds in which Ray must be there."""
LOOK = 1.0
"""Seconds between two looks at which machines there are."""
LONELY = 120.0
"""Seconds to wait for a machine when there is none."""


async def run(
    tasks: Iterable[Task],
    *,
    address: str = "",
    parallel: int = 0,
    per_node: int = 0,
    limits: Mapping[str, Limit] | None = None,
    repeat: int = 1,
    keep: Path | None = None,
    done: Iterable[tuple[str, int]] = (),
    out: str | Path | None = None,
    **opening: Any,
) -> AsyncGenerator[TaskResult, None]:
    """Like `toolwright.evaluate.run`, on a Ray cluster: that at `address`, or one of this machine alone.

    There are never more copies than slots: the CPUs of the machines, no more than `per_node` on each and `parallel`
    in all. `limits` are for the whole fleet, by provider. In `out` are what is saved after every step, which a later
    run of the same tasks goes on from, and the logs of the workers, by task.
    """
    finished, chosen = set(done), list(tasks)
    waiting = [
        FleetRun(task, number) for number in range(repeat) for task in chosen if (task.id, number) not in finished
    ]
    async with AsyncExitStack() as stack:
        folder = Path(out or stack.enter_context(tempfile.TemporaryDirectory(prefix="toolwright-fleet-")))
        steps = SavedSteps(folder / "steps")
        for task_id, number in finished:
            steps.drop(task_id, number)
        if waiting:
            cluster = await _connected(address, parallel)
            stack.push_async_callback(asyncio.to_thread, cluster.close)
            _take_signals_back()
            work = SharedWork(
                cluster=cluster,
                steps=steps,
                logs=folder / "logs",
                waiting=deque(waiting),
                bases=Bases(cluster.put),
                keep=keep,
                opening=opening,
                limits=cluster.start_limits(limits) if limits else None,
            )
            driver = Driver(work=work, most=parallel, per_node=per_node)
            stack.push_async_callback(driver.close)
            driver.start()
        for _ in waiting:
            result = await driver.next()
            yield result
            # Only now it is written down, and nobody will have to go on with it.
            steps.drop(result.id, result.repeat)
        steps.end()


async def _connected(address: str, parallel: int) -> Cluster:
    """Ray cannot be stopped in the middle: a thread that nobody waits for at the end does it."""
    connecting: Future[Cluster] = Future()
    Thread(target=_stay_connected, args=(connecting, address, parallel), daemon=True).start()
    try:
        async with time_limit(PATIENCE):
            return await asyncio.shield(asyncio.wrap_future(connecting))
    except TimeoutError as error:
        where = f"The cluster at {address}" if address else "Ray on this machine"
        raise UsageError(f"{where} has not answered within {PATIENCE:.0f} seconds.") from error
    except asyncio.CancelledError:
        with suppress(TimeoutError, ToolwrightError):
            (await asyncio.to_thread(connecting.result, PATIENCE)).close()
        raise


def _stay_connected(connecting: "Future[Cluster]", address: str, parallel: int) -> None:
    """Keep the thread that has connected: what Ray has started on this machine ends with it."""
    try:
        cluster = connect(address, parallel)
    except BaseException as error:  # noqa: BLE001 - whoever waits is told
        connecting.set_exception(error)
        return
    connecting.set_result(cluster)
    cluster.closed.wait()


def _take_signals_back() -> None:
    """Ray has its own way to end at once; whoever would hear of it before shall again, to leave nothing behind."""
    if current_thread() is main_thread() and (handler := getsignal(SIGTERM)) is not None:
        signal(SIGTERM, handler)


@record(slots=True, kw_only=True, eq=False)
class Driver:
    """Keeps a worker on every slot as long as there is work for it."""

    work: SharedWork
    most: int
    per_node: int
    _taken: "dict[asyncio.Task[None], WorkerSlot]" = field(default_factory=dict["asyncio.Task[None]", WorkerSlot])
    _watch: "asyncio.Task[None] | None" = None
    _broken: BaseException | None = None
    """The error at a slot that ends the whole fleet."""
    _wake: asyncio.Event = field(default_factory=asyncio.Event)

    def start(self) -> None:
        self.work.logs.mkdir(parents=True, exist_ok=True)
        self._watch = asyncio.create_task(self._keep_slots_filled())

    async def next(self) -> TaskResult:
        """The next result; what ends the whole fleet is raised instead."""
        assert self._watch is not None
        getting = asyncio.ensure_future(self.work.results.get())
        try:
            await asyncio.wait([getting, self._watch], return_when=asyncio.FIRST_COMPLETED)
            if self._watch.done():
                self._watch.result()
            return await getting
        finally:
            getting.cancel()

    async def close(self) -> None:
        """Every worker stops and clears away what it has; then it is ended."""
        tasks = [*self._taken, *([self._watch] if self._watch else [])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _keep_slots_filled(self) -> None:
        lonely = 0.0
        while self._broken is None:
            nodes = [node for node in await asyncio.to_thread(self.work.cluster.nodes) if node.slots]
            lonely = 0.0 if nodes else lonely + LOOK
            if lonely > LONELY:
                raise UsageError("The cluster has no machine to work on any more. Go on with --resume when it has one.")
            if len(self.work.unstarted) >= TRIES * max(1, len(nodes)):
                raise UsageError(f"No worker can be started: {self.work.unstarted[-1]}")
            self._fill(nodes)
            await self._pause()
        raise self._broken

    async def _pause(self) -> None:
        """A moment, or until a slot is free."""
        self._wake.clear()
        try:
            async with time_limit(LOOK):
                await self._wake.wait()
        except TimeoutError:
            return

    def _fill(self, nodes: list[Node]) -> None:
        """As many slots as there are runs that nobody is about to take, spread over the machines."""
        free = {node: self._slots(node) for node in nodes if not self.work.is_resting(node)}
        for slot in self._taken.values():
            if slot.node in free:
                free[slot.node] -= 1
        wanted = len(self.work.waiting) - sum(slot.is_starting for slot in self._taken.values())
        while wanted > 0 and (not self.most or len(self._taken) < self.most):
            node = max(free, key=lambda one: free[one], default=None)
            if node is None or free[node] <= 0:
                return
            free[node] -= 1
            wanted -= 1
            slot = WorkerSlot(self.work, node)
            working = asyncio.create_task(slot.take_runs())
            self._taken[working] = slot
            working.add_done_callback(self._left)

    def _slots(self, node: Node) -> int:
        return min(node.slots, self.per_node) if self.per_node else node.slots

    def _left(self, working: "asyncio.Task[None]") -> None:
        self._taken.pop(working, None)
        self._wake.set()
        if not working.cancelled() and self._broken is None:
            self._broken = working.exception()
