"""A cluster without Ray: its workers are real, but in this process, and can be lost at will."""

import asyncio
from collections.abc import Callable
from threading import Event
from typing import Any

from toolwright.fleet.cluster import Node
from toolwright.fleet.movable import RunOrder
from toolwright.fleet.worker import Worker, WorkerReport


class Lost(Exception):
    """What Ray would raise for an actor that is gone."""


Fate = Callable[[str, str, WorkerReport], bool]
"""Given the node, the task and what would be told: whether the worker is lost just then."""


class Method:
    def __init__(self, call: Callable[..., Any]) -> None:
        self.remote = lambda *given: asyncio.ensure_future(call(*given))


class Actor:
    def __init__(self, cluster: "FakeCluster", node: Node, limits: Any) -> None:
        self.cluster, self.node, self.worker = cluster, node, Worker(limits)
        self.task = ""
        self.describe, self.begin = Method(self.worker.describe), Method(self._begin)
        self.advance, self.close = Method(self._advance), Method(self.worker.close)

    async def _begin(self, order: RunOrder, packed: bytes | None) -> WorkerReport:
        self.task = order.task.id
        self.cluster.begun.append((self.node.id, self.task, order.saved.steps if order.saved else 0))
        return await self._judged(await self.worker.begin(order, packed))

    async def _advance(self) -> WorkerReport:
        return await self._judged(await self.worker.advance())

    async def _judged(self, report: WorkerReport) -> WorkerReport:
        if self.cluster.fate(self.node.id, self.task, report):
            await self.worker.close()
            raise Lost(f"{self.node.id} is gone")
        return report


class FakeCluster:
    """Implements Cluster for the driver."""

    def __init__(self, *nodes: Node, fate: Fate = lambda *_: False) -> None:
        self.machines = list(nodes) or [Node(id="n1", address="10.0.0.1", slots=2)]
        self.fate = fate
        self.begun: list[tuple[str, str, int]] = []
        """The node, the task, and after which step."""
        self.actors: list[Actor] = []
        self.closed = Event()
        self.most = 0
        self.most_on: dict[str, int] = {}

    def nodes(self) -> list[Node]:
        return self.machines

    def start_worker(self, node: Node, limits: Any) -> Actor:
        actor = Actor(self, node, limits)
        self.actors.append(actor)
        self.most = max(self.most, len(self.actors))
        here = sum(one.node == node for one in self.actors)
        self.most_on[node.id] = max(self.most_on.get(node.id, 0), here)
        return actor

    def put(self, packed: bytes) -> bytes:
        return packed

    def kill(self, actor: Actor) -> None:
        self.actors.remove(actor)

    def close(self) -> None:
        assert not self.actors
        self.closed.set()

    def is_lost(self, error: BaseException) -> bool:
        return isinstance(error, Lost)
