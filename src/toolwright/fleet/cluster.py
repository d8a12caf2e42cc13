"""The Ray cluster that workers run on: one that is there, or one of this machine alone that ends with us."""

import os
import shutil
import socket
import tempfile
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from threading import Event
from typing import Any

from toolwright.errors import UsageError
from toolwright.fleet.limits import Limit, ProviderLimits
from toolwright.fleet.worker import Worker
from toolwright.record import record

REACH = 10.0
"""Seconds in which a cluster must take a connection."""
_STORE = 256 * 1024 * 1024
"""Bytes of memory that a cluster of our own keeps for what is passed around; the rest goes to disk."""
_LONGEST_TMP = 40
"""Letters of a path below which Ray's sockets can still be made; the system allows about a hundred."""


@record(frozen=True, slots=True, kw_only=True)
class Node:
    """A machine of the cluster."""

    id: str
    address: str
    slots: int
    """Tasks that it takes at once: its CPUs."""


class Cluster:
    """A connection to Ray. Only one can be open in a process."""

    def __init__(self, ray: Any, *, scratch: Path | None) -> None:
        self.ray = ray
        self._scratch = scratch
        self.closed = Event()

    def nodes(self) -> list[Node]:
        """The machines that are alive."""
        return [
            Node(id=one["NodeID"], address=one["NodeManagerAddress"], slots=int(one["Resources"].get("CPU", 0)))
            for one in self.ray.nodes()
            if one["Alive"]
        ]

    def start_worker(self, node: Node, limits: Any) -> Any:
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        where = NodeAffinitySchedulingStrategy(node_id=node.id, soft=False)
        actor = self.ray.remote(Worker).options(num_cpus=1, max_restarts=0, scheduling_strategy=where)
        return actor.remote(limits)

    def start_limits(self, limits: Mapping[str, Limit]) -> Any:
        """One for the whole fleet, started anew elsewhere if its machine dies."""
        options = {"num_cpus": 0, "max_restarts": -1, "max_task_retries": -1, "max_concurrency": 10_000}
        name = f"toolwright-limits-{os.urandom(4).hex()}"
        return self.ray.remote(ProviderLimits).options(name=name, **options).remote(dict(limits))

    def put(self, packed: bytes) -> Any:
        return self.ray.put(packed)

    def kill(self, actor: Any) -> None:
        self.ray.kill(actor, no_restart=True)

    def close(self) -> None:
        self.ray.shutdown()
        if self._scratch is not None:
            shutil.rmtree(self._scratch, ignore_errors=True)
        self.closed.set()

    def is_lost(self, error: BaseException) -> bool:
        """Tell if an answer will never come since a process or a machine is gone; not for an error of our own there."""
        from ray.exceptions import RayError, RayTaskError

        return isinstance(error, RayError) and not isinstance(error, RayTaskError)


def connect(address: str = "", slots: int = 0) -> Cluster:
    """A cluster by its address, or one of this machine; UsageError if it cannot be had."""
    ray = _ray(alone=not address)
    if ray.is_initialized():
        raise UsageError("Ray is in use in this process already. Leave it with ray.shutdown() first.")
    return _join(ray, address) if address else _start(ray, slots)


def _ray(*, alone: bool) -> Any:
    # Nothing is reported to anybody, and nothing warned of that is not ours.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    if alone:
        # The name is about other systems; what it does is to stay on the loopback address.
        os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"
        # Without it Ray would make one and leave it in the user's home.
        os.environ.setdefault("RAY_AUTH_TOKEN", os.urandom(32).hex())
    try:
        return import_module("ray")
    except ImportError as error:
        raise UsageError("A fleet needs Ray, which is not installed: pip install 'toolwright[fleet]'.") from error


def _join(ray: Any, address: str) -> Cluster:
    if address != "auto":
        _reach(address)
    try:
        ray.init(address=address, log_to_driver=False, logging_level="ERROR")
    except Exception as error:
        ray.shutdown()
        raise UsageError(
            f"The cluster at {address} cannot be used: {one_line(error)}. Ray must be of the same version here"
            " and there, and its token must be in ~/.ray/auth_token, with RAY_AUTH_MODE=token."
        ) from error
    return Cluster(ray, scratch=None)


def _reach(address: str) -> None:
    """Ray itself would try for minutes."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not host or not port.isdigit():
        raise UsageError(f"--address takes HOST:PORT or ray://HOST:PORT, not {address!r}.")
    try:
        socket.create_connection((host, int(port)), timeout=REACH).close()
    except (OSError, OverflowError) as error:
        reason = (error.strerror if isinstance(error, OSError) else "") or str(error) or "no answer"
        raise UsageError(f"The cluster at {address} cannot be reached: {reason}.") from error


def _start(ray: Any, slots: int) -> Cluster:
    """A cluster that only this machine can reach. Its files stand apart and go with it."""
    place = tempfile.gettempdir()
    scratch = Path(tempfile.mkdtemp(prefix="tw-ray-", dir=place if len(place) < _LONGEST_TMP else "/tmp"))  # noqa: S108
    try:
        ray.init(
            address="local",
            num_cpus=slots or os.cpu_count() or 1,
            include_dashboard=False,
            object_store_memory=_STORE,
            log_to_driver=False,
            logging_level="ERROR",
            _temp_dir=str(scratch),
        )
    except Exception as error:
        ray.shutdown()
        shutil.rmtree(scratch, ignore_errors=True)
        raise UsageError(f"Ray could not be started on this machine: {one_line(error)}.") from error
    return Cluster(ray, scratch=scratch)


def one_line(error: BaseException) -> str:
    """Return the text of an error without a full stop: it becomes part of a sentence."""
    words = " ".join(str(error).split()).removesuffix(".") or type(error).__name__
    return words if len(words) < 300 else f"{words[:300]} …"
